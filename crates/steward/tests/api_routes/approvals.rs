use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Rule, Script};

/// A model that writes `n.md` when it is asked to, and says so.
fn writer() -> Script {
    let arguments = json!({"path": "n.md", "content": "hello"});
    let mut script = Script::always(Behaviour::text("All done."));
    script.rules.push(Rule {
        contains: "Write".to_owned(),
        role: Some("user".to_owned()),
        times: None,
        then: Behaviour::calls([("write", arguments)]),
    });
    script
}

fn parked(house: &House) -> (String, Value) {
    let (run, _) = house.chat("Write a note.");
    let detail = house.wait(&run, "parked");
    let id = text(&detail["waiting_approval"]);
    (run, house.get(&format!("/api/approvals/{id}")))
}

fn decide(house: &House, approval: &Value, body: Value, expect: u16) -> Value {
    let path = format!("/api/approvals/{}/decide", text(&approval["id"]));
    house.post(&path, body, expect)
}

#[test]
fn an_approval_says_all_that_is_needed_and_its_effect_is_undone() {
    let house = House::new(writer());
    let (run, asked) = parked(&house);
    assert_eq!((&asked["status"], &asked["tainted"]), (&json!("open"), &json!(false)));
    assert_eq!((&asked["subject"]["tool"], &asked["subject"]["risk"]), (&json!("write"), &json!("write")));
    assert_eq!((&asked["run"]["asked_by"], &asked["run"]["title"]), (&json!("local@steward"), &json!("Write a note.")));
    assert!(text(&asked["reason"]).contains("policy"), "{asked}");
    assert!(text(&asked["if_denied"]).contains("does not run"), "{asked}");
    assert_eq!(house.items("/api/approvals"), std::slice::from_ref(&asked));
    assert_eq!(house.items(&format!("/api/approvals?run_id={run}&status=all")), std::slice::from_ref(&asked));
    assert!(house.items("/api/approvals?status=closed").is_empty());
    let wrong = decide(&house, &asked, json!({"answer": {"decision": "happened"}}), 422);
    assert_eq!(wrong["field"], "answer.decision");
    house.post(&format!("/api/runs/{run}/undo"), json!({}), 409);
    let done = decide(&house, &asked, json!({"answer": {"decision": "approve"}}), 200);
    assert_eq!(
        (&done["approval"]["status"], &done["approval"]["decided_by"]),
        (&json!("decided"), &json!("local@steward"))
    );
    let again = decide(&house, &asked, json!({"answer": {"decision": "deny"}}), 409);
    assert_eq!(again["code"], "already_decided");
    assert_eq!(house.wait(&run, "finished")["undoable"], 1);
    assert_eq!(house.bench.work.read("n.md").unwrap(), "hello");
    assert_eq!(house.items("/api/approvals?status=closed").len(), 1);
    let call = json!({"call_id": asked["subject"]["call_id"]});
    let undone = house.post(&format!("/api/runs/{run}/undo"), call, 200);
    assert_eq!(undone["items"][0]["undone"], true, "{undone}");
    assert!(house.bench.work.read("n.md").is_err());
    assert_eq!(house.get(&format!("/api/runs/{run}"))["undoable"], 0);
    let nothing = house.post(&format!("/api/runs/{run}/undo"), json!({}), 200);
    assert_eq!(nothing["items"], json!([]));
}

#[test]
fn the_same_question_of_several_runs_is_answered_once() {
    let house = House::new(writer());
    let all: Vec<(String, Value)> = (0..3).map(|_| parked(&house)).collect();
    let (_, last) = &all[2];
    let mut others: Vec<String> = last["duplicates"].as_array().unwrap().iter().map(text).collect();
    others.sort();
    let mut expect = vec![text(&all[0].1["id"]), text(&all[1].1["id"])];
    expect.sort();
    assert_eq!(others, expect);
    let body = json!({"answer": {"decision": "deny", "reason": "not now"}, "duplicates": true});
    let decided = decide(&house, last, body, 200);
    assert_eq!(decided["also"].as_array().unwrap().len(), 2);
    for (run, _) in &all {
        house.wait(run, "finished");
    }
    assert!(house.items("/api/approvals").is_empty());
    assert!(house.bench.work.read("n.md").is_err());
}

#[test]
fn a_standing_grant_holds_for_the_agents_next_runs_until_it_is_revoked() {
    let house = House::new(writer());
    let (run, asked) = parked(&house);
    // The server began a moment ago.
    let began = house.get("/api/about")["started_at"].as_u64().unwrap();
    let hour = began + 3_600_000;
    let grant = json!({"kind": "tool", "name": "write"});
    let body =
        |until: Value| json!({"answer": {"decision": "approve", "grant": grant, "until": until}, "standing": true});
    decide(&house, &asked, body(json!(hour + 8 * 86_400_000)), 422);
    decide(&house, &asked, body(Value::Null), 422);
    assert!(house.items("/api/grants").is_empty());
    decide(&house, &asked, body(json!(hour)), 200);
    house.wait(&run, "finished");
    let grants = house.items("/api/grants");
    assert_eq!(grants.len(), 1);
    assert_eq!((&grants[0]["agent_name"], &grants[0]["grant"]["scope"]), (&json!("steward"), &grant));
    let (next, _) = house.chat("Write a note.");
    house.wait(&next, "finished");
    let path = format!("/api/grants/{}", text(&grants[0]["id"]));
    house.send(Method::DELETE, &path, None, 204);
    house.send(Method::DELETE, &path, None, 404);
    parked(&house);
}

#[test]
fn a_withdrawn_question_cannot_be_answered() {
    let house = House::new(writer());
    let (run, asked) = parked(&house);
    house.post(&format!("/api/runs/{run}/stop"), json!({}), 202);
    house.wait(&run, "finished");
    let problem = decide(&house, &asked, json!({"answer": {"decision": "approve"}}), 409);
    assert_eq!(problem["code"], "withdrawn", "{problem}");
    let path = format!("/api/approvals/{}", text(&asked["id"]));
    assert_eq!(house.get(&path)["status"], "withdrawn");
}
