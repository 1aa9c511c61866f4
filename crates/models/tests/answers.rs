//! What goes out, and what comes back when all is well.

use crate::support;
use futures::StreamExt;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use steward_core::message::Message;
use steward_core::model::{ModelChunk, Provider, Usage};
use steward_core::policy::RiskClass;
use steward_core::tool::{CallSource, EffectClass, ToolCall, ToolSpec};
use steward_testkit::model_server::{Behaviour, Reply, Script, ScriptedModelServer};
use support::{KEY, ask, client, connection, request, text};

async fn server(script: Script) -> ScriptedModelServer {
    ScriptedModelServer::start(script).await.unwrap()
}

#[tokio::test]
async fn text_reasoning_and_usage() {
    for field in ["reasoning", "reasoning_content"] {
        let reply = Reply {
            reasoning: "I think ☕".to_owned(),
            reasoning_field: field.to_owned(),
            ..Reply::text("Grüße, Welt").pieces(2, 0)
        };
        let server = server(Script::always(Behaviour::Reply(reply))).await;
        let (chunks, error) = ask(&client(), &connection(&server.base_url()), &request("hi")).await;
        assert_eq!(error, None);
        assert_eq!(text(&chunks), "Grüße, Welt");
        let thought: String = chunks
            .iter()
            .filter_map(|chunk| match chunk {
                ModelChunk::Reasoning(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(thought, "I think ☕");
        let usage = Usage { prompt_tokens: 100, cached_tokens: 40, completion_tokens: 10, cost_micros: 0 };
        let end = ModelChunk::End { finish: "stop".to_owned(), usage, model: "scripted".to_owned() };
        assert_eq!(chunks.last(), Some(&end));
        assert_eq!(chunks.iter().filter(|c| matches!(c, ModelChunk::End { .. })).count(), 1);
    }
}

#[tokio::test]
async fn parallel_calls_in_split_arguments() {
    let calls = [("read", json!({"path": "a.txt"})), ("list", json!({"dir": "."}))];
    let Behaviour::Reply(reply) = Behaviour::calls(calls.clone()) else { unreachable!() };
    let server = server(Script::always(Behaviour::Reply(reply.pieces(3, 0)))).await;
    let (chunks, error) = ask(&client(), &connection(&server.base_url()), &request("hi")).await;
    assert_eq!(error, None);
    let mut found: BTreeMap<usize, (String, String, String)> = BTreeMap::new();
    for chunk in &chunks {
        if let ModelChunk::ToolCall { index, id, name, arguments } = chunk {
            let entry = found.entry(*index).or_default();
            entry.0.push_str(id.as_deref().unwrap_or_default());
            entry.1.push_str(name.as_deref().unwrap_or_default());
            entry.2.push_str(arguments);
        }
    }
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let (id, found_name, text) = &found[&index];
        assert!(id.starts_with("call_"), "{id}");
        assert_eq!(found_name, name);
        assert_eq!(&serde_json::from_str::<serde_json::Value>(text).unwrap(), arguments);
    }
    assert!(matches!(chunks.last(), Some(ModelChunk::End { finish, .. }) if finish == "tool_calls"));
}

#[tokio::test]
async fn a_reply_in_one_piece_is_as_good() {
    let body = json!({"model": "m", "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1}});
    let whole = Behaviour::Plain { content_type: "application/json".to_owned(), body: body.to_string() };
    let server = server(Script::always(whole)).await;
    let (chunks, error) = ask(&client(), &connection(&server.base_url()), &request("hi")).await;
    assert_eq!(error, None);
    assert_eq!(text(&chunks), "hello");
    assert!(matches!(&chunks[1], ModelChunk::End { model, .. } if model == "m"));
}

#[tokio::test]
async fn a_stream_that_never_says_done_ends_all_the_same() {
    let finish = json!({"choices": [{"delta": {"content": "hello"}, "finish_reason": "stop"}]});
    let server = server(Script::always(Behaviour::Raw { events: format!("data: {finish}") })).await;
    let (chunks, error) = ask(&client(), &connection(&server.base_url()), &request("hi")).await;
    assert_eq!((text(&chunks).as_str(), error), ("hello", None));
}

#[tokio::test]
async fn the_request_on_the_wire() {
    let server = server(Script::always(Behaviour::text("ok"))).await;
    let call = ToolCall {
        id: "c1".to_owned(),
        name: "read".to_owned(),
        arguments: json!({"path": "a"}),
        source: CallSource::Native,
        confidence: 1.0,
        signature: None,
    };
    let mut request = request("hi");
    request.messages.push(Message::assistant("").with_calls(vec![call]));
    request.messages.push(Message::tool("c1", "content of a"));
    request.tools.push(ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file.".to_owned(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: vec!["show me".to_owned()].into(),
        result_limit: 10,
        skill: None,
    });
    request.schema = Some(json!({"type": "object", "properties": {}, "additionalProperties": false}));
    request.seed = Some(u64::MAX);
    request.stop = vec!["END".to_owned()];
    let (_, error) = ask(&client(), &connection(&server.base_url()), &request).await;
    assert_eq!(error, None);
    server.assert_clean();
    let sent = &server.chats()[0];
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
    let body = &sent.body;
    assert_eq!(body["model"], "scripted");
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], "{\"path\":\"a\"}");
    assert_eq!(body["messages"][3], json!({"role": "tool", "tool_call_id": "c1", "content": "content of a"}));
    assert_eq!(body["tools"][0]["function"]["name"], "read");
    assert!(!body.to_string().contains("show me"), "utterances are never for a model");
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(body["temperature"].to_string(), "0.2");
    assert_eq!((&body["max_tokens"], &body["stop"]), (&json!(64), &json!(["END"])));
    assert!(body["seed"].as_i64().is_some());
    assert_eq!(body["stream_options"]["include_usage"], true);
}

#[tokio::test]
async fn schemas_in_each_dialect() {
    let server = server(Script::always(Behaviour::text("{}"))).await;
    let mut request = request("hi");
    request.schema = Some(json!({"type": "object"}));
    for (provider, limit, schema) in [
        (Provider::OpenAi, "max_completion_tokens", "/response_format/json_schema/schema"),
        (Provider::Ollama, "max_tokens", "/response_format/json_schema/schema"),
        (Provider::LlamaCpp, "max_tokens", "/json_schema"),
    ] {
        let mut connection = connection(&server.base_url());
        connection.provider = provider;
        let (_, error) = ask(&client(), &connection, &request).await;
        assert_eq!(error, None);
        let body = server.chats().pop().unwrap().body;
        assert_eq!(body[limit], 64, "{provider:?}");
        assert_eq!(body.pointer(schema), request.schema.as_ref(), "{provider:?}");
    }
    let mut plain = connection(&server.base_url());
    plain.capabilities.json_schema = false;
    ask(&client(), &plain, &request).await;
    let body = server.chats().pop().unwrap().body;
    assert!(body.get("response_format").is_none() && body.get("json_schema").is_none());
}

#[tokio::test]
async fn refused_fields_are_left_out_from_then_on() {
    let script = Script { refuse_stream_options: true, ..Script::always(Behaviour::text("ok")) };
    let server = server(script).await;
    let client = client();
    let connection = connection(&server.base_url());
    for requests in [2, 3] {
        let (chunks, error) = ask(&client, &connection, &request("hi")).await;
        assert_eq!((text(&chunks).as_str(), error), ("ok", None));
        assert_eq!(server.chats().len(), requests, "the refusal is paid for once");
    }
}

#[tokio::test]
async fn dropping_a_stream_closes_the_upstream() {
    let slow = Behaviour::Reply(Reply::text("abcdefghijklmnop").pieces(1, 200));
    let server = server(Script::always(slow)).await;
    let mut stream = client().stream(&connection(&server.base_url()), &request("hi")).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    assert_eq!(server.disconnects(), 0);
    drop(stream);
    assert!(server.wait_disconnects(1, Duration::from_mins(5)).await, "still open");
}

#[tokio::test]
async fn dropping_the_call_before_the_head_closes_it_too() {
    let server = server(Script::always(Behaviour::HangBeforeHeaders)).await;
    let client =
        steward_models::openai::Client::new(support::secrets(), None, steward_models::openai::Timeouts::default());
    let connection = connection(&server.base_url());
    let call = tokio::spawn(async move { client.stream(&connection, &request("hi")).await.err() });
    assert!(server.wait_requests(1, Duration::from_mins(5)).await);
    call.abort();
    assert!(server.wait_disconnects(1, Duration::from_mins(5)).await, "still open");
}

#[tokio::test]
async fn many_small_pieces_do_not_stall() {
    let reply = Reply::text("x".repeat(400)).pieces(1, 1);
    let server = server(Script::always(Behaviour::Reply(reply))).await;
    let started = std::time::Instant::now();
    let (chunks, error) = ask(&client(), &connection(&server.base_url()), &request("hi")).await;
    assert_eq!((chunks.len(), error), (401, None));
    // With Nagle's algorithm it would be 40 ms apiece: 16 s.
    assert!(started.elapsed() < Duration::from_secs(12), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_schema_that_is_refused_without_a_word_of_it_is_left_out() {
    let refusal = || Behaviour::Status {
        status: 400,
        body: json!({"error": {"message": "The request can't be processed.", "type": "invalid_request_error"}}),
        retry_after: None,
    };
    let server = server(Script::always(Behaviour::text("{}")).when_body("json_schema", "", refusal())).await;
    let (client, connection) = (client(), connection(&server.base_url()));
    let mut asked = request("hi");
    // Each schema costs one refusal, until it is plain that none is taken.
    for (title, requests) in [("a", 2), ("a", 3), ("b", 5), ("c", 7), ("d", 8)] {
        asked.schema = Some(json!({"type": "object", "title": title}));
        let (chunks, error) = ask(&client, &connection, &asked).await;
        assert_eq!((text(&chunks).as_str(), error), ("{}", None), "{title}");
        assert_eq!(server.chats().len(), requests, "{title}");
    }
    // Whoever asks for exactly that is told.
    asked.options.exact = true;
    let (_, error) = ask(&support::client(), &connection, &asked).await;
    assert!(error.unwrap().to_string().contains("can't be processed"));
    assert_eq!(server.chats().len(), 9);

    // A request that is wrong without its schema too: the first refusal is told.
    let broken = self::server(Script::of([refusal(), Behaviour::server_error(500)])).await;
    let connection = support::connection(&broken.base_url());
    let (_, error) = ask(&support::client(), &connection, &request_with_schema()).await;
    assert!(error.unwrap().to_string().contains("can't be processed"));
    assert_eq!(broken.chats().len(), 2);
}

fn request_with_schema() -> steward_core::model::ModelRequest {
    steward_core::model::ModelRequest { schema: Some(json!({"type": "object"})), ..request("hi") }
}
