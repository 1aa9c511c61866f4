//! How a command ends that doesn't end by itself: time, stop, a broken connection, too much output.

use super::server::Server;
use super::{longer, message};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use steward_core::Cancellation;

/// A command that says that it runs and stays.
fn staying(server: &Server) -> Value {
    json!([
        "sh",
        "-c",
        format!("echo begun; echo $$ > {0}.new; mv {0}.new {0}; exec sleep 60", server.path("pid").display())
    ])
}

async fn pid(server: &Server) -> String {
    for _ in 0..1_200 {
        if server.path("pid").exists() {
            return server.text("pid").trim().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the command did not begin: {}", server.log());
}

async fn gone(pid: &str) {
    for _ in 0..1_200 {
        let state = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
        if state.is_err() || state.is_ok_and(|text| text.contains(") Z ")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{pid} still runs");
}

#[tokio::test]
async fn a_command_over_its_time_ends_on_the_server() {
    let server = Server::start();
    let mut world = server.world();
    longer(&mut world, 60_000);
    let limits = json!({"limits": {"timeout_ms": 20_000}});
    let skill = world.add(server.skill(&staying(&server), json!({}), &limits));
    let message = world.refused(&skill, json!({})).await;
    assert!(message.contains("stopped") && message.contains("may or may not have taken effect"), "{message}");
    gone(&pid(&server).await).await;
}

#[tokio::test]
async fn a_stopped_run_ends_the_command() {
    let server = Server::start();
    let mut world = server.world();
    longer(&mut world, 60_000);
    for (version, effect) in [(1, "write"), (2, "read")] {
        let _ = std::fs::remove_file(server.path("pid"));
        world.scope.cancellation = Cancellation::default();
        let rest = json!({"effect": effect, "version": version, "limits": {"timeout_ms": 60_000}});
        let skill = world.add(server.skill(&staying(&server), json!({}), &rest));
        let stop = async {
            let pid = pid(&server).await;
            world.stop();
            pid
        };
        let (done, pid) = tokio::join!(world.call(&skill, json!({})), stop);
        let text = message(done);
        assert!(text.contains("stopped"), "{text}");
        gone(&pid).await;
    }
}

#[tokio::test]
async fn a_connection_that_breaks_leaves_the_outcome_open() {
    let server = Server::start();
    let mut world = server.world();
    longer(&mut world, 60_000);
    let skill = world.add(server.skill(&staying(&server), json!({}), &json!({"limits": {"timeout_ms": 60_000}})));
    let cut = async {
        let pid = pid(&server).await;
        server.cut();
        pid
    };
    let (done, pid) = tokio::join!(world.call(&skill, json!({})), cut);
    let text = message(done);
    assert!(text.contains("the connection broke: it may or may not have taken effect"), "{text}");
    let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
}

#[tokio::test]
async fn much_output_keeps_its_beginning_and_its_end() {
    let server = Server::start();
    let mut world = server.world();
    longer(&mut world, 60_000);
    let command =
        json!(["sh", "-c", "echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo last; echo aside >&2"]);
    let skill =
        world.add(server.skill(&command, json!({}), &json!({"limits": {"timeout_ms": 60_000, "result_chars": 2_000}})));
    let output = world.ok(&skill, json!({})).await;
    let data = output.data.unwrap();
    assert_eq!(data["stdout_bytes"], json!(30_000_000 + 12));
    let stdout = data["stdout"].as_str().unwrap();
    assert!(stdout.len() < 200_000 && stdout.starts_with("first\n") && stdout.ends_with("\nlast\n"));
    assert!(stdout.contains("bytes were left out here"));
    assert!(output.content.chars().count() <= 2_000);
    assert!(output.content.starts_with("first") && output.content.contains("last"));
    assert!(output.content.ends_with("[stderr] aside"));
}

#[tokio::test]
async fn what_stays_in_the_background_does_not_hold_the_call() {
    let server = Server::start();
    let world = server.world();
    let command = json!(["sh", "-c", "echo done; sleep 20 & echo $!"]);
    let skill = world.add(server.skill(&command, json!({}), &json!({})));
    let output = world.ok(&skill, json!({})).await;
    let pid = output.content.trim_start_matches("done").trim().to_owned();
    let _ = std::process::Command::new("kill").arg(pid).status();
}
