//! graphql and huggingface skills against a server on the loopback.

use super::world::{World, skill};
use crate::server::{Server, answer, ok};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use steward_core::credential::CredentialKind;
use steward_tools::outbound::Client;
use steward_tools::skills::{GraphqlExecutor, HuggingfaceExecutor};

fn world() -> World {
    let client = Client::new(Vec::new());
    World::new(vec![Arc::new(GraphqlExecutor::new(client.clone())), Arc::new(HuggingfaceExecutor::new(client))])
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"q": {}, "id": {"type": "string"}, "n": {"type": "integer"}}})
}

#[tokio::test]
async fn graphql_answers_and_errors() {
    let server = Server::start_whole(|head| {
        let body = head.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let reply = match body["variables"]["id"].as_str() {
            Some("gone") => {
                json!({"data": null, "errors": [{"message": "no such user"}, {"code": 7}]})
            }
            Some("odd") => json!({"hello": 1}),
            Some("hang") => return Vec::new(),
            id => json!({"data": {"user": {"name": id, "query": body["query"]}}}),
        };
        ok("application/json", reply.to_string())
    })
    .await;
    let world = world();
    let query = "query U($id: ID!) { user(id: $id) { name } }";
    let config = json!({"url": server.url("/graphql"), "query": query, "variables": {"id": "{{id}}"}, "select": "$.user.name", "allow": [server.allowed()]});
    let rest = json!({"type": "graphql", "config": config, "parameters": schema(), "limits": {"timeout_ms": 300, "result_chars": 1000}});
    let call = world.add(skill(30, "user", rest.clone()));
    let nasty = "\") { admin } #";
    let output = world.ok(&call, json!({"id": nasty})).await;
    assert_eq!((output.content.as_str(), output.provenance.is_from_outside()), (nasty, true));
    assert!(world.refused(&call, json!({"id": "gone"})).await.contains("no such user; {\"code\":7}"));
    assert!(world.refused(&call, json!({"id": "odd"})).await.contains("no GraphQL answer"));
    let late = world.refused(&call, json!({"id": "hang"})).await;
    assert!(late.contains(" ms; "), "{late}");
    let preview = world.preview(&call, json!({"id": "z"})).await;
    assert!(preview.reversible && preview.detail.unwrap().contains("\"id\": \"z\""));
    for (field, value, expect) in [
        ("url", json!("https://x.example/{{id}}"), "fixed"),
        ("query", json!(" "), "config.query"),
        ("query", json!("subscription { x }"), "never ends"),
        ("query", json!("mutation { x }"), "a mutation changes"),
        ("variables", json!([1]), "config.variables"),
        ("variables", json!({"a": "{{zz}}"}), "config.variables"),
        ("select", json!("["), "config.select"),
    ] {
        let mut rest = rest.clone();
        rest["config"][field] = value;
        let error = world.runtime.check(&skill(31, "x", rest)).unwrap_err();
        assert!(error.contains(expect), "{field}: {error}");
    }
}

#[tokio::test]
async fn models_that_load_are_waited_for() {
    let tries = Arc::new(AtomicUsize::new(0));
    let count = tries.clone();
    let server = Server::start_whole(move |head| {
        let n = count.fetch_add(1, Ordering::Relaxed);
        if head.contains("never") {
            return answer(
                503,
                &["content-type: application/json"],
                r#"{"error": "Model x is currently loading", "estimated_time": 3600}"#,
            );
        }
        if n < 2 {
            return answer(
                503,
                &["content-type: application/json"],
                r#"{"error": "Model x is currently loading", "estimated_time": 0.05}"#,
            );
        }
        let body = head.split_once("\r\n\r\n").unwrap().1;
        ok("application/json", json!([{"echo": body}]).to_string())
    })
    .await;
    let world = world();
    world.credential("hf", CredentialKind::Token, &[("token", "hf-canary")]);
    let rest = json!({
        "type": "huggingface", "credential": {}, "risk": "external", "effect": "write",
        "config": {"model": "facebook/bart-large-mnli", "url": server.url("/models"), "allow": [server.allowed()], "parameters": {"candidate_labels": "{{q}}"}},
        "parameters": {"type": "object", "properties": {"inputs": {"type": "string"}, "q": {"type": "array"}}},
        "limits": {"timeout_ms": 5000, "result_chars": 1000},
    });
    let call = world.add(skill(30, "classify", rest.clone()));
    let output = world.ok(&call, json!({"inputs": "good", "q": ["a", "b"]})).await;
    assert_eq!(tries.load(Ordering::Relaxed), 3);
    let sent: Value = serde_json::from_str(output.data.unwrap()[0]["echo"].as_str().unwrap()).unwrap();
    assert_eq!(sent, json!({"inputs": "good", "parameters": {"candidate_labels": ["a", "b"]}}));
    assert_eq!(output.receipt.unwrap().object, "facebook/bart-large-mnli");
    let head = server.requests.lock().unwrap()[0].clone();
    assert!(head.starts_with("POST /models/facebook/bart-large-mnli ") && head.contains("Bearer hf-canary"));
    let error = world.refused(&call, json!({"inputs": "never"})).await;
    assert!(error.contains("answered 503") && error.contains("loading"), "{error}");
    assert!(world.refused(&call, json!({})).await.contains("no input"));
    for model in ["../x", "a/b/c", "a b", "", "{{inputs}}"] {
        let mut rest = rest.clone();
        rest["config"]["model"] = json!(model);
        assert!(world.runtime.check(&skill(31, "x", rest)).is_err(), "{model}");
    }
}
