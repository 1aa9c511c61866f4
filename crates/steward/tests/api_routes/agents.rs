use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

fn input(name: &str) -> Value {
    json!({
        "name": name, "instructions": "Answer in rhyme.", "tools": ["read", "list"], "connection": null,
        "policy": {"read": "allow", "write": "ask", "external": "ask", "destructive": "deny", "tools": {}},
        "budget": "query", "tuning": {"temperature": 0.5, "max_tokens": 200, "timeout_ms": 60000},
    })
}

#[test]
fn an_agent_is_made_changed_deleted_and_restored() {
    let house = House::new(Script::default());
    let made = house.post("/api/agents", input("poet"), 201);
    let path = format!("/api/agents/{}", text(&made["id"]));
    assert_eq!(house.get(&path), made);
    assert_eq!(house.items("/api/agents?q=RHYME"), std::slice::from_ref(&made));
    assert_eq!(house.items("/api/agents").len(), 2);
    let clash = house.post("/api/agents", input("poet"), 409);
    assert!(text(&clash["title"]).contains("poet"), "{clash}");
    let changed = house.send(Method::PUT, &path, Some(input("bard")), 200);
    assert_eq!(changed["name"], "bard");
    house.send(Method::DELETE, &path, None, 204);
    house.send(Method::GET, &path, None, 404);
    house.send(Method::PUT, &path, Some(input("bard")), 404);
    assert_eq!(house.items("/api/agents").len(), 1);
    let back = house.post(&format!("{path}/restore"), json!({}), 200);
    assert_eq!(back, changed);
}

#[test]
fn what_an_agent_cannot_be_is_refused_by_field() {
    let house = House::new(Script::default());
    for (pointer, value, field) in [
        ("/name", json!(""), "name"),
        ("/tools", json!(["red"]), "tools"),
        ("/budget", json!("endless"), "budget"),
        ("/policy/write", json!("maybe"), "policy.write"),
        ("/tuning/temperature", json!(9), "tuning.temperature"),
        ("/connection", json!("019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11"), "connection"),
    ] {
        let mut body = input("poet");
        *body.pointer_mut(pointer).unwrap() = value;
        let problem = house.post("/api/agents", body, 422);
        assert_eq!(problem["field"], field, "{problem}");
    }
    let mut body = input("poet");
    body["colour"] = json!("red");
    assert_eq!(house.post("/api/agents", body, 422)["field"], "colour");
}

#[test]
fn a_route_shows_who_plans_and_where_a_redirect_leads() {
    let house = House::new(Script::default());
    let big = json!({"name": "big", "provider": "compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m", "auth": {"kind": "none"}});
    let big = house.post("/api/connections", big, 201);
    let body = json!({"name": "figures", "connection": big["id"], "tools": ["sql"]});
    let figures = house.post("/api/agents", body, 201);
    let preview = |message: &str, more: Value| {
        let mut body = json!({"message": message});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.post("/api/routing/preview", body, 200)
    };
    let (hello, chart) = ("Say hello", "Debug this chart");
    let plain = preview(hello, json!({}));
    assert_eq!((&plain["planner"], &plain["redirected"]), (&Value::Null, &Value::Null), "{plain}");
    assert_eq!(plain["targets"][0]["name"], "openai", "{plain}");

    let routing = json!({"planner": big["id"], "redirects": {"analytics": {"agent": figures["id"]}}});
    let planned = preview(hello, json!({"routing": routing}));
    assert_eq!(planned["targets"][0]["name"], "openai", "{planned}");
    assert_eq!(planned["planner"]["targets"][0]["name"], "big", "{planned}");
    assert!(text(&planned["planner"]["reason"]).contains("`big` (planner)"), "{planned}");
    assert_eq!(planned["redirected"], Value::Null, "{planned}");

    let elsewhere = preview(chart, json!({"routing": routing}));
    assert_eq!(elsewhere["redirected"]["from"], "this agent", "{elsewhere}");
    assert!(text(&elsewhere["redirected"]["reason"]).ends_with("(analytics) to `figures`"), "{elsewhere}");
    assert_eq!((&elsewhere["targets"][0]["name"], &elsewhere["planner"]), (&json!("big"), &Value::Null), "{elsewhere}");

    // Saved, it is shown by its id; a redirect to tools names those that it has.
    let asked = house.post("/api/agents", json!({"name": "asked", "routing": routing}), 201);
    let saved = preview(chart, json!({"agent_id": asked["id"]}));
    assert_eq!(saved["redirected"]["from"], "asked", "{saved}");
    let tools = json!({"routing": {"redirects": {"analytics": "tools"}}, "tools": ["read", "sql"]});
    let narrowed = preview(chart, tools);
    assert!(text(&narrowed["redirected"]["reason"]).ends_with("(analytics): sql"), "{narrowed}");
    assert_eq!(narrowed["redirected"].get("from"), None, "{narrowed}");
}

#[test]
fn a_prompt_is_shown_before_it_is_sent() {
    let house = House::new(Script::default());
    let body = json!({"agent": input("poet"), "input": "Tell me of the sea."});
    let preview = house.post("/api/agents/preview", body, 200);
    assert_eq!(preview["fits"], true);
    assert_eq!(preview["model"], "scripted");
    let said = preview["messages"].to_string();
    assert!(said.contains("Answer in rhyme.") && said.contains("the sea"), "{preview}");
    let total: u64 = preview["sections"].as_array().unwrap().iter().map(|one| one["tokens"].as_u64().unwrap()).sum();
    assert_eq!(preview["tokens"], total, "{preview}");
    assert!(house.bench.model.chats().is_empty(), "nothing was asked");
    let tools = house.items("/api/tools?limit=100");
    let write = tools.iter().find(|tool| tool["name"] == "write").unwrap();
    assert_eq!(write["risk"], "write");
    assert_eq!(write["parameters"]["type"], "object");
}
