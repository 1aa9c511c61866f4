//! What programs that speak OpenAI's dialect rely on, besides answers.

use crate::api_routes::house::{House, client};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

const PATHS: [&str; 2] = ["/v1/chat/completions", "/v1/responses"];

fn body(path: &str, text: &str) -> Value {
    if path == PATHS[0] {
        json!({"model": "steward", "messages": [{"role": "user", "content": text}]})
    } else {
        json!({"model": "steward", "input": text})
    }
}

/// Status, headers and answer.
fn post(house: &House, path: &str, key: Option<&str>, body: &Value) -> (u16, reqwest::header::HeaderMap, Value) {
    let mut request = client().post(format!("{}{path}", house.server.url)).bearer_auth(&house.server.key).json(body);
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    house.bench.runtime.block_on(async {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        (status, headers, response.json().await.unwrap())
    })
}

#[test]
fn a_providers_refusal_reaches_the_client_as_such() {
    for (status, code) in [(400, "invalid_value"), (401, "upstream_auth"), (404, "model_not_found")] {
        for path in PATHS {
            let refusal = json!({"error": {"message": "no", "type": "x", "code": code}});
            let house = House::new(Script::always(Behaviour::Status { status, body: refusal, retry_after: None }));
            for streamed in [false, true] {
                let mut asked = body(path, "Hi");
                asked["stream"] = json!(streamed);
                let (found, headers, answer) = post(&house, path, None, &asked);
                assert_eq!((found, &answer["error"]["code"]), (status, &json!(code)), "{path}: {answer}");
                assert_eq!(headers["x-should-retry"], "false");
            }
        }
    }
}

#[test]
fn the_same_request_with_the_same_key_is_one_run() {
    let house = House::new(Script::always(Behaviour::text("Once.")));
    for path in PATHS {
        let before = house.items("/api/runs").len();
        let asked = body(path, "Write it down");
        let (status, _, first) = post(&house, path, Some(path), &asked);
        assert_eq!(status, 200, "{first}");
        let (status, _, again) = post(&house, path, Some(path), &asked);
        assert_eq!((status, &again["id"]), (200, &first["id"]));
        assert_eq!(house.items("/api/runs").len(), before + 1);
        let (status, _, other) = post(&house, path, Some(path), &body(path, "Another"));
        assert_eq!((status, &other["error"]["code"]), (400, &json!("idempotency_mismatch")));
    }
}

#[test]
fn fields_that_an_agent_drops_are_refused_by_name() {
    let house = House::new(Script::always(Behaviour::text("No.")));
    let mut asked = body(PATHS[0], "Hi");
    asked["response_format"] = json!({"type": "json_object"});
    let (status, _, answer) = post(&house, PATHS[0], None, &asked);
    assert_eq!((status, &answer["error"]["param"]), (400, &json!("response_format")));
    let mut asked = body(PATHS[1], "Hi");
    asked["text"] = json!({"format": {"type": "json_schema", "name": "x", "schema": {}}});
    let (status, _, answer) = post(&house, PATHS[1], None, &asked);
    assert_eq!((status, &answer["error"]["param"]), (400, &json!("text")));
    assert_eq!(house.bench.model.chats().len(), 0);
}

#[test]
fn what_is_not_there_is_told_in_the_dialect() {
    let house = House::new(Script::default());
    for path in ["/v1/messages", "/v1/batches"] {
        let (status, answer) = house.call(Method::GET, path, None);
        assert_eq!((status, &answer["error"]["code"]), (404, &json!("unknown_url")), "{path}: {answer}");
    }
    assert_eq!(house.call(Method::GET, "/health", None).0, 404);
    let models = house.get("/v1/models");
    let names: Vec<&str> = models["data"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
    assert!(names.contains(&"all-MiniLM-L6-v2"), "{names:?}");
}
