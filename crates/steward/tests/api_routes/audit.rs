use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Rule, Script};

const PEOPLE: [(&str, &str); 2] = [("root", "admin"), ("ann", "developer")];

fn writer() -> Script {
    let mut script = Script::always(Behaviour::text("All done."));
    script.rules.push(Rule {
        contains: "Write".to_owned(),
        role: Some("user".to_owned()),
        times: None,
        then: Behaviour::calls([("write", json!({"path": "n.md", "content": "a secret text"}))]),
    });
    script
}

/// Entries that fit, oldest first.
fn entries(house: &House, query: &str) -> Vec<Value> {
    let (status, page) = house.call_as(&key("root"), Method::GET, &format!("/api/audit?limit=100&{query}"), None);
    assert_eq!(status, 200, "{page}");
    let mut all = page["items"].as_array().unwrap().clone();
    all.reverse();
    all
}

#[test]
fn a_run_is_in_the_audit_trail_from_its_start_to_its_undo() {
    let house = House::with_people(writer(), &PEOPLE);
    let (run, _) = house.chat("Write a secret note.");
    let waiting = text(&house.wait(&run, "parked")["waiting_approval"]);
    let path = format!("/api/approvals/{waiting}/decide");
    house.post(&path, json!({"answer": {"decision": "approve"}}), 200);
    house.wait(&run, "finished");
    house.post(&format!("/api/runs/{run}/undo"), json!({}), 200);

    let all = entries(&house, &format!("run={run}"));
    let line = |entry: &Value| {
        let target = entry["target"].as_str().unwrap().replace(&waiting, "*");
        format!("{} {target} {}", text(&entry["action"]), text(&entry["result"]))
    };
    let lines: Vec<String> = all.iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "run.started steward ok",
            "approval.requested * asked",
            "approval.decided * ok",
            "tool.called write ok",
            "run.finished steward ok",
            "tool.undo write asked",
            "tool.undo write ok",
        ]
    );
    for entry in &all {
        assert_eq!((&entry["actor"], &entry["run_id"]), (&json!("local@steward"), &json!(run)), "{entry}");
        assert!(!entry.to_string().contains("secret"), "{entry}");
    }
    for (index, address) in [(0, json!("127.0.0.1")), (2, json!("127.0.0.1")), (3, Value::Null)] {
        assert_eq!(all[index]["address"], address, "{}", all[index]);
    }
    assert_eq!(all[3]["detail"]["args_hash"], all[1]["detail"]["args_hash"], "what was approved is what ran");
    assert_eq!(all[3]["detail"]["risk"], "write");
    // What made only events of runs is in no entry of its own.
    let requests: Vec<Value> = entries(&house, "").into_iter().filter(|entry| entry["run_id"].is_null()).collect();
    assert_eq!(requests, Vec::<Value>::new());
}

#[test]
fn only_administrators_see_the_trail_and_what_they_change_is_in_it() {
    let house = House::with_people(Script::default(), &PEOPLE);
    assert_eq!(house.send(Method::GET, "/api/audit", None, 403)["status"], 403);
    assert_eq!(house.call_as(&key("ann"), Method::GET, "/api/audit", None).0, 403);
    let (status, refused) = house.call_as(&key("ann"), Method::POST, "/api/credentials/rotate", Some(json!({})));
    assert_eq!(status, 403, "{refused}");
    let new = json!({"name": "shop", "kind": "token", "fields": {"token": "a very secret token"}});
    let made = house.post("/api/credentials", new, 201);
    house.send(Method::DELETE, &format!("/api/credentials/{}", text(&made["id"])), None, 204);
    let all = entries(&house, "");
    let lines: Vec<_> =
        all.iter().map(|one| (text(&one["actor"]), text(&one["action"]), text(&one["result"]))).collect();
    let line = |actor: &str, action: &str, result: &str| (actor.to_owned(), action.to_owned(), result.to_owned());
    assert_eq!(
        lines,
        [
            line("ann@example.org", "credentials.rotate", "refused"),
            line("local@steward", "credentials.create", "ok"),
            line("local@steward", "credentials.delete", "ok"),
        ]
    );
    assert_eq!((&all[1]["target"], &all[1]["detail"]["name"]), (&made["id"], &json!("shop")));
    assert!(!json!(all).to_string().contains("very secret"));
}
