//! Each command of the real program, with a scripted model and with the real local one.

use crate::common;

use common::{Bench, data_file, plan, plan_and_answer};
use serde_json::{Value, json};
use steward_testkit::Workspace;
use steward_testkit::model_server::{Behaviour, Script};

const ASK: &str = "Write new into the file a.txt.";

fn write_script() -> (Script, Value) {
    let args = json!({"path": "a.txt", "content": "new\n"});
    (plan_and_answer("write", &args, "It is written."), args)
}

fn write_bench() -> Bench {
    let bench = Bench::new(write_script().0);
    bench.work.write("a.txt", "old\r\nbytes \u{1F600}").unwrap();
    bench
}

fn untouched(bench: &Bench) {
    assert_eq!(bench.work.read("a.txt").unwrap(), "old\r\nbytes \u{1F600}");
}

#[test]
fn every_command_has_help() {
    let bench = Bench::new(Script::default());
    let top = bench.run(&["--help"]).exits(0);
    assert!(top.out.contains("Examples:"), "{top:?}");
    for command in [
        "serve",
        "ask",
        "chat",
        "runs",
        "resume",
        "approvals",
        "conversations",
        "grants",
        "agents",
        "doctor",
        "connections",
        "config",
        "health",
        "eval",
        "group",
        "tenant",
        "access",
        "backup",
        "restore",
    ] {
        let done = bench.run(&[command, "--help"]).exits(0);
        assert!(done.out.contains("Examples:"), "{command}: {done:?}");
        assert!(done.out.contains(&format!("steward {command}")), "{done:?}");
    }
    let wrong = bench.run(&["aks", "hi"]).exits(2);
    assert!(wrong.err.contains("--help"), "{wrong:?}");
}

#[test]
fn plan_only_and_dry_run_change_nothing() {
    let bench = write_bench();
    let done = bench.run(&["ask", "--plan-only", ASK]).exits(0);
    assert!(format!("{}{}", done.out, done.err).contains("write path=a.txt"), "{done:?}");
    untouched(&bench);
    bench.model.replace(write_script().0);
    let done = bench.run(&["ask", "--dry-run", "--json", ASK]).exits(0);
    let report = done.json();
    let answer = report["answer"].as_str().unwrap();
    assert!(answer.contains("-old") && answer.contains("+new"), "{answer}");
    untouched(&bench);
}

#[test]
fn ask_with_json_is_one_object() {
    let bench = write_bench();
    let report = bench.run(&["ask", "-y", "--json", ASK]).exits(0).json();
    assert_eq!(report["outcome"]["status"], "completed", "{report}");
    assert_eq!(report["answer"], "It is written.");
    assert_eq!(report["plan"]["plan"][0]["tool"], "write");
    assert_eq!(report["steps"][0]["tool"], "write");
    assert_eq!(report["steps"][0]["result"]["outcome"], "ok");
    assert_eq!(bench.work.read("a.txt").unwrap(), "new\r\n", "the ends of its lines stay");
    let run = report["run"].as_str().unwrap();
    assert_eq!(bench.runs()[0]["id"], run);
    let shown = bench.run(&["runs", "show", run, "--json"]).exits(0);
    let kinds: Vec<String> = shown
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|event| event["body"]["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.first().unwrap(), "run.started");
    assert_eq!(kinds.last().unwrap(), "run.finished");
    bench.model.assert_clean();
}

#[test]
fn the_verdict_on_an_answer_is_shown() {
    let bench = write_bench();
    let args = json!({"path": "a.txt", "content": "new\n"});
    let ask = |answer: &str| {
        bench.model.replace(plan_and_answer("write", &args, answer));
        bench.run(&["ask", "-y", ASK]).exits(0)
    };
    ask("I wrote the file a.txt.").tells(&["verified: its claim is proved"]);
    let done = ask("I deleted the file b.txt.");
    done.tells(&["unverified:", "I deleted the file b.txt"]);
    let done = ask("What else can I do for you?");
    assert!(!done.err.contains("verified"), "{done:?}");
    let listed = bench.run(&["runs"]).exits(0).out;
    let words: Vec<bool> = listed.lines().map(|line| line.contains("verified")).collect();
    assert_eq!(words, [false, true, true], "{listed}");
}

#[test]
fn a_plan_waits_for_approval_and_goes_on() {
    let bench = write_bench();
    bench.run(&["ask", ASK]).exits(3).tells(&["waits for a person", "steward approvals approve"]);
    untouched(&bench);
    let listed = bench.run(&["approvals"]).exits(0);
    assert!(listed.out.contains("a.txt"), "{listed:?}");
    let id = bench.open_approval();
    let done = bench.run(&["approvals", "approve", &id]).exits(0);
    assert!(done.out.contains("It is written."), "{done:?}");
    assert_eq!(bench.work.read("a.txt").unwrap(), "new\r\n", "the ends of its lines stay");
    bench.run(&["approvals", "approve", &id]).exits(1).tells(&["nothing open", "steward approvals"]);
    bench.model.assert_clean();
}

#[test]
fn undo_restores_the_file_byte_for_byte() {
    let bench = write_bench();
    let report = bench.run(&["ask", "-y", "--json", ASK]).exits(0).json();
    assert_eq!(bench.work.read("a.txt").unwrap(), "new\r\n", "the ends of its lines stay");
    let run = report["run"].as_str().unwrap();
    bench.run(&["runs", "undo", run]).exits(0);
    untouched(&bench);
    bench.run(&["runs", "undo", run]).exits(0).tells(&["Nothing to undo"]);
    untouched(&bench);
}

#[test]
fn denied_and_stopped_runs_end() {
    let bench = write_bench();
    bench.run(&["ask", ASK]).exits(3);
    let id = bench.open_approval();
    bench.run(&["approvals", "deny", &id]).exits(4);
    bench.model.replace(write_script().0);
    bench.run(&["ask", ASK]).exits(3);
    let run = bench.runs()[0]["id"].as_str().unwrap().to_owned();
    bench.run(&["runs", "stop", &run]).exits(0).tells(&["stopped"]);
    assert_eq!(bench.runs()[0]["outcome"]["status"], "stopped");
    assert_eq!(bench.run(&["approvals", "--json"]).json(), json!([]));
    bench.run(&["runs", "stop", &run]).exits(0).tells(&["ended already"]);
    untouched(&bench);
}

#[test]
fn feedback_leads_to_another_plan() {
    let bench = write_bench();
    bench.run(&["ask", ASK]).exits(3);
    let id = bench.open_approval();
    let other = json!({"path": "b.txt", "content": "new\n"});
    bench.model.replace(Script::of([plan("write", &other), plan("write", &other), Behaviour::text("It is in b.txt.")]));
    bench.run(&["approvals", "answer", &id, "call it b.txt"]).exits(3);
    let sent = bench.model.chats().last().unwrap().body.to_string();
    assert!(sent.contains("call it b.txt"), "{sent}");
    let second = bench.open_approval();
    assert_ne!(second, id);
    let done = bench.run(&["approvals", "approve", &second]).exits(0);
    assert!(done.out.contains("It is in b.txt."), "{done:?}");
    assert_eq!(bench.work.read("b.txt").unwrap(), "new\n");
    untouched(&bench);
}

#[test]
fn connections_are_saved_tested_and_removed() {
    let bench = Bench::new(Script::always(Behaviour::text("Hello")));
    let url = bench.model.base_url();
    bench.run(&["connections", "add", "big", &url, "--model", "scripted"]).exits(0);
    let done = bench.run(&["connections", "test", "big"]).exits(0);
    assert!(done.out.contains("big answered"), "{done:?}");
    bench.run(&["connections", "default", "big"]).exits(0);
    let list = bench.run(&["connections", "--json"]).exits(0).json();
    let big = list.as_array().unwrap().iter().find(|one| one["connection"]["name"] == "big");
    assert_eq!(big.unwrap()["default"], true, "{list}");
    bench.run(&["connections", "remove", "big"]).exits(0);
    bench.run(&["connections", "remove", "big"]).exits(1).tells(&["there is no connection `big`"]);
}

fn workspace() -> Workspace {
    Workspace::copy_of(&data_file("workspace")).unwrap()
}

#[test]
fn local_model_answers_a_simple_ask() {
    let bench = Bench::with(Script::default(), workspace());
    let list = bench.run(&["connections", "--json"]).exits(0).json();
    let local = list.as_array().unwrap().iter().find(|one| one["connection"]["provider"] == "local");
    let name = local.unwrap()["connection"]["name"].as_str().unwrap().to_owned();
    let args = ["--connection", &name, "ask", "-y", "--json", "List the files in this folder."];
    let report = bench.run(&args).exits(0).json();
    assert_eq!(report["steps"][0]["tool"], "list", "{report}");
    assert!(report["answer"].as_str().unwrap().contains("chinook.db"), "{report}");
    assert!(bench.model.chats().is_empty(), "another model was asked");
}

/// Small talk, what no tool does, and everyday questions, in four languages: nothing is invented, nothing else is done.
#[test]
fn local_everyday_requests() {
    let bench = Bench::with(Script::default(), workspace());
    let file = std::fs::read_to_string(data_file("everyday.jsonl")).unwrap();
    for line in file.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let ask = case["ask"].as_str().unwrap();
        let args = ["--connection", "local", "ask", "-y", "--json", ask];
        let report = bench.run(&args).exits(0).json();
        assert_eq!(report["steps"][0]["tool"], case["tool"], "{ask}: {report:#}");
        let answer = report["answer"].as_str().unwrap();
        for part in case["says"].as_array().unwrap() {
            assert!(answer.contains(part.as_str().unwrap()), "{ask}: {answer}");
        }
        assert!(!answer.contains("[Now") && !answer.contains('{'), "{ask}: {answer}");
        assert_ne!(report["receipts"]["verdict"], "unverified", "{ask}: {report:#}");
    }
}
