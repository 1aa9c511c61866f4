use crate::support::{ask, client, request, text};
use crate::wires::events;
use crate::wires::server::Server;
use crate::wires::table::{CASES, Case};
use serde_json::{Value, json};
use steward_core::model::{ModelChunk, ModelErrorClass};

/// What the chunks come to.
fn sum(chunks: &[ModelChunk]) -> Value {
    let mut reasoning = String::new();
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let mut end = Value::Null;
    for chunk in chunks {
        match chunk {
            ModelChunk::Text(_) | ModelChunk::Signature { .. } => {}
            ModelChunk::Reasoning(piece) => reasoning.push_str(piece),
            ModelChunk::ToolCall { index, id, name, arguments } => {
                if *index == calls.len() {
                    calls.push(<_>::default());
                }
                let call = &mut calls[*index];
                call.0.push_str(id.as_deref().unwrap_or_default());
                call.1.push_str(name.as_deref().unwrap_or_default());
                call.2.push_str(arguments);
            }
            ModelChunk::End { finish, usage, model } => {
                end = json!({"finish": finish, "model": model, "usage": [
                    usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens,
                ]});
            }
        }
    }
    let calls: Vec<Value> = calls
        .iter()
        .map(|(id, name, arguments)| {
            let arguments: Value = serde_json::from_str(arguments).expect(arguments);
            json!({"id": id, "name": name, "arguments": arguments})
        })
        .collect();
    json!({"text": text(chunks), "reasoning": reasoning, "calls": calls, "end": end})
}

async fn run(case: &Case, shape: &str) -> Value {
    let server = Server::always(events::answer(shape)).await;
    let (chunks, error) = ask(&client(), &case.connection(&server), &request("hi")).await;
    assert_eq!(error, None, "{shape}");
    sum(&chunks)
}

#[tokio::test]
async fn plain_text() {
    for case in &CASES {
        let told = if case.told.is_empty() { case.model } else { case.told };
        let expect = json!({
            "text": "Grüße, wörld ☕!",
            "reasoning": case.reasoning,
            "calls": [],
            "end": {
                "finish": "stop",
                "model": told,
                "usage": [case.usage.0, case.usage.1, case.usage.2],
            },
        });
        assert_eq!(run(case, &case.shape("text")).await, expect, "{}", case.name);
    }
}

#[tokio::test]
async fn tool_calls() {
    let mut tested = 0;
    for case in &CASES {
        let shape = case.shape("tools");
        if !events::exists(&shape) {
            continue;
        }
        tested += 1;
        let got = run(case, &shape).await;
        assert_eq!(got["end"]["finish"], "tool_calls", "{shape}");
        let calls = got["calls"].as_array().unwrap();
        assert_eq!(calls.len(), 2, "{shape}: {got}");
        for (call, place) in calls.iter().zip(["San Francisco, CA", "Paris"]) {
            assert_eq!(call["name"], "get_weather", "{shape}");
            assert_eq!(call["arguments"], json!({"location": place}), "{shape}");
        }
        insta::assert_json_snapshot!(format!("tools_{}", case.name), got);
    }
    assert_eq!(tested, 12, "a shape is missing");
}

#[tokio::test]
async fn output_under_a_schema_that_goes_by_a_tool_is_text() {
    for case in CASES {
        let shape = case.shape("schema");
        if events::exists(&shape) {
            let got = run(&case, &shape).await;
            assert_eq!(got["text"], "{\"city\": \"Paris\"}", "{shape}");
            assert_eq!(got["end"]["finish"], "stop", "{shape}");
            assert_eq!(got["calls"], json!([]), "{shape}");
        }
    }
}

#[tokio::test]
async fn ends_that_are_not_the_usual_one() {
    let responses = CASES.iter().find(|case| case.name == "responses").unwrap();
    let got = run(responses, "responses/incomplete.sse").await;
    assert_eq!(got["text"], "Hel");
    assert_eq!(got["end"]["finish"], "length");
    let got = run(responses, "responses/whole.json").await;
    assert_eq!(got["text"], "Grüße, wörld ☕!");
    assert_eq!(got["calls"][0]["arguments"]["location"], "San Francisco, CA");
    assert_eq!(got["end"]["usage"], json!([2071, 2048, 11]));

    let gemini = CASES.iter().find(|case| case.name == "gemini").unwrap();
    let server = Server::always(events::answer("gemini/blocked.sse")).await;
    let (_, error) = ask(&client(), &gemini.connection(&server), &request("hi")).await;
    let error = error.unwrap();
    assert_eq!(error.class, ModelErrorClass::BadRequest, "{error:?}");
    assert!(error.hint.contains("filter"), "{error:?}");
}
