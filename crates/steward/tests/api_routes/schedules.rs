//! Schedules start runs of the real server by themselves.

use crate::api_routes::house::{House, key, text, wait};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

const PEOPLE: [(&str, &str); 5] =
    [("ann", "developer"), ("bob", "developer"), ("vic", "viewer"), ("oli", "operator"), ("root", "admin")];

fn house(script: Script) -> House {
    House::with_people(script, &PEOPLE)
}

fn yearly(house: &House) -> Value {
    json!({
        "name": "yearly", "agent_id": house.agent(), "request": "Sum up {{date}}",
        "when": {"timing": {"kind": "cron", "expression": "0 8 1 1 *"}, "zone": "Europe/Berlin"},
    })
}

fn every_second(house: &House, more: &Value) -> Value {
    let mut input = json!({
        "name": "often", "agent_id": house.agent(), "request": "Say the time {{time}}",
        "when": {"timing": {"kind": "interval", "every_seconds": 1}, "zone": "UTC"},
    });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

fn occurrences(house: &House, path: &str, status: &str) -> Vec<Value> {
    let all = house.items(&format!("{path}/occurrences?limit=100"));
    all.into_iter().filter(|one| one["status"] == status).collect()
}

#[test]
fn words_are_read_or_asked_back() {
    let house = house(Script::always(Behaviour::text("Done.")));
    let read = |body: Value| house.post("/api/schedules/preview", body, 200);
    let found = read(json!({"words": "every weekday at 8", "zone": "Europe/Berlin"}));
    assert_eq!(found["when"]["timing"]["expression"], "0 8 * * MON-FRI", "{found}");
    assert_eq!(found["when"]["zone"], "Europe/Berlin");
    assert_eq!(found["next"].as_array().unwrap().len(), 5);
    assert!(text(&found["description"]).contains("08:00") && !text(&found["clock_changes"]).is_empty(), "{found}");
    let german = read(json!({"words": "jeden Werktag um 8", "zone": "Europe/Berlin", "language": "de"}));
    assert_eq!(german["when"], found["when"]);
    let asked = read(json!({"words": "every day"}));
    assert_eq!((&asked["when"], &asked["question"]["about"]), (&Value::Null, &json!("time_missing")), "{asked}");
    let back = read(json!({"when": found["when"]}));
    assert_eq!(back["next"], found["next"]);
    for (bad, field) in [
        (json!({}), "words"),
        (json!({"words": "daily at 8", "when": found["when"]}), "words"),
        (json!({"words": "daily at 8", "zone": "Berlin"}), "zone"),
        (json!({"when": {"timing": {"kind": "cron", "expression": "61 * * * *"}, "zone": "UTC"}}), "when"),
        (json!({"when": {"timing": {"kind": "cron", "expression": "0 0 30 2 *"}, "zone": "UTC"}}), "when"),
        (json!({"when": {"timing": {"kind": "interval", "every_seconds": 0}, "zone": "UTC"}}), "when"),
        (json!({"words": "x".repeat(401)}), "words"),
    ] {
        let refused = house.post("/api/schedules/preview", bad.clone(), 422);
        assert_eq!(refused["field"], field, "{bad}: {refused}");
        assert!(!text(&refused["hint"]).is_empty());
    }
}

#[test]
fn a_schedule_is_made_changed_paused_deleted_and_restored() {
    let house = house(Script::always(Behaviour::text("Done.")));
    let made = house.post("/api/schedules", yearly(&house), 201);
    let path = format!("/api/schedules/{}", text(&made["id"]));
    assert_eq!((&made["agent"], &made["may_change"], &made["pause"]), (&json!("steward"), &json!(true), &Value::Null));
    assert_eq!((&made["missed"]["kind"], &made["overlap"]), (&json!("once"), &json!("skip")));
    assert!(made["next_at"].is_i64(), "{made}");
    assert_eq!(occurrences(&house, &path, "planned").len(), 2, "rows stand before they are due");

    let mut other = yearly(&house);
    other["when"]["timing"]["expression"] = json!("0 9 1 2 *");
    other["pause_after_failures"] = Value::Null;
    let changed = house.send(Method::PUT, &path, Some(other), 200);
    assert_eq!(changed["pause_after_failures"], Value::Null);
    let planned = occurrences(&house, &path, "planned");
    assert_eq!(planned.len(), 2, "{planned:?}");
    assert_eq!(planned[1]["nominal"], changed["next_at"]);

    let paused = house.post(&format!("{path}/pause"), json!({"note": "on holiday"}), 200);
    assert_eq!((&paused["pause"]["reason"], &paused["pause"]["note"]), (&json!("person"), &json!("on holiday")));
    assert_eq!(paused["next_at"], Value::Null);
    assert_eq!(house.post(&format!("{path}/pause"), json!({"note": "x".repeat(501)}), 422)["field"], "note");
    let resumed = house.post(&format!("{path}/resume"), json!({}), 200);
    assert_eq!((&resumed["pause"], &resumed["next_at"]), (&Value::Null, &changed["next_at"]));

    let german = house.get(&format!("{path}?language=de"));
    assert_ne!(german["description"], resumed["description"]);
    assert_eq!(house.items("/api/scheduler/jobs").len(), 1);
    house.send(Method::DELETE, &path, None, 204);
    assert_eq!(house.items("/api/schedules").len(), 0);
    assert_eq!(house.items("/api/schedules?deleted=true").len(), 1);
    assert_eq!(house.post(&format!("{path}/pause"), json!({}), 409)["code"], "deleted");
    let back = house.post(&format!("{path}/restore"), json!({}), 200);
    assert_eq!(back["next_at"], changed["next_at"]);
    assert_eq!(house.post(&format!("{path}/restore"), json!({}), 409)["code"], "not_deleted");

    for (field, value) in [
        ("name", json!("")),
        ("request", json!("  ")),
        ("agent_id", json!("019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11")),
        ("grace_seconds", json!(0)),
        ("pause_after_failures", json!(0)),
        ("when", json!({"timing": {"kind": "once", "at": "2020-01-01T08:00"}, "zone": "UTC"})),
        ("when", json!({"timing": {"kind": "once", "at": "soon"}, "zone": "UTC"})),
        ("when", json!({"timing": {"kind": "cron", "expression": "0 8 * * *;".repeat(300)}, "zone": "UTC"})),
        (
            "when",
            json!({"timing": {"kind": "interval", "every_seconds": 60}, "zone": "UTC", "start": 1_795_898_254_000_000_i64}),
        ),
        ("when", json!({"timing": {"kind": "interval", "every_seconds": 60}, "zone": "UTC", "end": i64::MIN})),
        ("more", json!(1)),
    ] {
        let mut bad = yearly(&house);
        bad[field] = value.clone();
        let refused = house.post("/api/schedules", bad, 422);
        assert_eq!(refused["field"], field, "{value}: {refused}");
    }
}

#[test]
fn only_its_owner_changes_and_runs_it() {
    let house = house(Script::always(Behaviour::text("Done.")));
    let as_who =
        |name: &str, method: Method, path: &str, body: Option<Value>| house.call_as(&key(name), method, path, body);
    let (status, made) = as_who("ann", Method::POST, "/api/schedules", Some(yearly(&house)));
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["owner"], "ann@example.org");
    assert_eq!(as_who("vic", Method::POST, "/api/schedules", Some(yearly(&house))).0, 403);
    let path = format!("/api/schedules/{}", text(&made["id"]));
    let run = format!("{path}/run");
    for (who, status) in [("bob", 404), ("vic", 404), ("oli", 200), ("ann", 200)] {
        assert_eq!(as_who(who, Method::GET, &path, None).0, status, "{who}");
    }
    for (method, path) in [(Method::PUT, path.as_str()), (Method::POST, run.as_str())] {
        let body = (method == Method::PUT).then(|| yearly(&house));
        let (status, refused) = as_who("oli", method, path, body);
        assert_eq!(status, 403, "{refused}");
        assert!(text(&refused["title"]).contains("its owner"), "{refused}");
    }
    let pause = format!("{path}/pause");
    assert_eq!(as_who("bob", Method::POST, &pause, Some(json!({}))).0, 404);
    assert_eq!(as_who("oli", Method::POST, &pause, Some(json!({"note": "too loud"}))).0, 200);
    assert_eq!(as_who("oli", Method::POST, &format!("{path}/resume"), Some(json!({}))).0, 403);
    assert_eq!(as_who("ann", Method::POST, &format!("{path}/resume"), Some(json!({}))).0, 200);
    let (status, started) = as_who("ann", Method::POST, &run, Some(json!({})));
    assert_eq!(status, 200, "{started}");
    let row = house.wait(&text(&started["run_id"]), "finished");
    assert_eq!((&row["origin"], &row["asked_by"]), (&json!("schedule"), &json!("ann@example.org")), "{row}");
    assert!(text(&row["input"]).starts_with("Sum up 20"), "{row}");
    let history = house.items(&format!("{path}/occurrences"));
    let by_hand = history.iter().find(|one| one["by_hand"] == true).unwrap();
    assert_eq!((&by_hand["status"], &by_hand["run_id"]), (&json!("ran"), &started["run_id"]));
    assert_eq!(as_who("oli", Method::DELETE, &path, None).0, 204);
}

#[test]
fn what_is_due_runs_by_itself_and_each_occurrence_has_one_fate() {
    let house = house(Script::always(Behaviour::text("Done.")));
    let made = house.post("/api/schedules", every_second(&house, &json!({"overlap": "allow"})), 201);
    let path = format!("/api/schedules/{}", text(&made["id"]));
    wait("three runs", || (occurrences(&house, &path, "ran").len() >= 3).then_some(()));
    house.post(&format!("{path}/pause"), json!({}), 200);
    wait("a skipped one", || {
        let skipped = occurrences(&house, &path, "skipped");
        skipped.iter().any(|one| one["reason"] == "paused").then_some(())
    });
    house.send(Method::DELETE, &path, None, 204);
    let all = house.items(&format!("{path}/occurrences?limit=100"));
    let mut nominal: Vec<i64> = all.iter().map(|one| one["nominal"].as_i64().unwrap()).collect();
    nominal.reverse();
    let gaps: Vec<i64> = nominal.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| *gap == 1000), "none is missing, none is there twice: {gaps:?}");
    let ran: Vec<String> = all.iter().filter(|one| one["status"] == "ran").map(|one| text(&one["run_id"])).collect();
    let runs = house.items("/api/runs?origin=schedule&limit=100");
    assert_eq!(runs.len(), ran.len(), "one run for each");
    assert!(runs.iter().all(|run| ran.contains(&text(&run["id"]))));
    assert!(all.iter().all(|one| one["status"] != "planned" && one["status"] != "queued"), "{all:#?}");
}

#[test]
fn failing_pauses_it_and_so_does_a_lost_right() {
    let house = house(Script::always(Behaviour::server_error(400)));
    let more = json!({"pause_after_failures": 2, "overlap": "skip"});
    let made = house.post("/api/schedules", every_second(&house, &more), 201);
    let path = format!("/api/schedules/{}", text(&made["id"]));
    let paused = wait("a pause", || Some(house.get(&path)).filter(|now| now["pause"].is_object()));
    assert_eq!((&paused["pause"]["reason"], &paused["failures"]), (&json!("failures"), &json!(2)), "{paused}");
    let (_, noted) = house.call_as(&key("root"), Method::GET, "/api/audit?action=schedules.paused", None);
    assert_eq!(noted["items"].as_array().map(Vec::len), Some(1), "{noted:#?}");
    let resumed = house.post(&format!("{path}/resume"), json!({}), 200);
    assert_eq!((&resumed["pause"], &resumed["failures"]), (&Value::Null, &json!(0)), "they count anew");
    house.send(Method::DELETE, &path, None, 204);

    let (status, anns) =
        house.call_as(&key("ann"), Method::POST, "/api/schedules", Some(every_second(&house, &json!({}))));
    assert_eq!(status, 201, "{anns}");
    let ann = text(&anns["owner_id"]);
    let shut_out = Some(json!({"disabled": true}));
    assert_eq!(house.call_as(&key("root"), Method::PATCH, &format!("/api/users/{ann}"), shut_out).0, 200);
    let path = format!("/api/schedules/{}", text(&anns["id"]));
    let paused = wait("a pause", || Some(house.get(&path)).filter(|now| now["pause"].is_object()));
    assert_eq!(paused["pause"]["reason"], "owner", "{paused}");
    assert!(text(&paused["pause"]["note"]).contains("gone or disabled"), "{paused}");

    // An agent that is gone is nobody's lost right.
    let agent = text(&house.post("/api/agents", json!({"name": "brief"}), 201)["id"]);
    let made = house.post("/api/schedules", every_second(&house, &json!({"agent_id": agent})), 201);
    let path = format!("/api/schedules/{}", text(&made["id"]));
    house.send(Method::DELETE, &format!("/api/agents/{agent}"), None, 204);
    let paused = wait("a pause", || Some(house.get(&path)).filter(|now| now["pause"].is_object()));
    assert_eq!(paused["pause"]["reason"], "cannot_start", "{paused}");
}

#[test]
fn what_waits_for_its_jitter_is_not_lost_by_a_change() {
    let house = house(Script::always(Behaviour::text("Done.")));
    let mut input = every_second(&house, &json!({"overlap": "allow"}));
    input["when"]["timing"]["every_seconds"] = json!(2);
    input["when"]["jitter_seconds"] = json!(60);
    let made = house.post("/api/schedules", input.clone(), 201);
    let path = format!("/api/schedules/{}", text(&made["id"]));
    for jitter in [0, 60, 0, 60, 0] {
        let before = occurrences(&house, &path, "ran").len();
        wait("a run", || (occurrences(&house, &path, "ran").len() > before).then_some(()));
        input["when"]["jitter_seconds"] = json!(jitter);
        house.send(Method::PUT, &path, Some(input.clone()), 200);
    }
    house.post(&format!("{path}/pause"), json!({}), 200);
    let all = house.items(&format!("{path}/occurrences?limit=100"));
    let nominal: Vec<i64> = all.iter().map(|one| one["nominal"].as_i64().unwrap()).collect();
    assert!(nominal.windows(2).all(|pair| pair[0] - pair[1] == 2_000), "{nominal:?}");
}
