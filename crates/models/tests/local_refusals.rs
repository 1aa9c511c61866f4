//! What the model server refuses, and how it says so.

use crate::local_support;
use local_support::Server;
use serde_json::{Value, json};

fn ask(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_told_apart() {
    let server = Server::start(&["context=512"]).await;
    let hello = ask("Hello");
    let long = ask(&"word ".repeat(2000));
    for (body, status, code, word) in [
        (json!({"messages": []}), 400, "invalid_value", "messages is empty"),
        (json!({}), 400, "invalid_value", "messages"),
        (json!({"messages": [{"role": "wizard", "content": "x"}]}), 400, "invalid_value", "wizard"),
        (json!({"messages": hello, "model": "gpt-9"}), 404, "model_not_found", "gpt-9"),
        (json!({"messages": hello, "temperature": 9}), 400, "invalid_value", "temperature"),
        (json!({"messages": hello, "n": 2}), 400, "unsupported_parameter", "n = 1"),
        (json!({"messages": hello, "max_tokens": 0}), 400, "invalid_value", "max_tokens"),
        (json!({"messages": hello, "tools": [{"type": "function"}]}), 400, "unsupported_parameter", "response_format"),
        (json!({"messages": hello, "grammar": "root ::= <<<"}), 400, "invalid_value", "GBNF"),
        (json!({"messages": hello, "response_format": {"type": "yaml"}}), 400, "invalid_value", "json_schema"),
        (json!({"messages": hello, "json_schema": {"type": "wrong"}}), 400, "invalid_value", "schema"),
        (json!({"messages": [{"role": "user", "content": "a\u{0}b"}]}), 400, "invalid_value", "null"),
        (json!({"messages": long}), 400, "context_length_exceeded", "512"),
        (json!({"messages": long, "stream": true}), 400, "context_length_exceeded", "512"),
    ] {
        let reply = server.post("/v1/chat/completions", &body).await;
        let error = reply.json()["error"].clone();
        assert_eq!(reply.status, status, "{body}: {error}");
        assert_eq!(error["code"], code, "{body}: {error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{body}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_ways_in_are_told_apart() {
    let server = Server::start(&["context=512"]).await;
    let reply = server.raw("POST", "/v1/chat/completions", b"{\"messages\": [", server.token()).await;
    assert_eq!(reply.status, 400);
    assert_eq!(server.raw("GET", "/nowhere", b"", server.token()).await.status, 404);
    assert_eq!(server.raw("GET", "/v1/score", b"", server.token()).await.status, 405);
    for token in ["", "wrong", &server.token()[1..]] {
        let reply = server.raw("GET", "/v1/models", b"", token).await;
        assert_eq!(reply.status, 401);
        assert_eq!(reply.json()["error"]["code"], "invalid_api_key");
    }
    let models = server.raw("GET", "/v1/models", b"", server.token()).await.json();
    assert_eq!(models["data"][0]["id"], "local");
    assert_eq!(models["data"][0]["meta"]["n_ctx"], 512);
}
