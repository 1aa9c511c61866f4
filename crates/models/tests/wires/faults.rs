use crate::support::{KEY, ask, client, request, text};
use crate::wires::events;
use crate::wires::server::{Answer, Server};
use crate::wires::table::CASES;
use futures::StreamExt;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use steward_core::model::{ModelChunk, ModelErrorClass};

#[derive(Debug, Deserialize)]
struct Refusal {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Value,
    class: ModelErrorClass,
    retry_after_ms: Option<u64>,
}

#[tokio::test]
async fn refusals_of_every_provider() {
    let mut tested = 0;
    for case in CASES {
        let refusals = serde_json::from_value(events::json(&format!("{}/errors.json", case.name)));
        let refusals: Vec<Refusal> = refusals.unwrap();
        for refusal in refusals {
            tested += 1;
            // A provider that repeats the key must not get it into an error.
            let mut body = refusal.body.clone();
            if let Some(object) = body.as_object_mut() {
                object.insert("echo".to_owned(), KEY.into());
            }
            let mut answer = Answer::status(refusal.status, &body);
            answer.headers.extend(refusal.headers.clone());
            let server = Server::start(move |seen| (seen.method == "POST").then(|| answer.clone())).await;
            let connection = case.connection(&server);
            let (chunks, error) = ask(&client(), &connection, &request("hi")).await;
            let error = error.unwrap();
            let shown = format!("{}: {refusal:?} became {error:?}", case.name);
            assert!(chunks.is_empty(), "{shown}");
            assert_eq!(error.class, refusal.class, "{shown}");
            assert_eq!(error.retry_after_ms, refusal.retry_after_ms, "{shown}");
            assert!(error.message.contains("connection `work`"), "{shown}");
            assert!(!error.hint.is_empty() && error.detail.is_some(), "{shown}");
            assert!(!format!("{error:?}").contains(KEY), "{shown}");
            let words = refusal.body.pointer("/error/message");
            if let Some(words) = words.and_then(Value::as_str) {
                let begin: String = words.chars().take(20).collect();
                assert!(error.message.contains(&begin), "{shown}");
            }
        }
    }
    assert!(tested > 80, "{tested}");
}

#[tokio::test]
async fn errors_in_the_middle_of_a_stream() {
    for case in CASES {
        let expect = match case.name {
            "text_gen" => ModelErrorClass::Broken,
            "bedrock" => ModelErrorClass::RateLimit,
            _ => ModelErrorClass::Server,
        };
        let server = Server::always(events::answer(&case.shape("fault"))).await;
        let (chunks, error) = ask(&client(), &case.connection(&server), &request("hi")).await;
        let error = error.unwrap();
        assert_eq!(text(&chunks), "Hel", "{}: {error:?}", case.name);
        assert_eq!(error.class, expect, "{}: {error:?}", case.name);
        let ended = chunks.iter().any(|c| matches!(c, ModelChunk::End { .. }));
        assert!(!ended, "{}", case.name);
    }
    let server = Server::always(events::answer("responses/fault_event.sse")).await;
    let responses = CASES.iter().find(|case| case.name == "responses").unwrap();
    let (_, error) = ask(&client(), &responses.connection(&server), &request("hi")).await;
    assert_eq!(error.unwrap().class, ModelErrorClass::RateLimit);
}

#[tokio::test]
async fn a_stream_that_is_cut_off_is_never_taken_for_whole() {
    for case in CASES {
        let whole = events::answer(&case.shape("text"));
        for cut in [1, whole.body.len() / 3, whole.body.len() / 2] {
            let mut answer = whole.clone();
            answer.body.truncate(cut);
            let server = Server::always(answer).await;
            let (_, error) = ask(&client(), &case.connection(&server), &request("hi")).await;
            let error = error.unwrap_or_else(|| panic!("{} cut at {cut}", case.name));
            assert_eq!(error.class, ModelErrorClass::Broken, "{}: {error:?}", case.name);
        }
    }
}

#[tokio::test]
async fn what_is_no_stream_is_told() {
    for case in CASES {
        let page = Answer::ok("text/html", "<h1>Welcome</h1>");
        let odd = Answer::ok("text/event-stream", "<h1>Welcome to this page</h1>");
        let other = Answer::json(&serde_json::json!({"hello": 1}));
        for answer in [page, odd, other] {
            let server = Server::always(answer.clone()).await;
            let (_, error) = ask(&client(), &case.connection(&server), &request("hi")).await;
            let error = error.unwrap();
            assert_eq!(error.class, ModelErrorClass::Broken, "{}: {error:?}", case.name);
        }
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_request() {
    for case in CASES {
        let mut answer = events::answer(&case.shape("text"));
        answer.body.truncate(answer.body.len() * 2 / 3);
        answer.hangs = true;
        let mut server = Server::always(answer).await;
        let connection = case.connection(&server);
        let client = client();
        let mut stream = client.stream(&connection, &request("hi")).await.unwrap();
        let first = stream.next().await.unwrap();
        assert!(first.is_ok(), "{}: {first:?}", case.name);
        drop(stream);
        server.ended().await;
    }
}
