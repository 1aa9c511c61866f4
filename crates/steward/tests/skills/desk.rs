//! An agent with skills, and a person who answers what it asks.

use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Rule, Script};

/// A model that calls the tool NAME when somebody says `use NAME now` or `use NAME, and fail now`, and then says that it
/// is done.
pub fn obedient(names: &[&str]) -> Script {
    let mut script = Script::always(Behaviour::text("That is all."));
    for name in names {
        script.rules.push(Rule {
            contains: format!("use {name} now"),
            role: Some("user".to_owned()),
            times: None,
            then: Behaviour::calls([(tool(name), arguments(name))]),
        });
    }
    script
}

/// The tool that is meant by `NAME` or `NAME, and fail`.
pub fn tool(name: &str) -> &str {
    name.split(',').next().unwrap_or(name)
}

fn arguments(name: &str) -> Value {
    match name {
        "wiki_see" => json!({"name": "nothing"}),
        "web_search" => json!({"query": "herons"}),
        "web_search, and fail" => json!({"query": "fail"}),
        "mail_send" => {
            json!({"to": "ann@example.org", "subject": "Herons", "body": "They are here."})
        }
        _ => json!({}),
    }
}

/// Makes a credential that every skill may find.
pub fn credential(house: &House, name: &str, kind: &str, fields: Value) {
    let body = json!({"name": name, "kind": kind, "fields": fields, "discoverable": true});
    house.post("/api/credentials", body, 201);
}

/// Makes a skill of the agent that is always there; its id.
pub fn skill(house: &House, body: Value) -> String {
    let path = format!("/api/universal-agents/{}/skills:create_and_attach", house.agent());
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut all = json!({"description": "Does its work.", "risk": "external", "effect": "write", "parameters": none});
    for (key, value) in body.as_object().unwrap() {
        all[key] = value.clone();
    }
    text(&house.post(&path, all, 201)["skill"]["id"])
}

/// Says `message` and approves whatever is asked; the run's id and all approval cards.
pub fn approve_all(house: &House, message: &str) -> (String, Vec<Value>) {
    let (run, _) = house.chat(message);
    let cards = approve(house, &run);
    (run, cards)
}

/// Approves what a run asks until it ends.
pub fn approve(house: &House, run: &str) -> Vec<Value> {
    let begun = Instant::now();
    let mut cards = Vec::new();
    loop {
        let detail = house.get(&format!("/api/runs/{run}"));
        if detail["status"] == "finished" {
            return cards;
        }
        for card in house.items(&format!("/api/approvals?run_id={run}")) {
            let path = format!("/api/approvals/{}/decide", text(&card["id"]));
            let body = json!({"answer": {"decision": "approve"}});
            let (status, answer) = house.call(Method::POST, &path, Some(body));
            assert!(status == 200 || status == 409, "{answer}");
            cards.push(card);
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "no end: {detail}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
