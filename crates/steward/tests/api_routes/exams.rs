use crate::api_routes::house::{House, client, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

/// A model that says the same whatever is asked, and so fails nearly everything.
fn dull() -> House {
    House::new(Script::always(Behaviour::text("Hello.")))
}

/// The events of an exam: kinds and data.
fn told(house: &House, path: &str) -> Vec<(String, Value)> {
    let url = format!("{}{path}", house.server.url);
    let answer = async {
        let request = client().post(url).bearer_auth(&house.server.key).header("accept", "text/event-stream");
        request.send().await.unwrap().text().await.unwrap()
    };
    let body = house.bench.runtime.block_on(answer);
    let frames = body.split("\n\n").filter(|frame| frame.contains("data: "));
    frames
        .map(|frame| {
            let field = |name: &str| {
                let mut lines = frame.lines();
                lines.find_map(|line| line.strip_prefix(name)).unwrap()
            };
            let data = serde_json::from_str(field("data: ")).unwrap();
            (field("event: ").to_owned(), data)
        })
        .collect()
}

fn only(house: &House) -> Value {
    let all = house.items("/api/connections");
    all.into_iter().find(|one| one["default"] == true).unwrap()
}

#[test]
fn a_connection_is_examined_and_the_report_is_kept_and_used() {
    let house = dull();
    let before = only(&house);
    assert_eq!(before["exam"], Value::Null);
    let path = format!("/api/connections/{}/exam", text(&before["id"]));
    let none = house.send(Method::GET, &path, None, 404);
    assert_eq!(none["code"], "no_exam");
    assert!(text(&none["hint"]).contains("steward model exam"));

    let report = house.post(&path, json!({}), 200);
    assert_eq!(report["model"], "scripted");
    assert_eq!(report["checks"][0]["name"], "reach");
    assert_eq!(report["checks"][0]["outcome"], "passed");
    assert_eq!(report["grades"]["tool_call"], "E", "{report}");
    assert_eq!(report["capabilities"]["plans"], false);
    assert_eq!(house.get(&path), report);

    let after = only(&house);
    assert_eq!(after["capabilities"], report["capabilities"]);
    assert_eq!(after["exam"]["grades"], report["grades"]);
}

#[test]
fn an_exam_is_told_as_it_goes_on() {
    let house = dull();
    let path = format!("/api/connections/{}/exam", text(&only(&house)["id"]));
    let events = told(&house, &path);
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    let (last, checks) = kinds.split_last().unwrap();
    assert_eq!(*last, "report");
    assert!(checks.len() > 10 && checks.iter().all(|kind| *kind == "check"), "{kinds:?}");
    let report = &events.last().unwrap().1;
    let told: Vec<&Value> = events[..checks.len()].iter().map(|(_, data)| data).collect();
    assert_eq!(json!(told), report["checks"]);
}

#[test]
fn what_goes_wrong_is_a_problem() {
    let house = House::new(Script::always(Behaviour::unauthorised()));
    let path = format!("/api/connections/{}/exam", text(&only(&house)["id"]));
    let problem = house.post(&path, json!({}), 409);
    assert_eq!(problem["code"], "model");
    let events = told(&house, &path);
    let (kind, data) = events.last().unwrap();
    assert_eq!((kind.as_str(), &data["status"]), ("problem", &json!(409)));
    let unknown = "/api/connections/00000000-0000-7000-8000-000000000000/exam";
    house.post(unknown, json!({}), 404);
}

#[test]
fn health_and_recognition() {
    let house = dull();
    let url = house.bench.model.base_url();
    let found = house.post("/api/connections/recognise", json!({"base_url": url}), 200);
    assert_eq!(found["confirmed"], true, "{found}");
    assert_eq!(found["models"], json!(["scripted"]));
    let field = |body: Value| house.post("/api/connections/recognise", body, 422)["field"].clone();
    assert_eq!(field(json!({"base_url": "ftp://x"})), "base_url");
    let auth = json!({"kind": "bearer_env", "variable": "sk-123"});
    assert_eq!(field(json!({"base_url": url, "auth": auth})), "auth.variable");

    house.finished("Hello?");
    let health = house.items("/api/connections/health");
    let id = only(&house)["id"].clone();
    let own = health.iter().find(|one| one["connection"] == id).unwrap();
    assert_eq!(own["breaker"], "closed");
    assert!(own["requests"].as_u64().unwrap() > 0, "{own}");
}
