//! kill -9 in mid-skill ends as the skill's effect class says.

use crate::api_routes::house::{House, text};
use crate::common::Server;
use crate::skills::desk::{approve, credential, obedient, skill};
use crate::skills::places::Echo;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use steward_testkit::sshd::{Sshd, user};

fn wait(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_mins(5), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Notes each time it runs; the first time it then hangs.
fn script(folder: &Path, name: &str) -> Value {
    let file = folder.join(name).display().to_string();
    json!([
        "sh",
        "-c",
        "if mkdir \"$0.first\"; then echo once >> \"$0\"; sleep 60; fi; echo once >> \"$0\"; echo made",
        file
    ])
}

fn times(folder: &Path, name: &str) -> usize {
    let text = std::fs::read_to_string(folder.join(name));
    text.unwrap_or_default().lines().count()
}

/// Approves the call of `name`, kills the program while it is at work and starts it again.
fn killed(house: House, name: &str, at_work: impl Fn() -> bool) -> (House, String) {
    let (run, _) = house.chat(&format!("Please use {name} now."));
    wait("a question or work", || at_work() || !house.items(&format!("/api/approvals?run_id={run}")).is_empty());
    for card in house.items(&format!("/api/approvals?run_id={run}")) {
        let path = format!("/api/approvals/{}/decide", text(&card["id"]));
        house.post(&path, json!({"answer": {"decision": "approve"}}), 200);
    }
    wait("work", at_work);
    let House { bench, server } = house;
    server.kill();
    let server = Server::start(&bench);
    (House { bench, server }, run)
}

fn kinds(house: &House, run: &str) -> String {
    house.get(&format!("/api/runs/{run}/events")).to_string()
}

#[test]
fn what_only_looks_is_done_again() {
    let names = ["look_http", "look_ssh"];
    let house = House::new(obedient(&names));
    let (echo, sshd) = (Echo::start(), Sshd::start("").unwrap());
    on_ssh(&house, &sshd);
    let folder = sshd.path("");
    let http = json!({"method": "GET", "url": echo.url("/late"), "allow": [echo.allowed()]});
    let ssh = json!({"host": "127.0.0.1", "port": sshd.port(), "command": script(&folder, "looked")});
    skill(&house, json!({"name": "look_http", "type": "http", "config": http, "effect": "read"}));
    skill(
        &house,
        json!({"name": "look_ssh", "type": "ssh", "config": ssh, "effect": "read", "credential": {"name": "box"}}),
    );
    let (house, run) = killed(house, "look_http", || echo.late() == 1);
    assert!(approve(&house, &run).is_empty(), "nobody is asked again");
    assert_eq!(echo.late(), 2);
    assert!(kinds(&house, &run).contains("run.resumed"));
    let (house, run) = killed(house, "look_ssh", || times(&folder, "looked") == 1);
    assert!(approve(&house, &run).is_empty());
    assert_eq!(times(&folder, "looked"), 2);
    assert!(kinds(&house, &run).contains("made"), "its result is there");
}

#[test]
fn what_may_have_changed_something_is_asked_about() {
    let names = ["change_ssh", "change_here"];
    let mut house = House::new(obedient(&names));
    let sshd = Sshd::start("").unwrap();
    on_ssh(&house, &sshd);
    let (there, here) = (sshd.path(""), house.bench.work.path().to_owned());
    let ssh = json!({"host": "127.0.0.1", "port": sshd.port(), "command": script(&there, "changed")});
    let shell = json!({"command": script(Path::new(""), "changed"), "writes": true});
    skill(&house, json!({"name": "change_ssh", "type": "ssh", "config": ssh, "credential": {"name": "box"}}));
    skill(&house, json!({"name": "change_here", "type": "shell", "config": shell}));
    for (name, folder, answer, expect) in
        [("change_ssh", &there, "happened", 1), ("change_here", &here, "run_again", 2)]
    {
        let (after, run) = killed(house, name, || times(folder, "changed") == 1);
        let open = format!("/api/approvals?run_id={run}");
        wait("a question", || !after.items(&open).is_empty());
        let card = &after.items(&open)[0];
        assert_eq!(card["subject"]["tool"], name, "{card}");
        assert_eq!(times(folder, "changed"), 1, "not before somebody says so");
        let path = format!("/api/approvals/{}/decide", text(&card["id"]));
        let refused = after.post(&path, json!({"answer": {"decision": "approve"}}), 422);
        assert_eq!(refused["field"], "answer.decision", "it asks what happened");
        after.post(&path, json!({"answer": {"decision": answer}}), 200);
        after.wait(&run, "finished");
        assert_eq!(times(folder, "changed"), expect, "{name}");
        house = after;
    }
}

/// A credential for the server, whose host key is accepted.
fn on_ssh(house: &House, sshd: &Sshd) {
    let key = std::fs::read_to_string(sshd.path("user")).unwrap();
    let fields = json!({"username": user().unwrap(), "private_key": key});
    credential(house, "box", "ssh_key", fields);
    let host = format!("127.0.0.1:{}", sshd.port());
    let trusted = house.bench.run(&["skill", "trust-host", &host, &sshd.fingerprint().unwrap()]);
    trusted.exits(0);
}
