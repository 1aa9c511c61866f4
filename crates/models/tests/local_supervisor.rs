//! The supervisor: with stand-ins for what goes wrong, with the real server for what goes right.

use crate::local_support;
use local_support::options;
use std::time::{Duration, Instant};
use steward_models::local::{ChildCommand, LocalModelError, Supervisor};

fn shell(script: &str) -> ChildCommand {
    ChildCommand::new("/bin/sh").arg("-c").arg(script)
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let supervisor = Supervisor::new(ChildCommand::new("/nonexistent/steward"), options(dir.path()));
    let error = supervisor.endpoint().await.unwrap_err().to_string();
    assert!(error.contains("/nonexistent/steward"), "{error}");
}

#[tokio::test]
async fn three_fast_crashes_are_enough() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(dir.path());
    options.backoff = Duration::from_millis(50);
    let supervisor = Supervisor::new(shell("echo bad weights >&2; exit 7"), options);
    let started = Instant::now();
    for _ in 0..3 {
        let error = supervisor.endpoint().await.unwrap_err();
        assert!(matches!(&error, LocalModelError::EndedEarly { .. }), "{error}");
        assert!(error.to_string().contains("exit code 7"), "{error}");
        assert!(error.to_string().contains("bad weights"), "{error}");
    }
    // 50 ms and 200 ms between the starts.
    assert!(started.elapsed() >= Duration::from_millis(250));
    let error = supervisor.endpoint().await.unwrap_err();
    assert!(matches!(&error, LocalModelError::CrashLoop { times: 3, .. }), "{error}");
    assert!(error.to_string().contains("bad weights"), "{error}");
    supervisor.stop().await;
    let error = supervisor.endpoint().await.unwrap_err();
    assert!(matches!(error, LocalModelError::EndedEarly { .. }), "a stop forgives");
}

#[tokio::test]
async fn a_child_that_never_listens_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(dir.path());
    options.start_timeout = Duration::from_millis(300);
    let pid_file = dir.path().join("pid");
    let script = format!("echo $$ > {}; exec sleep 60", pid_file.display());
    let supervisor = Supervisor::new(shell(&script), options);
    let error = supervisor.endpoint().await.unwrap_err();
    assert!(matches!(error, LocalModelError::StartTimeout { .. }), "{error}");
    let pid = std::fs::read_to_string(pid_file).unwrap();
    assert!(!alive(pid.trim()), "the child is still there");
}

#[tokio::test]
async fn the_child_inherits_no_secret_and_gets_the_token_by_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("seen");
    let script = format!("read line; (env; echo \"$line\") > {}; exit 1", out.display());
    let supervisor = Supervisor::new(shell(&script).env("ONE", "1"), options(dir.path()));
    let _ = supervisor.endpoint().await;
    let seen = std::fs::read_to_string(out).unwrap();
    assert!(seen.contains("ONE=1") && !seen.contains("CARGO_"), "{seen}");
    assert!(seen.contains("test-token-0123456789"), "{seen}");
}

fn alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[cfg(feature = "local-model")]
mod with_the_model {
    use super::*;
    use local_support::{Server, command, model_path, server_binary};
    use std::io::{BufRead, BufReader};

    #[tokio::test(flavor = "multi_thread")]
    async fn starts_are_shared() {
        let dir = tempfile::tempdir().unwrap();
        let supervisor = Supervisor::new(command(&[]), options(dir.path()));
        assert_eq!(supervisor.process_id().await, None, "lazy");
        let (a, b) = tokio::join!(supervisor.endpoint(), supervisor.endpoint());
        assert_eq!(a.unwrap().socket_path, b.unwrap().socket_path);
        assert!(supervisor.resident_bytes().await.unwrap() > 50 << 20);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_socket_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let server = Server::start(&[]).await;
        let mode = std::fs::metadata(&server.endpoint.socket_path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_killed_child_is_started_again() {
        let server = Server::start(&[]).await;
        let first = server.supervisor.process_id().await.unwrap();
        let pid = rustix::process::Pid::from_raw(i32::try_from(first).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        while server.supervisor.process_id().await == Some(first) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        server.supervisor.endpoint().await.unwrap();
        let second = server.supervisor.process_id().await.unwrap();
        assert_ne!(first, second);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn stop_ends_it_and_removes_the_socket() {
        let server = Server::start(&[]).await;
        let pid = server.supervisor.process_id().await.unwrap().to_string();
        let started = Instant::now();
        server.supervisor.stop().await;
        assert!(started.elapsed() < Duration::from_mins(5));
        assert!(!alive(&pid));
        assert!(!server.endpoint.socket_path.exists());
        server.supervisor.endpoint().await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_idle_child_ends_and_comes_back() {
        // Long enough that it is not idle before it is looked at.
        let server = Server::start(&["idle_ms=2000"]).await;
        let gone = async {
            while server.supervisor.process_id().await.is_some() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_mins(5), gone).await;
        gone.expect("an idle child ends");
        server.supervisor.endpoint().await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_wrong_model_file_is_explained() {
        let dir = tempfile::tempdir().unwrap();
        let fake = dir.path().join("fake.gguf");
        std::fs::write(&fake, b"not a model").unwrap();
        let cut = dir.path().join("cut.gguf");
        let whole = std::fs::read(model_path()).unwrap();
        std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
        for (path, word) in
            [(dir.path().join("none.gguf"), "make setup"), (fake, "does not begin with"), (cut, "cut off")]
        {
            let command = ChildCommand::new(server_binary()).arg(&path);
            let supervisor = Supervisor::new(command, options(dir.path()));
            let error = supervisor.endpoint().await.unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    /// The test's own binary is started again as the parent, and killed.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_child_dies_with_its_parent() {
        let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "local_supervisor::with_the_model::play_the_parent", "--nocapture", "--ignored"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let child = BufReader::new(parent.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.split_once("child pid ").map(|(_, pid)| pid.trim().to_owned()))
            .expect("the parent tells its child's id");
        assert!(alive(&child));
        parent.kill().unwrap();
        parent.wait().unwrap();
        let started = Instant::now();
        while alive(&child) {
            assert!(started.elapsed() < Duration::from_mins(5), "the child lives on");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "started by the_child_dies_with_its_parent"]
    async fn play_the_parent() {
        let server = Server::start(&[]).await;
        println!("child pid {}", server.supervisor.process_id().await.unwrap());
        tokio::time::sleep(Duration::from_mins(1)).await;
    }
}

#[cfg(not(feature = "local-model"))]
#[test]
fn a_build_without_the_model_says_so() {
    let error =
        steward_models::local::serve_supervised("/m.gguf".into(), steward_models::local::ServeTuning::default())
            .unwrap_err();
    assert!(error.to_string().contains("--features local-model"), "{error}");
}
