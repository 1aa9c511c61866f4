//! What goes wrong from outside: each case says what happened and what to do, and loses nothing.
//! `docs/bad-input.md` is the same as a table.

use crate::common;

use common::{Bench, Done, Server};
use reqwest::{Method, StatusCode};
use serde_json::json;
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Reply, Script};

const ASK: &str = "Say hello.";

/// The data directory opens, and the run is in it.
fn nothing_lost(bench: &Bench, outcome: &str) {
    let runs = bench.runs();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(runs[0]["outcome"]["status"], outcome, "{runs:?}");
}

/// Asks with a model server that fails for good; the same words reach the terminal and the API.
fn fails_with(script: Script, tells: &[&str]) {
    let bench = Bench::new(script);
    let done = bench.run(&["ask", "-y", ASK]).exits(1);
    let said = format!("{}{}", done.out, done.err);
    for part in tells {
        assert!(said.contains(part), "no `{part}` in {done:#?}");
    }
    nothing_lost(&bench, "failed");
}

/// Asks with a model server that fails once and then answers: a program under `/v1` asks again itself.
fn survives(fault: Behaviour) {
    let bench = Bench::new(Script {
        replies: vec![fault],
        otherwise: Some(Behaviour::text("Hello there.")),
        ..Script::default()
    });
    let server = Server::start(&bench);
    let (status, told) = server.chat(&bench, ASK);
    assert!(status.is_server_error(), "{told}");
    let (status, answer) = server.chat(&bench, ASK);
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello there.", "{answer}");
    assert_eq!(bench.model.chats().len(), 2, "one more try");
    server.kill();
    nothing_lost(&bench, "completed");
}

#[test]
fn a_wrong_key_upstream() {
    let script = Script { api_key: Some("another".to_owned()), ..Script::default() };
    fails_with(script, &["the key was refused", "OPENAI_API_KEY"]);
}

#[test]
fn a_wrong_key_upstream_through_the_api() {
    let bench = Bench::new(Script { api_key: Some("another".to_owned()), ..Script::default() });
    let server = Server::start(&bench);
    let (status, body) = server.chat(&bench, ASK);
    assert_eq!(status, StatusCode::UNAUTHORIZED, "{body}");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("OPENAI_API_KEY"), "{message}");
    assert!(!message.contains("test-key"), "{message}");
}

#[test]
fn a_model_that_the_server_does_not_have() {
    let script = Script { models: vec!["other".to_owned()], strict_models: true, ..Script::default() };
    fails_with(script, &["does not know this model", "give the connection one of these"]);
}

#[test]
fn a_prompt_that_is_too_long_for_the_model() {
    fails_with(Script::always(Behaviour::context_length()), &["context", "window"]);
}

#[test]
fn a_model_server_that_resets_for_good() {
    fails_with(Script::always(Behaviour::Reset), &["the answer broke off", "ask again"]);
}

#[test]
fn a_model_server_that_is_not_there() {
    let bench = Bench::new(Script::default());
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", free.local_addr().unwrap());
    drop(free);
    let mut command = bench.command(&["ask", "-y", ASK]);
    command.env("OPENAI_BASE_URL", &url);
    let asks_back = format!("is the server running at {url}?");
    common::finish(command).exits(1).tells(&["no connection", &asks_back]);
    nothing_lost(&bench, "failed");
}

#[test]
fn a_reset_is_tried_again() {
    survives(Behaviour::Reset);
}

#[test]
fn half_a_stream_is_tried_again() {
    survives(Behaviour::Cut { reply: Reply::text("Hello the").pieces(2, 0), clean: false });
}

#[test]
fn half_a_stream_that_ends_politely_is_tried_again() {
    survives(Behaviour::Cut { reply: Reply::text("Hello the").pieces(2, 0), clean: true });
}

#[test]
fn invalid_json_is_tried_again() {
    survives(Behaviour::InvalidJson { reply: Reply::text("Hello the").pieces(2, 0) });
}

#[test]
fn a_server_error_is_tried_again() {
    survives(Behaviour::server_error(503));
}

#[test]
fn an_empty_answer_is_not_passed_off_as_one() {
    let bench = Bench::new(Script::always(Behaviour::Empty));
    let server = Server::start(&bench);
    let (status, body) = server.chat(&bench, ASK);
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("empty"), "{body}");
    server.kill();
    nothing_lost(&bench, "failed");
}

#[test]
fn a_model_server_that_hangs_can_be_stopped() {
    let bench = Bench::new(Script::always(Behaviour::HangBeforeHeaders));
    let mut child = bench.command(&["ask", "-y", ASK]).spawn().unwrap();
    let asked = bench.model.wait_requests(1, Duration::from_mins(5));
    assert!(bench.runtime.block_on(asked));
    let begun = Instant::now();
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    nothing_lost(&bench, "stopped");
}

fn refused(done: Done, tells: &[&str]) {
    done.exits(1).tells(tells);
}

#[test]
fn a_damaged_database() {
    let bench = Bench::new(Script::default());
    bench.run(&["runs"]).exits(0);
    let file = bench.data().join("steward.db");
    let before = std::fs::read(&file).unwrap();
    let garbage = vec![0xA5; 8192];
    std::fs::write(&file, &garbage).unwrap();
    refused(bench.run(&["runs"]), &["damaged", "nothing was changed", "restore a backup"]);
    assert_eq!(std::fs::read(&file).unwrap(), garbage, "the file is left as it is");
    std::fs::write(&file, &before).unwrap();
    bench.run(&["runs"]).exits(0);
}

#[test]
fn a_database_of_a_newer_program() {
    let bench = Bench::new(Script::default());
    bench.run(&["runs"]).exits(0);
    let file = bench.data().join("steward.db");
    common::change_database(
        &file,
        "insert into steward_schema (version, name, hash, program) values (999, 'of the future', '', '9.0')",
    );
    refused(bench.run(&["runs"]), &["999", "newer steward"]);
    common::change_database(&file, "delete from steward_schema where version = 999");
    bench.run(&["runs"]).exits(0);
}

#[test]
fn a_data_directory_in_use() {
    let bench = Bench::new(Script::default());
    let server = Server::start(&bench);
    // Other commands work through the server; a second server can't.
    bench.run(&["runs"]).exits(0);
    refused(bench.run(&["serve", "--listen", "127.0.0.1:0"]), &["in use by another steward", "--data-dir"]);
    let (status, _) = server.request(&bench, Method::GET, "/healthz", None, None);
    assert_eq!(status, StatusCode::OK);
    server.kill();
    bench.run(&["runs"]).exits(0);
}

#[test]
fn a_data_directory_that_cannot_be_made() {
    let bench = Bench::new(Script::default());
    let file = bench.work.write("file", "no folder").unwrap();
    let dir = file.join("data");
    let done = bench.run(&["--data-dir", dir.to_str().unwrap(), "runs"]);
    refused(done, &["cannot make the data directory", "--data-dir"]);
}

#[test]
fn a_taken_port() {
    let bench = Bench::new(Script::default());
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    refused(bench.run(&["serve", "--listen", &address]), &["taken by another program", "--listen"]);
    assert!(!bench.data().exists(), "the data directory is not touched");
    refused(bench.run(&["serve", "--listen", "nonsense"]), &["cannot listen on nonsense", "ADDRESS:PORT"]);
}

#[test]
fn a_missing_workspace() {
    let bench = Bench::new(Script::default());
    refused(bench.run(&["ask", "-w", "nowhere", ASK]), &["workspace nowhere is not there", "--workspace"]);
    bench.work.write("file", "").unwrap();
    refused(bench.run(&["ask", "-w", "file", ASK]), &["is not a folder", "--workspace"]);
    assert!(bench.runs().is_empty());
}

#[test]
fn an_empty_request() {
    let bench = Bench::new(Script::default());
    refused(bench.run(&["ask", "  "]), &["the message is empty", "say what is to be done"]);
    assert!(bench.runs().is_empty());
    let server = Server::start(&bench);
    let (status, body) = server.chat(&bench, "  ");
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("empty"), "{body}");
}

#[test]
fn a_request_body_that_is_not_understood() {
    let bench = Bench::new(Script::default());
    let server = Server::start(&bench);
    let chat = |body| {
        let path = "/v1/chat/completions";
        server.request(&bench, Method::POST, path, Some(&server.key), Some(&body))
    };
    for (body, part) in [
        (json!({"model": "steward"}), "messages"),
        (json!({"model": "steward", "messages": [], "tools": [{}]}), "tools"),
        (json!({"model": "steward", "messages": [], "n": 2}), "`n`"),
    ] {
        let (status, answer) = chat(body);
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
    }
    let (status, answer) = chat(json!({"model": "nobody", "messages": []}));
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(answer["error"]["message"].as_str().unwrap().contains("there are: steward"));
}

#[test]
fn unknown_names() {
    let bench = Bench::new(Script::default());
    refused(bench.run(&["--connection", "nope", "ask", ASK]), &["no connection `nope`", "there are: openai"]);
    refused(bench.run(&["runs", "show", "zzz"]), &["no run `zzz`", "steward runs"]);
    refused(bench.run(&["approvals", "approve", "zzz"]), &["nothing open", "steward approvals"]);
    bench.run(&["runs", "--limit", "0"]).exits(2).tells(&["1..=1000"]);
    bench.run(&["ask", "--plan-only", "--dry-run", ASK]).exits(2).tells(&["--dry-run"]);
}

#[test]
fn a_missing_local_model() {
    let bench = Bench::new(Script::default());
    let done = bench.run(&["--model-file", "nowhere.gguf", "doctor"]);
    assert!(format!("{}{}", done.out, done.err).contains("nowhere.gguf"), "{done:#?}");
    assert!(format!("{}{}", done.out, done.err).contains("make setup"), "{done:#?}");
}
