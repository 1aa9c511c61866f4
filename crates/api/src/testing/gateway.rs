//! `/v1` as a gateway, over a scripted one.

mod fake;

use super::{Answer, Bed, bearer, bed, read, with_parts};
use crate::router::router;
use axum::body::Body;
use axum::http::{Request, header};
use bytes::Bytes;
pub(super) use fake::Fake;
use fake::{Pieces, id};
use futures::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use steward_app::UsageWriter;
use steward_core::model::{ModelErrorClass, Usage};
use steward_core::ports::{Passage, SpentRecord};
use tower::ServiceExt;

struct House {
    bed: Bed,
    fake: Arc<Fake>,
    bearer: String,
}

impl House {
    async fn new(fake: Fake) -> Self {
        let mut bed = bed().await;
        let fake = Arc::new(fake);
        bed.state = with_parts(&bed, |parts| {
            parts.gateway = fake.clone();
            parts.connections = fake.clone();
            parts.usage_writer = Arc::new(UsageWriter::new(fake.clone(), Arc::default()));
        });
        bed.router = router(bed.state.clone());
        let bearer = bearer(&bed.admin().await);
        Self { bed, fake, bearer }
    }

    async fn post(&self, path: &str, body: &str) -> Answer {
        let kind = "content-type: application/json";
        let line = format!("POST {path}");
        self.bed.send(&line, &[kind, &self.bearer], body).await
    }

    async fn settled(&self) -> Vec<SpentRecord> {
        self.bed.app().usage_writer.flush().await;
        self.fake.settled.lock().unwrap().clone()
    }
}

const CHAT: &str = "/v1/chat/completions";
const ASK: &str = r#"{ "model":"connection/one", "x":[1,2.50],"messages":[],"stream":true,"max_tokens":10 }"#;

fn events(pieces: Pieces) -> Fake {
    Fake { status: 200, kind: "text/event-stream", pieces, ..Fake::default() }
}

#[tokio::test]
async fn bytes_go_through_unchanged_and_are_settled() {
    let text = "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}";
    let house =
        House::new(Fake { status: 200, kind: "application/json", pieces: vec![Ok(text)], ..Fake::default() }).await;
    let ask = ASK.replace("true", "false");
    let answer = house.post(CHAT, &ask).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, text));
    assert_eq!(answer.header("x-steward-connection"), "one");
    assert_eq!(answer.header("x-steward-attempts"), "1");
    assert_eq!(answer.header("x-request-id"), "r-1");
    let asked = house.fake.asked.lock().unwrap().clone();
    assert_eq!(asked[0], (vec![id(1)], Passage::ChatCompletions, Bytes::from(ask.clone())));
    let reserved = house.fake.reserved.lock().unwrap().clone();
    let prompt = ask.len().div_ceil(3) as u64;
    assert_eq!(reserved[0].1, prompt + 10);
    assert_eq!(reserved[0].2, prompt + 20, "by price");
    let settled = house.settled().await;
    assert_eq!(settled.len(), 1);
    assert_eq!(settled[0].usage, Usage { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 0, cost_micros: 13 });
    assert_eq!(settled[0].spender.connection, Some(id(1)));
    assert_eq!(settled[0].model, "model-one");
    assert!(!settled[0].failed);
}

#[tokio::test]
async fn other_connections_are_named_by_a_header() {
    let house = House::new(events(vec![Ok("data: [DONE]\n\n")])).await;
    let kind = "content-type: application/json";
    let line = format!("POST {CHAT}");
    let fallback = "x-steward-fallback: two, connection/one ,";
    let answer = house.bed.send(&line, &[kind, &house.bearer, fallback], ASK).await;
    assert_eq!(answer.status, 200);
    assert_eq!(house.fake.asked.lock().unwrap()[0].0, [id(1), id(2)]);
    let wrong = "x-steward-fallback: three";
    let answer = house.bed.send(&line, &[kind, &house.bearer, wrong], ASK).await;
    assert_eq!(answer.status, 404);
    assert!(answer.text.contains("there are: connection/one, connection/two, connection/claude"), "{}", answer.text);
}

#[tokio::test]
async fn a_fallback_whose_budget_is_used_up_is_passed_over() {
    let kind = "content-type: application/json";
    let line = format!("POST {CHAT}");
    for (closed, asked) in [(1, 2), (2, 1)] {
        let house = House::new(Fake { closed: vec![id(closed)], ..events(vec![Ok("data: [DONE]\n\n")]) }).await;
        let fallback = "x-steward-fallback: two";
        let answer = house.bed.send(&line, &[kind, &house.bearer, fallback], ASK).await;
        assert_eq!(answer.status, 200);
        assert_eq!(house.fake.asked.lock().unwrap()[0].0, [id(asked)]);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_ends_with_an_error_event() {
    let pieces = vec![
        Ok("data: {\"choices\":[{\"delta\":{\"content\":\"four\"}}]}\n\ndata: {\"cho"),
        Ok("ices\":[]}\n\ndata: {\"half"),
        Err(ModelErrorClass::Broken),
    ];
    let house = House::new(events(pieces)).await;
    let answer = house.post(CHAT, ASK).await;
    assert_eq!(answer.status, 200);
    let list: Vec<&str> = answer.text.split("\n\n").filter(|one| !one.is_empty()).collect();
    assert_eq!(list.len(), 3, "{}", answer.text);
    assert_eq!(list[1], "data: {\"choices\":[]}");
    let error: Value = serde_json::from_str(list[2].strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "upstream_broken");
    let settled = house.settled().await;
    assert!(settled[0].failed);
    assert_eq!(settled[0].usage.completion_tokens, 1, "guessed from what came");
}

#[tokio::test]
async fn a_client_that_leaves_closes_the_call_and_pays_for_what_came() {
    let mut fake = events(vec![Ok("data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"}}]}\n\n")]);
    fake.hangs = true;
    let house = House::new(fake).await;
    let (name, value) = house.bearer.split_once(": ").unwrap();
    let request = || {
        Request::post(CHAT)
            .header(header::HOST, "localhost:8800")
            .header(header::CONTENT_TYPE, "application/json")
            .header(name, value)
            .body(Body::from(ASK))
            .unwrap()
    };
    let response = house.bed.router.clone().oneshot(request()).await.unwrap();
    let mut body = response.into_body().into_data_stream();
    assert!(body.next().await.unwrap().is_ok());
    drop(body);
    let settled = house.settled().await;
    assert_eq!((settled.len(), settled[0].usage.completion_tokens), (1, 2));

    // The same when the program stops, with a word about it.
    let response = house.bed.router.clone().oneshot(request()).await.unwrap();
    let reading = tokio::spawn(read(response));
    tokio::task::yield_now().await;
    house.bed.app().usage_writer.close().await;
    let answer = reading.await.unwrap();
    assert!(answer.text.contains("\"stopping\""), "{}", answer.text);
    assert_eq!(house.settled().await.len(), 2);
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_pays_for_what_may_have_been_made() {
    // Nothing at all has come, or the beginning of a document that is made as a whole.
    let begun = Fake { status: 200, kind: "application/json", pieces: vec![Ok("{")], hangs: true, ..Fake::default() };
    for fake in [Fake { mute: true, ..Fake::default() }, begun] {
        let house = House::new(fake).await;
        let ask = ASK.replace("true", "false");
        for (ms, tokens) in [(100, 5), (10_000, 10)] {
            let (router, bearer) = (house.bed.router.clone(), house.bearer.clone());
            let (name, value) = bearer.split_once(": ").unwrap();
            let request = Request::post(CHAT)
                .header(header::HOST, "localhost:8800")
                .header(header::CONTENT_TYPE, "application/json")
                .header(name, value)
                .body(Body::from(ask.clone()))
                .unwrap();
            let before = house.fake.asked.lock().unwrap().len();
            let client = tokio::spawn(async move { read(router.oneshot(request).await.unwrap()).await });
            while house.fake.asked.lock().unwrap().len() == before {
                tokio::task::yield_now().await;
            }
            house.bed.clock.advance(Duration::from_millis(ms));
            client.abort();
            let _left = client.await;
            let settled = house.settled().await;
            let usage = settled.last().unwrap().usage;
            let prompt = ask.len().div_ceil(4) as u64;
            assert_eq!((usage.prompt_tokens, usage.completion_tokens), (prompt, tokens), "at most what was asked for");
            assert_eq!(usage.cost_micros, prompt + 2 * tokens);
        }
        assert_eq!(house.settled().await.len(), 2);
    }
}

#[tokio::test]
async fn errors_are_in_the_shape_of_openai() {
    let cases = [
        (ModelErrorClass::RateLimit, 429, "rate_limit_exceeded"),
        (ModelErrorClass::Auth, 401, "upstream_auth"),
        (ModelErrorClass::Connect, 503, "upstream_unreachable"),
        (ModelErrorClass::Timeout, 504, "upstream_timeout"),
        (ModelErrorClass::ContextLength, 400, "context_length_exceeded"),
    ];
    for (class, status, code) in cases {
        let house = House::new(events(vec![Err(class)])).await;
        let answer = house.post(CHAT, ASK).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)));
        assert_eq!(answer.header("retry-after"), "2");
        assert_eq!(answer.header("x-steward-attempts"), "1");
        let settled = house.settled().await;
        assert!(settled[0].failed);
        assert_eq!(settled[0].usage, Usage::default());
    }
}

#[tokio::test]
async fn a_used_up_budget_is_told_and_nothing_is_asked() {
    let mut fake = events(vec![Ok("data: [DONE]\n\n")]);
    fake.full = true;
    let house = House::new(fake).await;
    let answer = house.post(CHAT, ASK).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.json()["error"]["type"], "insufficient_quota");
    assert!(answer.text.contains("steward budget list"), "{}", answer.text);
    assert_eq!(answer.header("retry-after"), "60");
    assert!(house.fake.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn bad_requests_are_refused_with_a_word_on_what_to_do() {
    let house = House::new(events(vec![Ok("data: [DONE]\n\n")])).await;
    let cases = [
        (CHAT, "", 400, "not a JSON object"),
        (CHAT, "[]", 400, "not a JSON object"),
        (CHAT, "{}", 400, "no field `model`"),
        (CHAT, r#"{"model":7}"#, 400, "no field `model`"),
        (CHAT, r#"{"model":"connection/one","model":"connection/two"}"#, 400, "more than once"),
        (CHAT, r#"{"model":"connection/nobody"}"#, 404, "there are: connection/one, connection/two, connection/claude"),
        (CHAT, r#"{"model":"connection/"}"#, 404, "there are: connection/one, connection/two, connection/claude"),
        (CHAT, r#"{"model":"connection/claude","messages":[],"n":2}"#, 400, "`n`"),
        ("/v1/completions", r#"{"model":"steward"}"#, 400, "connection/<name>"),
        ("/v1/embeddings", r#"{"model":"other","input":"x"}"#, 404, "there is `nothing`"),
        ("/v1/embeddings", r#"{"model":"nothing","input":[1,2]}"#, 400, "token numbers"),
        ("/v1/embeddings", r#"{"model":"nothing","input":[]}"#, 400, "1 to 2048"),
        ("/v1/embeddings", r#"{"model":"nothing","input":"x","encoding_format":"int8"}"#, 400, "`base64`"),
        ("/v1/embeddings", r#"{"model":"nothing","input":"x","dimensions":7}"#, 400, "`dimensions`"),
    ];
    for (path, body, status, part) in cases {
        let answer = house.post(path, body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(part), "{body}: {message}");
    }
    let plain = ["content-type: text/plain", &house.bearer];
    let line = format!("POST {CHAT}");
    assert_eq!(house.bed.send(&line, &plain, ASK).await.status, 400);
    let nobody = ["content-type: application/json"];
    assert_eq!(house.bed.send(&line, &nobody, ASK).await.status, 401);
    assert!(house.fake.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn confidential_texts_go_to_connections_in_the_house_only() {
    let house = House::new(events(vec![Ok("data: [DONE]\n\n")])).await;
    let ask = |connection: &str, text: &str| {
        json!({"model": format!("connection/{connection}"), "messages": [{"role": "user", "content": text}]})
            .to_string()
    };
    let (plain, secret) = ("How are you?", "Sum up:\nCONFIDENTIAL\nAnn gets 93000.");
    assert_eq!(house.post(CHAT, &ask("two", secret)).await.status, 200, "nothing is labelled yet");
    let rules = json!({"version": 0,
        "labels": [{"name": "people", "classification": "confidential", "marks": ["CONFIDENTIAL"]},
            {"name": "accounts", "classification": "restricted", "personal": ["iban"]}],
        "policies": [{"name": "stays here", "from": "confidential", "action": "local_only"},
            {"name": "nobody", "from": "restricted", "action": "block"}]});
    let kept = house.bed.json("PUT /api/data-governance/policies", &[&house.bearer], &rules).await;
    assert_eq!(kept.status, 200, "{}", kept.text);
    let account = "Pay to DE89 3704 0044 0532 0130 00";
    for (connection, text, policy) in [
        ("two", plain, None),
        ("one", secret, None),
        ("two", secret, Some("stays here")),
        ("one", account, Some("nobody")),
    ] {
        let before = house.fake.asked.lock().unwrap().len();
        let answer = house.post(CHAT, &ask(connection, text)).await;
        let asked = house.fake.asked.lock().unwrap().len() - before;
        let Some(policy) = policy else {
            assert_eq!((answer.status, asked), (200, 1), "{}", answer.text);
            continue;
        };
        assert_eq!((answer.status, asked), (403, 0), "{}", answer.text);
        assert_eq!(answer.json()["error"]["code"], "blocked_by_policy");
        assert!(answer.text.contains(policy), "{}", answer.text);
    }
    // The next one in the house is asked instead.
    let line = format!("POST {CHAT}");
    let headers = ["content-type: application/json", &house.bearer, "x-steward-fallback: one"];
    assert_eq!(house.bed.send(&line, &headers, &ask("two", secret)).await.status, 200);
    assert_eq!(house.fake.asked.lock().unwrap().last().unwrap().0, [id(1)]);
    let trail = house.bed.send("GET /api/audit?action=data", &[&house.bearer], "").await.json();
    let found: Vec<&str> =
        trail["items"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!(found, ["data.routed", "data.blocked", "data.blocked"], "{trail}");
}

/// Long contexts and pictures are longer than what `/api` takes.
#[tokio::test]
async fn long_bodies_go_through() {
    let house = House::new(events(vec![Ok("data: [DONE]\n\n")])).await;
    let body = |size: usize| format!(r#"{{"model":"connection/one","x":"{}"}}"#, "x".repeat(size));
    assert_eq!(house.post(CHAT, &body(5 << 20)).await.status, 200);
    assert_eq!(house.post(CHAT, &body(33 << 20)).await.status, 413);
}
