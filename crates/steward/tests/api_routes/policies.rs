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

#[test]
fn a_rule_holds_for_trials_of_skills() {
    let house = house();
    let skill = |name: &str, risk: &str| {
        let body = json!({
            "name": name, "description": "Says one.", "type": "python_inline", "risk": risk,
            "config": {"code": "def run(payload):\n    return {'said': 1}\n"},
            "parameters": {"type": "object", "properties": {}},
        });
        text(&house.post("/api/skills", body, 201)["id"])
    };
    let (looks, writes) = (skill("looks", "read"), skill("writes", "write"));
    let try_it = |id: &str, body: Value| {
        let path = format!("/api/skills/{id}/test");
        house.call_as(&key("root"), Method::POST, &path, Some(body))
    };
    let real = json!({"arguments": {}, "dry_run": false, "confirm": true});
    let unconfirmed = json!({"arguments": {}, "dry_run": false});
    for id in [&looks, &writes] {
        assert_eq!(try_it(id, real.clone()).1["ok"], true);
    }
    for (version, rule, skill, body, status, code) in [
        (0, json!({"name": "r", "risks": ["write"], "decision": "deny"}), &writes, &real, 403, "denied_by_rule"),
        (1, json!({"name": "r", "decision": "deny"}), &looks, &real, 403, "denied_by_rule"),
        (2, json!({"name": "r", "decision": "ask", "four_eyes": true}), &writes, &real, 403, "denied_by_rule"),
        (3, json!({"name": "r", "risks": ["read"], "decision": "ask"}), &looks, &unconfirmed, 409, "confirm"),
    ] {
        set(&house, version, json!([rule]), 200);
        let (found, answer) = try_it(skill, body.clone());
        assert_eq!((found, &answer["code"]), (status, &json!(code)), "{rule}: {answer}");
        assert!(answer["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{answer}");
        let (found, answer) = try_it(skill, json!({"arguments": {}}));
        assert_eq!((found, &answer["ok"]), (200, &json!(true)), "a dry run does nothing: {answer}");
    }
    assert_eq!(try_it(&looks, real.clone()).1["ok"], true, "it was asked, and confirmed");
    // Rules about others: another agent, another role.
    let elsewhere = json!({"name": "r", "agents": [house.agent()], "decision": "deny"});
    let others = json!({"name": "s", "roles": ["developer"], "decision": "deny"});
    set(&house, 4, json!([elsewhere, others]), 200);
    assert_eq!(try_it(&writes, real.clone()).1["ok"], true);
    let mut as_agent = real;
    as_agent["agent"] = json!(house.agent());
    assert_eq!(try_it(&writes, as_agent).0, 403, "tried as that agent");
}
