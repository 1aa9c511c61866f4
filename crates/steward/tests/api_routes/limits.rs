//! Lengths and numbers in the API's document are those that the server takes: the studio's forms go by the document.

use crate::api_routes::house::House;
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

type Make = fn(&str) -> Value;

fn agent(name: &str) -> Value {
    json!({
        "name": name, "instructions": "", "tools": ["read"], "connection": null,
        "policy": {"read": "allow", "write": "ask", "external": "ask", "destructive": "deny", "tools": {}},
        "budget": "query", "tuning": {"temperature": 0.5, "max_tokens": 200, "timeout_ms": 60000},
    })
}

fn connection(name: &str) -> Value {
    json!({
        "name": name, "provider": "compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m",
        "auth": {"kind": "none"}, "weight": 1,
        "capabilities": {"window": 8192, "max_tools": 8, "num_ctx": 4096, "prompt_tokens": 2048},
    })
}

fn credential(name: &str) -> Value {
    json!({"name": name, "kind": "token", "description": "", "fields": {"token": "secret"}})
}

fn server(name: &str) -> Value {
    json!({"name": name, "transport": {"kind": "http", "url": "https://wiki.example.org/mcp"}})
}

fn skill(name: &str) -> Value {
    json!({
        "name": name, "description": "Gives a number.", "category": "", "type": "python_inline",
        "config": {"code": "def run(payload):\n    return {'n': 1}\n"},
        "limits": {"timeout_ms": 1000, "result_chars": 1000},
    })
}

/// Where it is sent, a sound body, the field's place in it, and the type and field of the document.
const FIELDS: [(&str, Make, &str, &str, &str); 19] = [
    ("/api/agents", agent, "/name", "AgentInput", "name"),
    ("/api/agents", agent, "/instructions", "AgentInput", "instructions"),
    ("/api/agents", agent, "/tuning/temperature", "Tuning", "temperature"),
    ("/api/agents", agent, "/tuning/max_tokens", "Tuning", "max_tokens"),
    ("/api/agents", agent, "/tuning/timeout_ms", "Tuning", "timeout_ms"),
    ("/api/connections", connection, "/name", "ConnectionInput", "name"),
    ("/api/connections", connection, "/weight", "ConnectionInput", "weight"),
    ("/api/connections", connection, "/capabilities/window", "Capabilities", "window"),
    ("/api/connections", connection, "/capabilities/max_tools", "Capabilities", "max_tools"),
    ("/api/connections", connection, "/capabilities/num_ctx", "Capabilities", "num_ctx"),
    ("/api/connections", connection, "/capabilities/prompt_tokens", "Capabilities", "prompt_tokens"),
    ("/api/credentials", credential, "/name", "CredentialInput", "name"),
    ("/api/credentials", credential, "/description", "CredentialInput", "description"),
    ("/api/mcp/servers", server, "/name", "McpServerInput", "name"),
    ("/api/skills", skill, "/name", "SkillInput", "name"),
    ("/api/skills", skill, "/description", "SkillInput", "description"),
    ("/api/skills", skill, "/category", "SkillInput", "category"),
    ("/api/skills", skill, "/limits/timeout_ms", "SkillLimits", "timeout_ms"),
    ("/api/skills", skill, "/limits/result_chars", "SkillLimits", "result_chars"),
];

/// Values at the edges that the document gives, and those right beyond.
fn edges(shape: &Value) -> (Vec<Value>, Vec<Value>) {
    let number = |key: &str| shape[key].as_u64();
    if let Some(most) = number("maxLength") {
        let text = |length: u64| json!("x".repeat(usize::try_from(length).unwrap()));
        return (vec![text(most)], vec![text(most + 1)]);
    }
    let least = number("minimum").unwrap_or_else(|| panic!("no minimum: {shape}"));
    let most = number("maximum").unwrap_or_else(|| panic!("no maximum: {shape}"));
    let mut beyond = vec![json!(most + 1)];
    beyond.extend(least.checked_sub(1).map(|less| json!(less)));
    (vec![json!(least), json!(most)], beyond)
}

#[test]
fn the_documented_limits_are_those_that_are_checked() {
    let house = House::new(Script::default());
    let document = house.get("/api/openapi.json");
    let mut count = 0;
    for (path, make, place, schema, field) in FIELDS {
        let shape = &document["components"]["schemas"][schema]["properties"][field];
        let (fits, beyond) = edges(shape);
        let tries = fits.into_iter().map(|value| (value, 201)).chain(beyond.into_iter().map(|value| (value, 422)));
        for (value, expect) in tries {
            count += 1;
            let mut body = make(&format!("n{count}"));
            *body.pointer_mut(place).unwrap_or_else(|| panic!("{path} has no {place}")) = value;
            let (status, answer) = house.call(Method::POST, path, Some(body));
            assert_eq!(status, expect, "{schema}.{field}, documented as {shape}: {answer}");
        }
    }
}
