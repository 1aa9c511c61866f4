//! The client against a server that misbehaves.

use super::{Chat, Client, Refused, ServeFile, Socket};
use crate::term::Term;
use futures::StreamExt;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use steward_core::event::Mode;
use steward_core::ports::{Clock, Ids};
use steward_core::{AgentId, ConversationId, RunId, Timestamp};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use uuid::Uuid;

const PID: u32 = 77;

/// Answers the n-th request that isn't a probe with the n-th text, and closes the connection.
struct Fake {
    data: TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    async fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let data = tempfile::tempdir().unwrap();
        let file = ServeFile {
            url: format!("http://{}", listener.local_addr().unwrap()),
            pid: PID,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            certificate: None,
        };
        let write = |name: &str, text: &str| std::fs::write(data.path().join(name), text).unwrap();
        write("serve.json", &serde_json::to_string(&file).unwrap());
        write("api-key", "sk-steward-1\n");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut answers = answers.into_iter();
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = head(&mut stream).await;
                let answer = if request.starts_with("GET /api/auth/status") {
                    let body = json!({"needs_setup": false, "version": env!("CARGO_PKG_VERSION")});
                    answer(200, "application/json", &body.to_string())
                } else {
                    heard.lock().unwrap().push(request.to_lowercase());
                    answers.next().unwrap_or_default()
                };
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { data, asked }
    }

    async fn client(&self) -> Client {
        let socket = Socket::connect(self.data.path(), PID, None).await;
        let Ok(socket) = socket.unwrap() else { panic!("the fake server answers") };
        let counter = Arc::new(Counter::default());
        Client::new(Box::new(socket), counter.clone(), counter, Term::detect(true))
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A clock that stands, and ids one after the other.
#[derive(Default)]
struct Counter(AtomicU64);

impl Clock for Counter {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn utc_offset_minutes(&self, _: Timestamp) -> i32 {
        0
    }
}

impl Ids for Counter {
    fn next(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::Relaxed)))
    }
}

async fn head(stream: &mut tokio::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn answer(status: u16, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn run() -> RunId {
    RunId(Uuid::from_u128(5))
}

/// A stream of these events, which then breaks off.
fn stream(seqs: &[u64]) -> String {
    let mut body = ": alive\n\n".to_owned();
    for seq in seqs {
        let mut event = json!({"run_id": run(), "seq": seq, "at": 9, "epoch": 1, "type": "run.resumed", "node": "x"});
        if *seq == 6 {
            event["type"] = json!("run.finished");
            event["outcome"] = json!({"status": "completed"});
            event["answer"] = json!("Done.");
            event["usage"] = json!({"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 1});
        }
        body.push_str("id: ");
        body.push_str(&seq.to_string());
        body.push_str("\nevent: x\ndata: ");
        body.push_str(&event.to_string());
        body.push_str("\n\n");
    }
    answer(200, "text/event-stream", &body)
}

#[tokio::test]
async fn broken_streams_leave_no_gap_and_no_repeat() {
    let problem = json!({"title": "starting", "hint": "wait"}).to_string();
    let fake = Fake::start(vec![
        stream(&[1, 2]),
        // Cut off in an event.
        stream(&[3, 4])[..].replace("\"seq\":4,", "\"seq"),
        // Too early, then too late.
        stream(&[2, 3, 4, 6]),
        String::new(),
        answer(503, "application/problem+json", &problem),
        stream(&[5, 6]),
    ])
    .await;
    let client = fake.client().await;
    let events: Vec<_> = client.events(run(), 0).collect().await;
    let seqs: Vec<u64> = events.iter().map(|event| event.as_ref().unwrap().seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
    let places: Vec<String> = fake
        .asked()
        .iter()
        .filter_map(|request| Some(request.split("last-event-id: ").nth(1)?.lines().next()?.to_owned()))
        .collect();
    assert_eq!(places, ["0", "2", "3", "4", "4", "4"]);
}

#[tokio::test]
async fn a_refused_stream_says_why_at_once() {
    let problem = json!({"title": "there is no such run", "hint": "list them"}).to_string();
    let fake = Fake::start(vec![answer(404, "application/problem+json", &problem)]).await;
    let events: Vec<_> = fake.client().await.events(run(), 0).collect().await;
    assert_eq!(events.len(), 1);
    let why = events[0].as_ref().unwrap_err();
    assert_eq!(why.to_string(), "there is no such run (list them)");
    assert_eq!(why.downcast_ref::<Refused>().unwrap().status, 404);
}

#[tokio::test]
async fn a_request_whose_answer_is_lost_is_sent_again_under_the_same_key() {
    let started = json!({"run_id": run(), "conversation_id": null}).to_string();
    let fake = Fake::start(vec![
        String::new(),
        answer(202, "application/json", &started),
        answer(200, "application/json", "{\"resumed\": true}"),
    ])
    .await;
    let client = fake.client().await;
    let chat = Chat {
        agent: AgentId(Uuid::from_u128(3)),
        message: "hello".to_owned(),
        conversation: Some(ConversationId(Uuid::from_u128(8))),
        mode: Mode::Loop,
        connection: None,
        planner: None,
        executor: None,
    };
    let begun = client.chat(&chat).await.unwrap();
    assert_eq!(begun.run, run());
    assert!(client.resume(run()).await.unwrap());
    let keys: Vec<String> = fake
        .asked()
        .iter()
        .map(|request| {
            assert!(request.contains("authorization: bearer sk-steward-1\r\n"), "{request}");
            assert!(request.contains("host: localhost\r\n"), "{request}");
            assert!(request.contains("x-steward-client: cli\r\n"), "{request}");
            let key = request.split("idempotency-key: ").nth(1).unwrap();
            key.lines().next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(keys.len(), 3);
    assert_eq!(keys[0], keys[1], "the same request");
    assert_ne!(keys[1], keys[2], "another request");
}

#[tokio::test]
async fn the_file_of_another_process_is_stale() {
    let fake = Fake::start(Vec::new()).await;
    let socket = Socket::connect(fake.data.path(), PID + 1, None).await;
    assert!(socket.unwrap().is_err());
    assert!(fake.asked().is_empty(), "it must not get the key");
}

#[test]
fn says_what_the_server_said() {
    let body = r#"{"type": "about:blank", "title": "no such run", "status": 404, "hint": "list them", "code": "x"}"#;
    let refused = super::Refused::read(404, body);
    assert_eq!(refused.to_string(), "no such run (list them)");
    assert_eq!(refused.code.as_deref(), Some("x"));
    let other = super::Refused::read(502, "<html>");
    assert_eq!(other.to_string(), "the server answered 502 (<html>)");
}
