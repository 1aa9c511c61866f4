//! The commands beside a running server: they do their work through it, and say so when they can't.

use crate::common;

use common::{Bench, Done, Server, finish, plan_and_answer};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Rule, Script};

const ASK: &str = "Write new into the file a.txt.";

fn script() -> Script {
    let args = json!({"path": "a.txt", "content": "new\n"});
    plan_and_answer("write", &args, "It is written.")
}

fn bench() -> Bench {
    let bench = Bench::new(script());
    bench.work.write("a.txt", "old").unwrap();
    bench
}

fn content(bench: &Bench) -> String {
    bench.work.read("a.txt").unwrap()
}

fn serve_file(bench: &Bench) -> std::path::PathBuf {
    bench.data().join("serve.json")
}

/// Writes something else into `serve.json`.
fn announce(bench: &Bench, change: impl Fn(&mut Value)) {
    let text = std::fs::read_to_string(serve_file(bench)).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    change(&mut file);
    std::fs::write(serve_file(bench), file.to_string()).unwrap();
}

fn refused(done: Done, parts: &[&str]) {
    done.exits(1).tells(parts);
}

#[test]
fn a_model_that_fails_in_passing_is_followed_and_shown() {
    let mut script = script();
    let busy = Behaviour::Status { status: 503, body: json!({"error": {"message": "overloaded"}}), retry_after: None };
    let rule = |then| Rule { contains: String::new(), role: None, times: Some(2), then };
    script.rules.insert(0, rule(busy));
    let bench = Bench::new(script);
    let _server = Server::start(&bench);
    let report = bench.run(&["ask", "-y", "--json", ASK]).exits(0).json();
    let run = report["run"].as_str().unwrap();
    let shown = bench.run(&["runs", "show", run, "--json"]).exits(0);
    let alarm = shown.out.lines().find(|line| line.contains("timer.set"));
    assert!(alarm.is_some_and(|line| line.contains("rings_at")), "{shown:?}");
}

#[test]
fn a_reader_that_goes_away_ends_a_command_quietly() {
    let bench = bench();
    let mut command = bench.command(&["doctor", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(done.status.code(), Some(141), "{said}");
}

#[test]
fn a_request_goes_through_the_server() {
    let bench = bench();
    let server = Server::start(&bench);
    let mode = std::fs::metadata(serve_file(&bench)).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let done = bench.run(&["ask", "-y", "--json", ASK]).exits(0).tells(&["the workspace of the running server"]);
    let report = done.json();
    assert_eq!(report["outcome"]["status"], "completed", "{report}");
    assert_eq!(report["answer"], "It is written.");
    assert_eq!(report["steps"][0]["result"]["outcome"], "ok");
    assert_eq!(content(&bench), "new\n");
    let runs = bench.runs();
    assert_eq!(runs[0]["id"], report["run"]);
    assert_eq!(runs[0]["origin"], "cli", "{runs:?}");
    let run = report["run"].as_str().unwrap();
    let shown = bench.run(&["runs", "show", &run[30..], "--json"]).exits(0);
    let seqs: Vec<u64> = shown
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert!(shown.out.contains("run.finished"), "{shown:?}");
    bench.run(&["runs", "undo", run]).exits(0).tells(&["write"]);
    assert_eq!(content(&bench), "old");
    bench.model.assert_clean();
    drop(server);
    // The same rows without it.
    assert_eq!(bench.runs()[0]["id"], report["run"]);
}

#[test]
fn a_decision_goes_through_the_server() {
    let bench = bench();
    let _server = Server::start(&bench);
    bench.run(&["ask", ASK]).exits(3).tells(&["waits for a person"]);
    let id = bench.open_approval();
    let listed = bench.run(&["approvals"]).exits(0);
    assert!(listed.out.contains("a.txt"), "{listed:?}");
    assert_eq!(content(&bench), "old");
    let done = bench.run(&["approvals", "approve", &id]).exits(0);
    assert!(done.out.contains("It is written."), "{done:?}");
    assert_eq!(content(&bench), "new\n");
    bench.model.replace(script());
    bench.run(&["ask", ASK]).exits(3);
    let run = bench.runs()[0]["id"].as_str().unwrap().to_owned();
    bench.run(&["resume"]).exits(3).tells(&["waits for a person"]);
    let stopped = bench.run(&["runs", "stop", &run]).exits(0);
    stopped.tells(&["stopped"]);
    assert_eq!(bench.runs()[0]["outcome"]["status"], "stopped");
    bench.run(&["runs", "resume", &run]).exits(0).tells(&["has ended"]);
    assert_eq!(bench.run(&["approvals", "--json"]).json(), json!([]));
}

#[test]
fn a_server_may_die_and_come_back_in_mid_request() {
    let bench = bench();
    bench.model.replace(Script::of([Behaviour::HangAfterHeaders]));
    let server = Server::start(&bench);
    let came = std::thread::scope(|scope| {
        let asking = scope.spawn(|| finish(bench.command(&["ask", "-y", "--json", ASK])));
        let asked = bench.model.wait_requests(1, Duration::from_mins(5));
        assert!(bench.runtime.block_on(asked), "the model was not asked");
        server.kill();
        bench.model.replace(script());
        // On another port.
        let _server = Server::start(&bench);
        asking.join().unwrap()
    });
    let report = came.exits(0).json();
    assert_eq!(report["answer"], "It is written.", "{report}");
    assert_eq!(report["steps"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(content(&bench), "new\n");
}

#[test]
fn a_server_that_ends_takes_its_file_along_and_a_dead_one_is_in_nobodys_way() {
    let bench = bench();
    let server = Server::start(&bench);
    let pid = i32::try_from(server.pid()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let begun = Instant::now();
    while serve_file(&bench).exists() {
        assert!(begun.elapsed() < Duration::from_mins(5), "{}", server.said());
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(server);
    let server = Server::start(&bench);
    server.kill();
    assert!(serve_file(&bench).exists(), "nobody tidied up");
    let report = bench.run(&["ask", "-y", "--json", ASK]).exits(0).json();
    assert_eq!(report["outcome"]["status"], "completed", "{report}");
    assert_eq!(bench.runs()[0]["origin"], "cli");
}

#[test]
fn another_command_in_the_way_is_no_server() {
    let bench = bench();
    Server::start(&bench).kill();
    bench.model.replace(Script::of([Behaviour::HangAfterHeaders]));
    let mut asking = bench
        .command(&["ask", "-y", ASK])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let asked = bench.model.wait_requests(1, Duration::from_mins(5));
    assert!(bench.runtime.block_on(asked), "the model was not asked");
    let done = bench.run(&["runs"]);
    asking.kill().unwrap();
    asking.wait().unwrap();
    refused(done, &["not beside each other", "in use by another steward"]);
}

#[test]
fn what_is_wrong_with_the_server_is_said() {
    let bench = bench();
    let server = Server::start(&bench);
    let right = std::fs::read(serve_file(&bench)).unwrap();
    announce(&bench, |file| file["version"] = json!("0.0.1"));
    let parts = ["is steward 0.0.1", "restart the server with this program"];
    refused(bench.run(&["runs"]), &parts);
    std::fs::write(serve_file(&bench), "{").unwrap();
    refused(bench.run(&["runs"]), &["is damaged", "restart `steward serve`"]);
    std::fs::write(serve_file(&bench), &right).unwrap();
    // Nothing listens on port 1 of this machine.
    announce(&bench, |file| file["url"] = json!("http://127.0.0.1:1"));
    refused(bench.run(&["runs"]), &["does not answer at http://127.0.0.1:1"]);
    std::fs::write(serve_file(&bench), &right).unwrap();
    let key = bench.data().join("api-key");
    std::fs::write(&key, "sk-steward-0000").unwrap();
    refused(bench.run(&["runs"]), &["does not take the key", "restart"]);
    std::fs::remove_file(&key).unwrap();
    refused(bench.run(&["runs"]), &["cannot read the key", "restart"]);
    std::fs::write(&key, &server.key).unwrap();
    bench.run(&["runs"]).exits(0);
}

#[test]
fn what_only_this_process_could_do_is_refused() {
    let bench = bench();
    let server = Server::start(&bench);
    let other = tempfile::tempdir().unwrap();
    let other = other.path().to_str().unwrap();
    let own = bench.work.path().to_str().unwrap();
    let done = bench.run(&["ask", "-y", "-w", other, ASK]);
    refused(done, &["the running server works in", own, other]);
    let done = bench.run(&["ask", "-y", "--allow", "127.0.0.1:9", ASK]);
    refused(done, &["steward serve --allow 127.0.0.1:9"]);
    let done = bench.run(&["ask", "-y", "--no-intent-filter", ASK]);
    refused(done, &["--no-intent-filter"]);
    let done = bench.run(&["--connection", "nothere", "ask", ASK]);
    refused(done, &["no connection `nothere`", "there are:"]);
    let done = bench.run(&["ask", "-a", "nobody", ASK]);
    refused(done, &["no agent `nobody`", "steward agents"]);
    assert_eq!(content(&bench), "old");
    assert!(bench.runs().is_empty(), "{}", server.said());
    bench.run(&["ask", "-y", "-w", own, ASK]).exits(0);
    let mut elsewhere = bench.command(&["ask", "--plan-only", ASK]);
    elsewhere.current_dir(other);
    bench.model.replace(script());
    finish(elsewhere).exits(0).tells(&["the workspace of the running server", own]);
}

/// Forks, replays and keeps the only run of a bench.
fn the_past(bench: &Bench) {
    let report = bench.run(&["ask", "-y", "--json", ASK]).exits(0).json();
    let run = report["run"].as_str().unwrap();
    let replay = bench.run(&["runs", "replay", run, "--json"]).exits(0).json();
    assert_eq!(replay["same"], true, "{replay}");
    assert!(replay["decisions"].as_u64() > Some(0), "{replay}");
    bench.run(&["runs", "replay", run]).exits(0);
    let tells = ["can't be forked at", "99999"];
    refused(bench.run(&["runs", "fork", run, "--at", "99999"]), &tells);
    bench.work.write("a.txt", "in between").unwrap();
    bench.model.replace(script());
    let fork = bench.run(&["runs", "fork", run, "-y", "--json"]).exits(0).json();
    assert_eq!(fork["answer"], "It is written.", "{fork}");
    let runs = bench.runs();
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert_eq!(runs[0]["id"], fork["run"]);
    assert_eq!(runs[0]["forked_from"], run);
    assert_eq!(content(bench), "new\n", "the fork wrote by itself");
    bench.run(&["runs", "keep", run, "first"]).exits(0);
    bench.run(&["runs", "keep", run, "a/b"]).exits(1);
    bench.run(&["runs", "keep", fork["run"].as_str().unwrap(), "first"]).exits(1);
    let kept = bench.run(&["runs", "kept", "--json"]).exits(0).json();
    assert_eq!(kept[0]["name"], "first", "{kept}");
    assert_eq!(kept[0]["run"], run);
    let report = bench.run(&["eval", "kept", "--json"]).exits(0).json();
    assert_eq!((&report["kept"], &report["same"]), (&json!(1), &json!(1)));
    bench.run(&["runs", "unkeep", "first"]).exits(0);
    refused(bench.run(&["runs", "unkeep", "first"]), &["first"]);
    bench.run(&["eval", "kept"]).exits(0).tells(&["No runs are kept"]);
    bench.model.assert_clean();
}

#[test]
fn forks_replays_and_kept_runs_here() {
    the_past(&bench());
}

#[test]
fn forks_replays_and_kept_runs_at_the_server() {
    let bench = bench();
    let _server = Server::start(&bench);
    the_past(&bench);
}

#[test]
fn a_replay_that_differs_is_shown_and_fails() {
    let bench = bench();
    let report = bench.run(&["ask", "-y", "--json", ASK]).exits(0).json();
    let run = report["run"].as_str().unwrap();
    bench.run(&["runs", "keep", run, "first"]).exits(0);
    common::change_database(
        &bench.data().join("steward.db"),
        "update events set body = replace(body, 'It is written.', 'It is gone.') where kind = 'run.finished'",
    );
    let check = |bench: &Bench| {
        let done = bench.run(&["runs", "replay", run]).exits(1);
        for part in ["then", "It is gone.", "now", "It is written."] {
            assert!(done.out.contains(part), "{part}: {done:?}");
        }
        let done = bench.run(&["eval", "kept"]).exits(1);
        assert!(done.out.contains("1 kept, 0 the same"), "{done:?}");
    };
    check(&bench);
    let _server = Server::start(&bench);
    check(&bench);
}

/// An agent that works in turns, and permissions given to it.
fn grants(bench: &Bench) {
    let ask = |content: &str| {
        let args = json!({"path": "a.txt", "content": content});
        bench.model.replace(plan_and_answer("write", &args, "Done."));
    };
    ask("one");
    bench.run(&["ask", ASK]).exits(3);
    let id = bench.open_approval();
    let wrong = bench.run(&["approvals", "approve", &id, "--for", "soon"]);
    wrong.exits(2).tells(&["90s, 30m, 1h or 7d"]);
    let done = bench.run(&["approvals", "approve", &id, "--for", "8d"]);
    refused(done, &["7 days at most"]);
    bench.run(&["approvals", "approve", &id, "--for", "1h"]).exits(0);
    assert_eq!(content(bench), "one");
    let list = bench.run(&["grants", "--json"]).exits(0).json();
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(list[0]["grant"]["scope"]["kind"], "all_but_destructive");
    let shown = bench.run(&["grants"]).exits(0);
    assert!(shown.out.contains("steward may do everything"), "{shown:?}");
    ask("two");
    bench.run(&["ask", ASK]).exits(0);
    assert_eq!(content(bench), "two", "it was not asked again");
    let id = list[0]["id"].as_str().unwrap();
    let done = bench.run(&["grants", "revoke", &id[20..]]).exits(0);
    done.tells(&["taken back"]);
    assert_eq!(bench.run(&["grants", "--json"]).json(), json!([]));
    refused(bench.run(&["grants", "revoke", id]), &["steward grants"]);
    ask("three");
    bench.run(&["ask", ASK]).exits(3);
    assert_eq!(content(bench), "two");
    let id = bench.open_approval();
    bench.run(&["approvals", "approve", &id, "--for-run"]).exits(0);
    assert_eq!(content(bench), "three");
    assert_eq!(bench.run(&["grants", "--json"]).json(), json!([]));
}

#[test]
fn permissions_are_given_and_taken_back_here() {
    grants(&bench());
}

#[test]
fn permissions_are_given_and_taken_back_at_the_server() {
    let bench = bench();
    let _server = Server::start(&bench);
    grants(&bench);
}

/// Agents and connections say the same here and there.
#[test]
fn agents_and_connections_are_the_same_here_and_there() {
    let bench = Bench::new(Script::always(Behaviour::text("Hello")));
    let url = bench.model.base_url();
    let both = |args: &[&str]| bench.run(args).exits(0).json();
    let lists = || (both(&["agents", "--json"]), both(&["agents", "show", "--json"]), both(&["connections", "--json"]));
    let here = lists();
    assert_eq!(here.0[0]["name"], "steward", "{here:?}");
    let server = Server::start(&bench);
    assert_eq!(lists(), here);
    let shown = bench.run(&["agents", "show", "steward"]).exits(0);
    assert!(shown.out.contains("asks first"), "{shown:?}");
    let add = |model: &str| {
        let args = ["connections", "add", "big", &url, "--model", model];
        bench.run(&args).exits(0);
    };
    add("other");
    add("scripted");
    bench.run(&["connections", "default", "big"]).exits(0);
    let done = bench.run(&["connections", "test"]).exits(0);
    assert!(done.out.contains("big answered"), "{done:?}");
    let all = both(&["connections", "--json"]);
    let big: Vec<&Value> = all.as_array().unwrap().iter().filter(|one| one["connection"]["name"] == "big").collect();
    assert_eq!(big.len(), 1, "{all}");
    assert_eq!(big[0]["connection"]["model"], "scripted");
    assert_eq!(big[0]["default"], true);
    bench.run(&["connections", "remove", "big"]).exits(0);
    refused(bench.run(&["connections", "remove", "big"]), &["no connection `big`"]);
    drop(server);
    assert_eq!(lists(), here);
}

/// A conversation of two messages, then gone on with.
fn talk(bench: &Bench) {
    use std::io::Write;
    bench.model.replace(Script::always(Behaviour::text("Hello yourself.")));
    let say = |args: &[&str], text: &str| {
        let mut command = bench.command(args);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        command.stdin(file);
        finish(command).exits(0)
    };
    let done = say(&["chat"], "hello\nhow are you\n");
    assert_eq!(done.out.matches("Hello yourself.").count(), 2, "{done:?}");
    let at = done.err.find("--conversation ").unwrap();
    let id = done.err[at + 15..].trim();
    say(&["chat", "--conversation", id], "and now\n");
    let runs = bench.runs();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        assert_eq!(run["conversation"], id, "{runs:?}");
    }
    let last = bench.model.chats().last().unwrap().body.to_string();
    assert!(last.contains("how are you"), "its history went along: {last}");
    refused(bench.run(&["chat", "--conversation", "x"]), &["not a conversation id"]);
}

#[test]
fn a_conversation_goes_on_here() {
    talk(&bench());
}

#[test]
fn a_conversation_goes_on_at_the_server() {
    let bench = bench();
    let _server = Server::start(&bench);
    talk(&bench);
}
