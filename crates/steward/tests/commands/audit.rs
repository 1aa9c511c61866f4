use super::{Bench, Done, both};
use crate::common::finish;
use serde_json::json;
use steward_testkit::database;
use steward_testkit::model_server::Script;

/// Asserts that standard output holds each of these.
fn prints(done: &Done, parts: &[&str]) {
    for part in parts {
        assert!(done.out.contains(part), "no `{part}` in {done:#?}");
    }
}

#[test]
fn the_audit_trail_is_listed_exported_and_checked() {
    let bench = Bench::new(Script::default());
    bench.run(&["agents", "add", "reporter", "--instructions", "You write reports."]).exits(0);
    bench.run(&["agents", "remove", "reporter"]).exits(0);
    prints(&bench.run(&["audit"]).exits(0), &["agents.create", "reporter", "agents.delete", "local@steward"]);
    let listed = bench.run(&["audit", "--action", "agents.create", "--json"]).exits(0).json();
    let entry = &listed["entries"][0];
    assert_eq!((&entry["detail"]["name"], &entry["origin"]), (&json!("reporter"), &json!("cli")), "{listed}");
    let seq = entry["seq"].to_string();
    prints(&bench.run(&["audit", "show", &seq]).exits(0), &["agents.create", "reporter", "hash"]);
    bench.run(&["audit", "list", "--result", "failed"]).exits(0).tells(&["No entry fits"]);

    let file = bench.work.path().join("audit.csv");
    let path = file.display().to_string();
    bench.run(&["audit", "export", "--format", "csv", "-o", &path]).exits(0).tells(&["written"]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("agents.delete"));
    prints(&bench.run(&["audit", "export", "--action", "agents"]).exits(0), &["\"action\":\"agents.create\""]);

    let checked = bench.run(&["audit", "verify", "--json"]).exits(0).json();
    let known = format!("{}:{}", checked["head"]["seq"], checked["head"]["hash"].as_str().unwrap());
    prints(&bench.run(&["audit", "verify", "--known", &known]).exits(0), &["The chain holds", "The last one"]);
    prints(&bench.run(&["audit", "verify", "--known", "1:abc"]).exits(1), &["broken", "entry 1"]);
    bench.run(&["audit", "verify", "--known", "nonsense"]).exits(1).tells(&["NUMBER:HASH"]);
    prints(&bench.run(&["audit", "retention"]).exits(0), &["for good"]);
    bench.run(&["audit", "retention", "--days", "365"]).exits(0).tells(&["365 days"]);
    bench.run(&["audit", "retention", "--forever"]).exits(0).tells(&["for good"]);

    database::change(&bench.data(), "update audit_entries set actor = 'eve' where seq = 2");
    prints(&bench.run(&["audit", "verify"]).exits(1), &["The chain is broken", "entry 2"]);
}

#[test]
fn at_a_running_server_an_administrator_is_wanted() {
    both(|bench, served| {
        let done = bench.run(&["audit"]);
        if served {
            done.exits(1).tells(&["only an administrator", "STEWARD_API_KEY"]);
        } else {
            done.exits(0);
        }
    });
}

#[test]
fn an_administrator_reads_it_beside_a_server() {
    let bench = Bench::new(Script::default());
    bench.run(&["agents", "add", "reporter", "--instructions", "You write reports."]).exits(0);
    let server = crate::common::Server::start(&bench);
    let body = json!({
        "token": server.setup_token(), "email": "ada@example.org", "password": "correct horse battery",
    });
    let ask = |path: &str, token: Option<&str>, body: &serde_json::Value| {
        let (status, answer) = server.request(&bench, reqwest::Method::POST, path, token, Some(body));
        assert!(status.is_success(), "{path}: {answer}");
        answer
    };
    let session = ask("/api/auth/setup", None, &body);
    let token = session["access_token"].as_str().unwrap();
    let key = ask("/api/auth/api-key", Some(token), &json!({}));
    let with_key = |args: &[&str]| {
        let mut command = bench.command(args);
        command.env("STEWARD_API_KEY", key["api_key"].as_str().unwrap());
        finish(command)
    };
    let listed = with_key(&["audit"]).exits(0);
    prints(&listed, &["agents.create", "auth.setup", "auth.api_key.create", "ada@example.org"]);
    prints(&with_key(&["audit", "verify"]).exits(0), &["The chain holds"]);
    with_key(&["audit", "export", "-o", "trail.jsonl"]).exits(0);
    assert!(bench.work.read("trail.jsonl").unwrap().contains("auth.setup"));
}
