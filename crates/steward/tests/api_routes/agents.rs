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
