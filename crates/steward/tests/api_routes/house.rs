//! A server, and how to talk to it.

use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use steward_core::ports::{Conversation, User, Users};
use steward_core::{AgentId, ConversationId, TenantId, Timestamp, UserId, hash};
use steward_infra::FileBlobs;
use steward_store::{Store, StoreConfig};
use steward_testkit::model_server::Script;
use uuid::Uuid;

/// Longest wait for a run.
const PATIENCE: Duration = Duration::from_mins(5);

pub struct House {
    pub bench: Bench,
    pub server: Server,
}

/// The key of one of [`House::with_people`].
pub fn key(name: &str) -> String {
    format!("sk-steward-{name}-for-tests")
}

impl House {
    pub fn new(script: Script) -> Self {
        let bench = Bench::new(script);
        let server = Server::start(&bench);
        Self { bench, server }
    }

    /// With users of these names and roles before the server starts.
    pub fn with_people(script: Script, people: &[(&str, &str)]) -> Self {
        Self::prepared(script, people, None)
    }

    /// The same, with a conversation of nobody: a talk of the command line without a server.
    pub fn with_talk_of_nobody(script: Script, people: &[(&str, &str)]) -> Self {
        Self::prepared(script, people, Some(ConversationId(Uuid::from_u128(77))))
    }

    fn prepared(script: Script, people: &[(&str, &str)], talk: Option<ConversationId>) -> Self {
        let bench = Bench::new(script);
        std::fs::create_dir_all(bench.data()).unwrap();
        bench.runtime.block_on(async {
            let blobs = Arc::new(FileBlobs::new(&bench.data()));
            let store = Store::open(StoreConfig::sqlite(bench.data()), blobs).await.unwrap();
            for (index, (name, role)) in people.iter().enumerate() {
                let id = UserId(Uuid::from_u128(100 + index as u128));
                let role = serde_json::from_value((*role).into()).unwrap();
                let user = User {
                    api_key_hash: Some(hash::sha256(key(name).as_bytes())),
                    ..User::new(id, format!("{name}@example.org"), *name, role, Timestamp(0))
                };
                store.create_user(TenantId::DEFAULT, &user).await.unwrap();
            }
            if let Some(id) = talk {
                let header = Conversation {
                    id,
                    agent: AgentId(Uuid::from_u128(1)),
                    user: None,
                    title: "of nobody".to_owned(),
                    created_at: Timestamp(0),
                    updated_at: Timestamp(0),
                    deleted_at: None,
                    forked_from: None,
                };
                store.create_conversation(TenantId::DEFAULT, &header).await.unwrap();
            }
        });
        let server = Server::start(&bench);
        Self { bench, server }
    }

    pub fn call_as(&self, key: &str, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let (status, answer) = self.server.request(&self.bench, method, path, Some(key), body.as_ref());
        (status.as_u16(), answer)
    }

    pub fn call(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        self.call_as(&self.server.key, method, path, body)
    }

    /// Asserts 200.
    pub fn get(&self, path: &str) -> Value {
        let (status, answer) = self.call(Method::GET, path, None);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Asserts the status.
    pub fn post(&self, path: &str, body: Value, expect: u16) -> Value {
        self.send(Method::POST, path, Some(body), expect)
    }

    /// Asserts the status; of a refusal, that it says what to do.
    pub fn send(&self, method: Method, path: &str, body: Option<Value>, expect: u16) -> Value {
        let (status, answer) = self.call(method, path, body);
        assert_eq!(status, expect, "{path}: {answer}");
        if status >= 400 {
            assert_eq!(answer["status"], status, "{answer}");
            assert!(answer["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{answer}");
        }
        answer
    }

    /// Items of a list.
    pub fn items(&self, path: &str) -> Vec<Value> {
        self.get(path)["items"].as_array().unwrap().clone()
    }

    /// The agent that is always there.
    pub fn agent(&self) -> String {
        text(&self.items("/api/agents?q=steward")[0]["id"])
    }

    /// Says something in a new conversation: run and conversation.
    pub fn chat(&self, message: &str) -> (String, String) {
        let path = format!("/api/chat/{}", self.agent());
        let started = self.post(&path, json!({"message": message}), 202);
        (text(&started["run_id"]), text(&started["conversation_id"]))
    }

    /// The run once it has this status.
    pub fn wait(&self, run: &str, status: &str) -> Value {
        let begun = Instant::now();
        loop {
            let detail = self.get(&format!("/api/runs/{run}"));
            if detail["status"] == status {
                return detail;
            }
            assert!(begun.elapsed() < PATIENCE, "not {status}: {detail}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A run from its message to its end.
    pub fn finished(&self, message: &str) -> (Value, String) {
        let (run, conversation) = self.chat(message);
        (self.wait(&run, "finished"), conversation)
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Events of a server-sent stream that has ended.
pub fn frames(stream: &Value) -> Vec<Value> {
    text(stream)
        .split("\n\n")
        .filter_map(|frame| frame.lines().find_map(|line| line.strip_prefix("data: ")))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// Asks until it holds.
pub fn wait<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A client without proxy.
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}
