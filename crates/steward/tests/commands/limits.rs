//! `steward key`, `budget`, `policy` and `conversations`, and commands of which a word is enough, beside one server.

use crate::common::{Bench, Server, finish};
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

/// What `/v1` answers to a key that asks for this model.
fn asked(bench: &Bench, server: &Server, secret: &str, model: &str) -> (u16, Value) {
    let body = json!({"model": model, "messages": [{"role": "user", "content": "hi"}]});
    let path = "/v1/chat/completions";
    let (status, answer) = server.request(bench, reqwest::Method::POST, path, Some(secret), Some(&body));
    (status.as_u16(), answer)
}

#[test]
fn a_key_opens_what_it_is_made_for_and_says_so() {
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    let server = Server::start(&bench);
    let other = json!({"name": "other", "provider": "compatible", "base_url": bench.model.base_url(), "model": "scripted",
        "auth": {"kind": "none"}});
    let (status, made) =
        server.request(&bench, reqwest::Method::POST, "/api/connections", Some(&server.key), Some(&other));
    assert_eq!(status.as_u16(), 201, "{made}");
    for (args, opens, status) in [
        (&["key", "create", "all"][..], "connections: all; agents: none", 200),
        (&["key", "create", "one", "--allow-connection", "other"], "connections: other; agents: none", 403),
        (&["key", "create", "said", "--connection", "other"], "connections: other; agents: none", 403),
        (&["--connection", "other", "key", "create", "before"], "connections: other; agents: none", 403),
        (&["key", "create", "two", "--connection", "other", "--allow-connection", "openai"], "other", 200),
    ] {
        let done = bench.run(args).exits(0).tells(&["It opens", opens, "only time"]);
        assert_eq!(asked(&bench, &server, done.out.trim(), "connection/openai").0, status, "{args:?}");
        assert_eq!(asked(&bench, &server, done.out.trim(), "connection/other").0, 200, "{args:?}");
    }
    bench
        .run(&["key", "create", "none", "--connection", "nobody"])
        .exits(1)
        .tells(&["no connection `nobody`", "there are"]);
    // What the environment says is for all commands, and restricts nothing.
    let mut command = bench.command(&["key", "create", "quiet"]);
    command.env("STEWARD_CONNECTION", "other");
    finish(command).exits(0).tells(&["connections: all"]);
    let listed = bench.run(&["key", "list"]).exits(0);
    assert!(listed.out.contains("connections: other; agents: none"), "{listed:?}");
    bench.run(&["key", "revoke", "said"]).exits(0).tells(&["revoked: said"]);
}

#[test]
fn limits_and_conversations() {
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    let server = Server::start(&bench);
    bench.run(&["budget", "set", "installation", "--dollars", "50"]).exits(0);
    let budgets = bench.run(&["budget", "list"]).exits(0).out;
    let id = budgets.split_whitespace().next().unwrap_or_else(|| panic!("no budget: {budgets}"));
    bench.run(&["budget", "remove", id]).exits(0);
    let (status, agents) = server.request(&bench, reqwest::Method::GET, "/api/agents", Some(&server.key), None);
    assert_eq!(status.as_u16(), 200);
    let path = format!("/api/chat/{}", agents["items"][0]["id"].as_str().unwrap());
    let body = json!({"message": "hello"});
    let (_, begun) = server.request(&bench, reqwest::Method::POST, &path, Some(&server.key), Some(&body));
    let conversation = begun["conversation_id"].as_str().unwrap();
    let run = begun["run_id"].as_str().unwrap();
    let path = format!("/api/runs/{run}");
    let state = || server.request(&bench, reqwest::Method::GET, &path, Some(&server.key), None).1["status"].clone();
    while state() != "finished" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    bench.run(&["conversations", "show", conversation]).exits(0);
    bench.run(&["conversations", "rename", conversation, "Greetings"]).exits(0);
    bench.run(&["conversations", "fork", conversation]).exits(0);
    bench.run(&["conversations", "delete", conversation]).exits(0);
    bench.run(&["conversations", "restore", conversation]).exits(0);
    let titles = bench.run(&["conversations", "--json"]).exits(0).out;
    assert!(titles.contains("Greetings"), "{titles}");

    // There is nothing for them here.
    bench.run(&["runs", "steer", run, "only those of 2008"]).exits(1).tells(&["ended"]);
    for answer in [&["approvals", "happened", "zzz"], &["approvals", "run-again", "zzz"], &["approvals", "skip", "zzz"]]
    {
        bench.run(answer).exits(1).tells(&["nothing open"]);
    }
    bench.run(&["mcp", "list"]).exits(0).tells(&["steward mcp add"]);
}

#[test]
fn what_only_administrators_change() {
    // Without a server, the owner of the data is one.
    let bench = Bench::new(Script::default());
    bench.run(&["policy", "add", "two people", "--risk", "destructive", "--four-eyes"]).exits(0);
    let rules = bench.run(&["policy", "list"]).exits(0);
    assert!(rules.out.contains("two people"), "{rules:?}");
    bench.run(&["policy", "remove", "two people"]).exits(0);
    bench.run(&["audit", "deletions"]).exits(0);
    bench.run(&["tenant", "list"]).exits(0);
    bench.run(&["tenant", "create", "acme", "--admin", "ann@acme.example"]).exits(0);
    bench.run(&["tenant", "disable", "acme"]).exits(0);
    bench.run(&["tenant", "enable", "acme"]).exits(0);
}
