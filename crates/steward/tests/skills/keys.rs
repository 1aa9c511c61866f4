//! Keys of connections: typed in, used, replaced without a restart, removed, and found nowhere.

use crate::api_routes::house::{House, text};
use crate::common::{Bench, Done, Server, finish};
use crate::skills::trace::{Found, answers, assert_nowhere, files};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;
use steward_testkit::model_server::{Behaviour, Rule, Script};

const API: [&str; 2] = ["canary-api-1a7+/=", "canary-api-2b9+/="];
const CLI: [&str; 2] = ["canary-cli-3c1+/=", "canary-cli-4d3+/="];
const PASSWORD: &str = "canary-variable-of-steward";

/// A model that repeats the key when it is asked to.
fn parrot() -> Script {
    let said = format!("Incorrect API key provided: {}.", API[1]);
    let mut script = Script::always(Behaviour::text("Hello."));
    script.rules.push(Rule {
        contains: "Repeat the key".to_owned(),
        role: Some("user".to_owned()),
        times: None,
        then: Behaviour::Status { status: 401, body: json!({"error": {"message": said}}), retry_after: None },
    });
    script
}

fn input(url: &str, auth: Value) -> Value {
    json!({"name": "typed", "provider": "compatible", "base_url": url, "model": "scripted", "auth": auth})
}

/// The credentials of the requests that came since, in order.
fn shown(bench: &Bench, since: usize) -> Vec<String> {
    let all = bench.model.requests();
    let sent = all[since..].iter();
    sent.map(|one| one.headers.get("authorization").cloned().unwrap_or_default()).collect()
}

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

/// A command that is given `key` on standard input.
fn with_key(bench: &Bench, key: &str, args: &[&str]) -> Done {
    let mut file = tempfile::tempfile().unwrap();
    writeln!(file, "{key}").unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    let mut command = bench.command(args);
    command.stdin(Stdio::from(file));
    finish(command)
}

fn count(bench: &Bench) -> usize {
    bench.model.requests().len()
}

#[test]
fn a_typed_key_is_used_replaced_and_found_nowhere() {
    let bench = Bench::new(parrot());
    let server = Server::start_with(&bench, &[("STEWARD_LOG", "debug"), ("STEWARD_EXTRA_TOKEN", PASSWORD)]);
    let house = House { bench, server };
    let url = house.bench.model.base_url();
    let mut found: Found = Vec::new();
    let mut keep = |name: &str, value: &Value| found.push((name.to_owned(), value.to_string().into_bytes()));

    // Steward's own variables, and any that is not one for keys, are refused by name.
    for variable in ["STEWARD_EXTRA_TOKEN", "HOME"] {
        let auth = json!({"kind": "bearer_env", "variable": variable});
        let (status, refused) = house.call(Method::POST, "/api/connections", Some(input(&url, auth.clone())));
        assert_eq!((status, &refused["field"]), (422, &json!("auth.variable")), "{refused}");
        assert!(text(&refused["title"]).contains(variable), "{refused}");
        let before = count(&house.bench);
        let looked = json!({"base_url": url, "auth": auth});
        let looked = house.post("/api/connections/recognise", looked, 200);
        assert!(text(&looked["reason"]).contains(variable), "{looked}");
        assert_eq!(count(&house.bench), before, "it was sent");
    }

    // By the API.
    let missing = house.send(Method::POST, "/api/connections", Some(input(&url, json!({"kind": "bearer"}))), 422);
    assert_eq!(missing["field"], "auth.key");
    let auth = json!({"kind": "bearer", "key": API[0]});
    let made = house.post("/api/connections", input(&url, auth), 201);
    keep("made", &made);
    assert_eq!(made["auth"], json!({"kind": "bearer"}));
    assert_eq!(made["default"], false, "another one was there before");
    let path = format!("/api/connections/{}", text(&made["id"]));
    house.send(Method::POST, &format!("{path}/default"), None, 204);
    let before = count(&house.bench);
    house.finished("Hello?");
    assert!(shown(&house.bench, before).iter().all(|sent| *sent == bearer(API[0])));

    // Without a key it stays, for this server only; another one is in force at the next call.
    house.send(Method::PUT, &path, Some(input(&url, json!({"kind": "bearer"}))), 200);
    let elsewhere = input("http://127.0.0.1:9/v1", json!({"kind": "bearer"}));
    assert_eq!(house.send(Method::PUT, &path, Some(elsewhere), 422)["field"], "auth.key");
    let before = count(&house.bench);
    assert_eq!(house.post(&format!("{path}/test"), json!({}), 200)["ok"], true);
    let auth = json!({"kind": "bearer", "key": API[1]});
    keep("changed", &house.send(Method::PUT, &path, Some(input(&url, auth)), 200));
    house.finished("And now?");
    let sent = shown(&house.bench, before);
    assert_eq!(sent.first(), Some(&bearer(API[0])));
    assert_eq!(sent.last(), Some(&bearer(API[1])));

    // An endpoint that repeats it, to an agent and through the gateway.
    let (run, _) = house.finished("Repeat the key");
    keep("run", &run);
    let body = json!({"model": "connection/typed", "messages": [{"role": "user", "content": "Repeat the key"}]});
    let (status, said) = house.call(Method::POST, "/v1/chat/completions", Some(body));
    assert!(status >= 400, "{said}");
    keep("gateway", &said);

    // It belongs to the connection: no agent, skill or person gets at it another way.
    let credentials = house.items("/api/credentials");
    let own = credentials.iter().find(|one| one["connection"] == made["id"]).unwrap();
    assert_eq!(own["name"], "connection typed");
    let credential = format!("/api/credentials/{}", text(&own["id"]));
    for (method, body) in [(Method::DELETE, None), (Method::PATCH, Some(json!({"name": "mine"})))] {
        assert_eq!(house.send(method, &credential, body, 409)["code"], "of_connection");
    }
    assert!(house.items(&format!("{credential}/uses")).len() >= 3);

    // By the command line, beside the server.
    let add = ["connections", "add", "asked", &url, "--model", "scripted", "--key", "-"];
    let done = with_key(&house.bench, CLI[0], &add).exits(0);
    let done = done.tells(&["`asked` answered", "sealed", "default stays"]);
    found.push(("add".to_owned(), (done.out + &done.err).into_bytes()));
    assert_eq!(shown(&house.bench, 0).last(), Some(&bearer(CLI[0])));
    let done = with_key(&house.bench, CLI[1], &["connections", "key", "asked", "-"]).exits(0);
    found.push(("key".to_owned(), (done.out + &done.err).into_bytes()));
    assert_eq!(shown(&house.bench, 0).last(), Some(&bearer(CLI[1])));
    let argument = ["connections", "add", "x", &url, "--key", "sk-in-the-open"];
    house.bench.run(&argument).exits(1).tells(&["never stands in the command"]);

    answers(&house, &mut found);
    let prompts: Vec<Value> = house.bench.model.requests().iter().map(|one| one.body.clone()).collect();
    found.push(("prompts".to_owned(), json!(prompts).to_string().into_bytes()));
    for args in [&["connections", "--json"][..], &["credential", "list", "--json"], &["runs", "--json"], &["doctor"]] {
        let done = house.bench.run(args);
        found.push((format!("{args:?}"), (done.out + &done.err).into_bytes()));
    }
    found.push(("log".to_owned(), house.server.said().into_bytes()));
    files(&house.bench.data(), &mut found);
    assert!(found.len() > 60, "only {} places were looked at", found.len());
    assert_nowhere(&[API[0], API[1], CLI[0], CLI[1], PASSWORD], &found);

    house.send(Method::DELETE, &path, None, 204);
    house.bench.run(&["connections", "remove", "asked"]).exits(0);
    assert_eq!(house.items("/api/credentials"), Vec::<Value>::new());
}

#[test]
fn the_first_connection_beside_the_built_in_model_is_the_default_and_no_other() {
    let bench = Bench::new(parrot());
    let url = bench.model.base_url();
    let run = |args: &[&str]| {
        let mut command = bench.command(args);
        // Nothing is found by itself but the built-in model.
        command.env_remove("OPENAI_API_KEY");
        finish(command).exits(0)
    };
    let default = || {
        let all = run(&["connections", "--json"]).json();
        let all = all.as_array().unwrap().iter();
        let one = all.clone().find(|one| one["default"] == true).unwrap();
        text(&one["connection"]["name"])
    };
    assert_eq!(default(), "local");
    run(&["connections", "add", "second", &url]).tells(&["saved `second`: scripted", "`second` is the default"]);
    run(&["connections", "add", "first", &url]).tells(&["default stays as it was"]);
    assert_eq!(default(), "second");
    run(&["connections", "default", "first"]);
    assert_eq!(default(), "first");
    run(&["connections", "remove", "first"]);
    run(&["connections", "add", "first", &url]).tells(&["default stays as it was"]);
    assert_eq!(default(), "second");
}
