//! What is sent, as snapshots: one request with everything in it for each wire.

use crate::support::{ask, client, request};
use crate::wires::events;
use crate::wires::server::{Answer, Seen, Server};
use crate::wires::table::{CASES, Case};
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::message::Message;
use steward_core::model::{Auth, ModelChunk, ModelRequest, Provider, Wire};
use steward_core::policy::RiskClass;
use steward_core::tool::{CallSource, EffectClass, ToolCall, ToolSpec};

fn call(id: &str, place: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "get_weather".to_owned(),
        arguments: json!({"location": place}),
        source: CallSource::Native,
        confidence: 1.0,
        signature: None,
    }
}

pub fn weather() -> ToolSpec {
    ToolSpec {
        name: "get_weather".to_owned(),
        description: "The weather at a place.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"location": {"type": "string"}},
            "required": ["location"],
        })
        .into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill: None,
    }
}

/// A run in its second step: two calls and their results.
fn full() -> ModelRequest {
    let calls = vec![call("call_1", "San Francisco, CA"), call("call_2", "Paris")];
    ModelRequest {
        messages: vec![
            Message::system("Be brief."),
            Message::user("What is the weather in San Francisco and Paris?"),
            Message::assistant("I look.").with_calls(calls),
            Message::tool("call_1", "15 °C"),
            Message::tool("call_2", "9 °C"),
        ],
        tools: vec![weather()],
        stop: vec!["Observation:".to_owned()],
        seed: Some(7),
        ..request("")
    }
}

async fn sent(case: &Case, request: &ModelRequest) -> Seen {
    let server = Server::always(events::answer(&case.shape("text"))).await;
    let (_, error) = ask(&client(), &case.connection(&server), request).await;
    assert_eq!(error, None, "{}", case.name);
    server.last()
}

fn shown(seen: &Seen) -> Value {
    let kept = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "anthropic-version"];
    let headers: Vec<String> = kept.iter().filter_map(|name| Some(format!("{name}: {}", seen.header(name)?))).collect();
    json!({"request": format!("{} {}", seen.method, seen.target), "headers": headers, "body": seen.body})
}

#[tokio::test]
async fn a_step_with_tools() {
    for case in &CASES {
        let seen = sent(case, &full()).await;
        assert_eq!(seen.header("content-type"), Some("application/json"));
        insta::assert_json_snapshot!(format!("step_{}", case.name), shown(&seen));
    }
}

#[tokio::test]
async fn output_under_a_schema() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let mut asked = full();
    // A history with calls, but no tools now.
    asked.tools.clear();
    asked.stop.clear();
    asked.schema = Some(schema);
    for case in &CASES {
        let seen = sent(case, &asked).await;
        let body: Value = seen
            .body
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| {
                let constant = ["model", "stream", "stream_options", "max_tokens", "temperature"];
                !constant.contains(&name.as_str())
            })
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        insta::assert_json_snapshot!(format!("schema_{}", case.name), body);
    }
}

#[tokio::test]
async fn a_temperature_that_is_refused_is_left_out_from_then_on() {
    for name in ["anthropic", "responses", "bedrock"] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let good = events::answer(&case.shape("text"));
        let server = Server::start(move |seen| {
            let text = seen.body.to_string();
            if !text.contains("\"temperature\"") {
                return Some(good.clone());
            }
            let words = "`temperature` is not supported with this model";
            Some(Answer::status(400, &json!({"error": {"message": words}})))
        })
        .await;
        let (client, connection) = (client(), case.connection(&server));
        for _ in 0..2 {
            let (_, error) = ask(&client, &connection, &request("hi")).await;
            assert_eq!(error, None, "{name}");
        }
        assert_eq!(server.seen().len(), 3, "{name}");
    }
}

#[tokio::test]
async fn the_five_kinds_of_auth() {
    let variable = || "WORK_KEY".to_owned();
    let case = CASES[0];
    for (auth, header, value) in [
        (Auth::None, "authorization", None),
        (Auth::BearerEnv { variable: variable() }, "authorization", Some("Bearer sk-test-0123456789abcdef")),
        (Auth::ApiKeyEnv { variable: variable() }, "x-api-key", Some("sk-test-0123456789abcdef")),
        (
            Auth::BasicEnv { user: "me".to_owned(), variable: variable() },
            "authorization",
            Some("Basic bWU6c2stdGVzdC0wMTIzNDU2Nzg5YWJjZGVm"),
        ),
        (
            Auth::HeaderEnv { header: "X-Portal".to_owned(), variable: variable() },
            "x-portal",
            Some("sk-test-0123456789abcdef"),
        ),
    ] {
        let echo = json!({"error": {"message": format!("bad {}", value.unwrap_or_default())}});
        let server = Server::always(Answer::status(401, &echo)).await;
        let mut connection = case.connection(&server);
        connection.provider = Provider::Compatible;
        connection.auth = auth.clone();
        let (_, error) = ask(&client(), &connection, &request("hi")).await;
        let seen = server.seen().remove(0);
        assert_eq!(seen.header(header), value, "{auth:?}");
        let told = format!("{error:?}");
        for secret in ["sk-test-0123456789abcdef", "bWU6c2stdGVzdC0wMTIz"] {
            assert!(!told.contains(secret), "{auth:?}: {told}");
        }
    }
}

#[tokio::test]
async fn the_dialect_is_spoken_with_others_where_it_is_asked_for() {
    for name in ["anthropic", "gemini", "cohere", "bedrock"] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let server = Server::always(events::answer("openai/text.sse")).await;
        let mut connection = case.connection(&server);
        connection.wire = Some(Wire::Chat);
        let (_, error) = ask(&client(), &connection, &request("hi")).await;
        assert_eq!(error, None, "{name}");
        let target = server.last().target;
        assert!(target.ends_with("/chat/completions"), "{name}: {target}");
    }
}

#[tokio::test]
async fn geminis_signature_goes_back_with_its_call() {
    let case = CASES.iter().find(|case| case.name == "gemini").unwrap();
    let server = Server::always(events::answer("gemini/tools.sse")).await;
    let (chunks, _) = ask(&client(), &case.connection(&server), &request("hi")).await;
    let signed: Vec<_> = chunks
        .iter()
        .filter_map(|chunk| match chunk {
            ModelChunk::Signature { index, signature } => Some((*index, signature.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(signed, [(0, "CtIBAVSoXO6xd6ZD")]);
    let mut next = full();
    next.messages[2].tool_calls[0].signature = Some(signed[0].1.to_owned());
    let parts = sent(case, &next).await.body["contents"][1]["parts"].clone();
    assert_eq!(parts[1]["thoughtSignature"], "CtIBAVSoXO6xd6ZD", "{parts}");
    assert_eq!(parts[2]["thoughtSignature"], Value::Null, "{parts}");
}

#[tokio::test]
async fn bedrock_is_asked_with_a_signature_of_the_request() {
    let case = CASES.iter().find(|case| case.name == "bedrock").unwrap();
    let server = Server::always(events::answer(&case.shape("text"))).await;
    let mut connection = case.connection(&server);
    connection.auth = Auth::Aws { region: "eu-central-1".to_owned() };
    let field = |name: &str, value: &str| (name.to_owned(), value.into());
    let key = [
        field("access_key_id", "AKIDEXAMPLE"),
        field("key", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        field("session_token", "passing-token"),
    ];
    let client = client().with_key(key.into());
    let (_, error) = ask(&client, &connection, &request("hi")).await;
    assert_eq!(error, None);
    let seen = server.last();
    let signed = seen.header("authorization").unwrap();
    // Without a clock it is 1970.
    let begin = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/19700101/eu-central-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
    assert!(signed.starts_with(begin), "{signed}");
    assert_eq!(seen.header("x-amz-security-token"), Some("passing-token"));

    let (_, error) = ask(&crate::support::client(), &connection, &request("hi")).await;
    let error = error.unwrap();
    assert!(error.message.contains("no key was typed"), "{error}");
    assert!(error.hint.contains("steward connections key"), "{error}");
}
