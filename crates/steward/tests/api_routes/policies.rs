use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

const PATH: &str = "/api/policies/tools";

fn house() -> House {
    let script = Script::always(Behaviour::text("That is all."))
        .when("write it", Behaviour::calls([("write", json!({"path": "a.txt", "content": "x"}))]));
    House::with_people(script, &[("root", "admin"), ("dora", "developer")])
}

fn set(house: &House, version: u64, rules: Value, expect: u16) -> Value {
    let body = json!({"version": version, "rules": rules});
    let (status, answer) = house.call_as(&key("root"), Method::PUT, PATH, Some(body));
    assert_eq!(status, expect, "{answer}");
    answer
}

#[test]
fn rules_are_changed_by_administrators_and_not_over_each_other() {
    let house = house();
    assert_eq!(house.get(PATH), json!({"version": 0, "rules": []}));
    let rule = json!({"name": "night", "risks": ["external"], "origins": ["schedule"], "decision": "deny"});
    let kept = set(&house, 0, json!([rule]), 200);
    assert_eq!(kept["version"], 1);
    assert_eq!(house.get(PATH), kept, "everybody sees them");
    let meanwhile = set(&house, 0, json!([]), 409);
    assert_eq!(meanwhile["code"], "changed_meanwhile", "{meanwhile}");
    for (wrong, field) in [
        (json!({"name": "mild", "decision": "allow"}), "rules.0.decision"),
        (json!({"name": "", "decision": "ask"}), "rules.0.name"),
        (json!({"name": "x", "decision": "ask", "agents": ["nobody"]}), "rules.0.agents"),
        (json!({"name": "x", "decision": "deny", "four_eyes": true}), "rules.0.four_eyes"),
    ] {
        let refused = set(&house, 1, json!([wrong]), 422);
        assert_eq!(refused["field"], field, "{refused}");
    }
    let lift = json!({"version": 1, "rules": []});
    let (status, answer) = house.call_as(&key("dora"), Method::PUT, PATH, Some(lift.clone()));
    assert_eq!(status, 403, "{answer}");
    house.send(Method::PUT, PATH, Some(lift), 403);
    assert_eq!(house.get(PATH), kept, "nothing was changed by what was refused");
}

#[test]
fn a_rule_holds_for_runs_that_begin_after_it() {
    let house = house();
    set(
        &house,
        0,
        json!([{"name": "no writing", "risks": ["write"], "roles": ["developer"], "decision": "deny"}]),
        200,
    );
    let path = format!("/api/chat/{}", house.agent());
    let (status, started) = house.call_as(&key("dora"), Method::POST, &path, Some(json!({"message": "write it"})));
    assert_eq!(status, 202, "{started}");
    let run = text(&started["run_id"]);
    house.wait(&run, "finished");
    let log = house.get(&format!("/api/runs/{run}/log")).to_string();
    assert!(log.contains("no writing"), "{log}");
    assert!(!log.contains("approval.requested"), "{log}");
    assert!(!house.bench.work.path().join("a.txt").exists());
    // Another role is not meant: it is asked as before.
    let (run, _) = house.chat("write it");
    house.wait(&run, "parked");
}
