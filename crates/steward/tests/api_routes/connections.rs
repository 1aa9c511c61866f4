use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

fn input(name: &str, url: &str) -> Value {
    json!({"name": name, "provider": "compatible", "base_url": url, "model": "scripted", "auth": {"kind": "none"}})
}

#[test]
fn a_connection_is_added_tested_used_and_removed() {
    let house = House::new(Script::always(Behaviour::text("Hello.")));
    let url = house.bench.model.base_url();
    let found = house.items("/api/connections");
    let own = found.iter().find(|one| one["default"] == true).unwrap();
    assert_eq!((&own["editable"], &own["model"]), (&json!(false), &json!("scripted")));
    let fixed = format!("/api/connections/{}", text(&own["id"]));
    assert_eq!(house.send(Method::DELETE, &fixed, None, 409)["code"], "fixed");
    assert_eq!(house.send(Method::PUT, &fixed, Some(input("x", &url)), 409)["code"], "fixed");

    let made = house.post("/api/connections", input("mine", &url), 201);
    assert_eq!((&made["from"], &made["editable"]), (&json!("saved"), &json!(true)));
    house.post("/api/connections", input("mine", &url), 409);
    let path = format!("/api/connections/{}", text(&made["id"]));
    let tested = house.post(&format!("{path}/test"), json!({}), 200);
    assert_eq!((&tested["ok"], &tested["text"]), (&json!(true), &json!("Hello.")), "{tested}");
    house.send(Method::POST, &format!("{path}/default"), None, 204);
    let listed = house.items("/api/connections");
    let default: Vec<_> = listed.iter().filter(|one| one["default"] == true).collect();
    assert_eq!(default.len(), 1);
    assert_eq!(default[0]["id"], made["id"]);
    let (run, _) = house.finished("Hello?");
    assert_eq!(run["connection_id"], made["id"], "in force at the next run");

    let nobody = "http://127.0.0.1:9/v1";
    let changed = house.send(Method::PUT, &path, Some(input("mine", nobody)), 200);
    assert_eq!(changed["base_url"], nobody);
    let tested = house.post(&format!("{path}/test"), json!({}), 200);
    assert_eq!(tested["ok"], false);
    assert!(!text(&tested["error"]).is_empty() && !text(&tested["hint"]).is_empty(), "{tested}");
    house.send(Method::DELETE, &path, None, 204);
    house.send(Method::DELETE, &path, None, 404);
    assert_eq!(house.post("/api/connections", input("bad", "mailto:x"), 422)["field"], "base_url");
}
