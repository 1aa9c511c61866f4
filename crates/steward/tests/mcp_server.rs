//! The official Python MCP client works unchanged against `/mcp`; what agents offer there is read under the same rules as in a
//! run, and written down.

use crate::api_routes::house::{House, client, key};
use crate::common;

use common::{Bench, Server, data_file, finish};
use reqwest::Method;
use serde_json::{Value, json};
use std::process::Command;
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script};

fn rule(contains: &str, role: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

#[test]
fn python_mcp_client_works_unchanged() {
    let note = json!({"path": "note.txt", "content": "remember"});
    let script = Script {
        rules: vec![
            rule("beacon.txt", "tool", Behaviour::text("There is beacon.txt.")),
            rule("note.txt", "tool", Behaviour::text("The note is written.")),
            rule("plain", "user", Behaviour::text("Hello from the model.")),
            rule("List the files", "user", Behaviour::calls([("list", json!({"path": "."}))])),
            rule("Write the note", "user", Behaviour::calls([("write", note)])),
            rule("break", "user", Behaviour::unauthorised()),
            rule("forever", "user", Behaviour::Stall { reply: Reply::text("It takes a while to say all of this.") }),
        ],
        ..Script::default()
    };
    let bench = Bench::new(script);
    bench.work.write("beacon.txt", "light").unwrap();
    let server = Server::start(&bench);
    let program = steward_testkit::set_up("venv-mcp/bin/python3");
    assert!(program.exists(), "{} is missing; run scripts/setup.sh test", program.display());
    let mut python = Command::new(program);
    python.arg(data_file("mcp_client.py")).arg(&server.url).arg(&server.key);
    let done = finish(python).exits(0);
    assert!(done.out.contains("all good"), "{done:?}");
}

/// Says something to `/mcp` in a session, if it is not empty; the session that the answer names, and the answer.
fn say(house: &House, session: &str, message: &Value) -> (String, String) {
    let request = client()
        .post(format!("{}/mcp", house.server.url))
        .bearer_auth(&house.server.key)
        .header("accept", "application/json, text/event-stream")
        .json(message);
    let request = if session.is_empty() { request } else { request.header("mcp-session-id", session) };
    house.bench.runtime.block_on(async {
        let answer = request.send().await.unwrap();
        let named = answer.headers().get("mcp-session-id").map_or("", |name| name.to_str().unwrap()).to_owned();
        (named, answer.text().await.unwrap())
    })
}

#[test]
fn what_agents_offer_is_read_under_the_rules_over_data_and_written_down() {
    let house = House::with_people(Script::default(), &[("ada", "admin")]);
    let ada = |method: Method, path: &str, body: Option<Value>| {
        let (status, answer) = house.call_as(&key("ada"), method, path, body);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    };
    std::fs::create_dir(house.bench.work.path().join("hr")).unwrap();
    house.bench.work.write("beacon.txt", "a light at sea").unwrap();
    house.bench.work.write("hr/pay.csv", "name,pay\nAnn,93000\n").unwrap();
    let agent = json!({
        "name": "keeper", "instructions": "Keep the light.", "tools": ["read"], "connection": null,
        "policy": {"read": "allow", "write": "ask", "external": "ask", "destructive": "deny", "tools": {}},
        "budget": "query", "tuning": {"temperature": 0.5, "max_tokens": 200, "timeout_ms": 60000},
        "metadata": {"mcp_tools": ["read"]},
    });
    house.post("/api/agents", agent, 201);
    let rules = json!({
        "version": 0,
        "labels": [{"name": "people", "classification": "confidential", "paths": ["hr/**"]}],
        "policies": [{"name": "nobody", "from": "confidential", "action": "block"}],
    });
    ada(Method::PUT, "/api/data-governance/policies", Some(rules));

    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let (session, _) = say(&house, "", &hello);
    say(&house, &session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let read = |path: &str| {
        let params = json!({"name": "keeper_read", "arguments": {"path": path}});
        say(&house, &session, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})).1
    };
    let seen = read("beacon.txt");
    assert!(seen.contains("a light at sea"), "{seen}");
    let kept = read("hr/pay.csv");
    assert!(kept.contains("nobody") && !kept.contains("93000"), "{kept}");
    let missing = read("gone.txt");
    assert!(missing.contains("gone.txt"), "{missing}");

    let entries = |action: &str| {
        ada(Method::GET, &format!("/api/audit?action={action}"), None)["items"].as_array().unwrap().clone()
    };
    let calls = entries("tool.called");
    let results: Vec<&Value> = calls.iter().map(|one| &one["result"]).collect();
    assert_eq!(results, ["failed", "refused", "ok"], "{calls:?}");
    let first = &calls[2];
    assert_eq!((&first["target"], &first["detail"]["agent"]), (&json!("read"), &json!("keeper")), "{first}");
    assert_eq!((&first["origin"], &first["run_id"]), (&json!("api"), &Value::Null), "{first}");
    let hash = steward_core::hash::of_json(&json!({"path": "beacon.txt"}));
    assert_eq!((&first["detail"]["args_hash"], &first["detail"]["risk"]), (&json!(hash), &json!("read")), "{first}");
    assert!(first["address"].is_string(), "{first}");
    let blocked = entries("data.blocked");
    assert_eq!((blocked.len(), &blocked[0]["detail"]["policy"]), (1, &json!("nobody")), "{blocked:?}");
}
