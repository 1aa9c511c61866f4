//! Servers of embedding models and a chat model that do what a test says.

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelChunk, ModelError, ModelErrorClass, ModelRequest, Price, Provider, Usage};
use steward_core::passthrough_request::PassthroughRequest;
use steward_core::ports::{
    ChunkStream, ConnectionHealth, ConnectionTest, ConnectionsError, Gateway, KeptResponse, KnownConnection,
    ManagedConnections, ModelCall, Models, NoAnswer, Opened, Passage, Passed, Route, RouteRequest, Scored, StoreError,
    TypedKey,
};
use steward_core::routing::Routing;
use uuid::Uuid;

/// What a server does next instead of answering well.
#[derive(Clone)]
pub(super) enum Next {
    Fail(ModelError),
    Numbers(usize),
}

/// Servers `near`, in the house, and `far`, outside: vectors of 8 numbers for each text, unless told otherwise.
#[derive(Default)]
pub(super) struct Servers {
    pub next: Mutex<VecDeque<Next>>,
    /// Model and number of texts of each request.
    pub asked: Mutex<Vec<(String, usize)>>,
    pub tries: AtomicUsize,
    /// What the chat model says, and what it was sent.
    pub says: Mutex<VecDeque<String>>,
    pub read: Mutex<Vec<ModelRequest>>,
    pub trusted: AtomicBool,
    pub outside: AtomicBool,
}

pub(super) fn failure(class: ModelErrorClass, words: &str) -> ModelError {
    ModelError { detail: Some(words.to_owned()), ..ModelError::new(class, "it failed", "mend it") }
}

fn connection(number: u128, name: &str) -> Connection {
    let id = ConnectionId(Uuid::from_u128(number));
    let mut made = Connection::new(id, name, Provider::Compatible, format!("http://{name}/v1"), "chat");
    made.in_house = Some(name == "near");
    made
}

#[async_trait]
impl Gateway for Servers {
    async fn pass(
        &self,
        _: &[Connection],
        _: &Routing,
        _: Passage,
        _: (Bytes, &PassthroughRequest),
        _: u64,
    ) -> Result<Passed, NoAnswer> {
        unreachable!("nothing is passed on")
    }

    async fn kept_response(&self, _: &Connection, _: &KeptResponse, _: u64) -> Result<Passed, ModelError> {
        unreachable!("nothing that is kept is asked for")
    }

    async fn embed(&self, connection: &Connection, texts: &[String], _: u64) -> Result<Vec<Vec<f32>>, ModelError> {
        let name = format!("{}@{}", connection.model, connection.name);
        self.asked.lock().unwrap().push((name, texts.len()));
        self.tries.fetch_add(1, Ordering::Relaxed);
        let next = self.next.lock().unwrap().pop_front();
        let numbers = match next {
            Some(Next::Fail(error)) => return Err(error),
            Some(Next::Numbers(numbers)) => numbers,
            None => 8,
        };
        // Words of a text and what they are near to.
        Ok(texts.iter().map(|text| meaning(text, numbers)).collect())
    }

    fn price(&self, _: &Connection) -> Option<Price> {
        None
    }
}

/// Not of length 1, as some servers send them.
fn meaning(text: &str, numbers: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let mut vector = vec![0.1; numbers];
    for (place, word) in ["pump", "serviced", "engine", "flowers", "hill", "blossom"].iter().enumerate() {
        if text.contains(word) {
            vector[place / 3] += 3.0;
        }
    }
    vector
}

#[async_trait]
impl ManagedConnections for Servers {
    async fn list(&self) -> Vec<KnownConnection> {
        let known = |connection| KnownConnection { connection, from: "saved".to_owned(), default: false };
        vec![known(connection(1, "near")), known(connection(2, "far"))]
    }
    async fn save(&self, _: Connection, _: TypedKey) -> Result<(), ConnectionsError> {
        Err(StoreError::Backend("no".to_owned()).into())
    }
    async fn remove(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Err(StoreError::Backend("no".to_owned()).into())
    }
    async fn set_default(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Err(StoreError::Backend("no".to_owned()).into())
    }
    async fn test(&self, _: ConnectionId) -> Result<ConnectionTest, ModelError> {
        Err(failure(ModelErrorClass::Connect, "no"))
    }
}

#[async_trait]
impl Models for Servers {
    async fn select(&self, _: Option<ConnectionId>) -> Result<Connection, ModelError> {
        let mut usual = connection(if self.outside.load(Ordering::Relaxed) { 2 } else { 1 }, "near");
        usual.in_house = Some(!self.outside.load(Ordering::Relaxed));
        usual.capabilities.trusted = self.trusted.load(Ordering::Relaxed);
        usual.capabilities.json_schema = true;
        Ok(usual)
    }
    async fn route(&self, _: RouteRequest<'_>) -> Result<Route, ModelError> {
        Err(failure(ModelErrorClass::Connect, "no"))
    }
    async fn open(&self, _: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        Err(NoAnswer { error: failure(ModelErrorClass::Connect, "no"), attempts: Vec::new() })
    }
    async fn stream(&self, _: ConnectionId, request: ModelRequest) -> Result<ChunkStream, ModelError> {
        self.read.lock().unwrap().push(request);
        let said = self.says.lock().unwrap().pop_front().unwrap_or_else(|| "nothing".to_owned());
        let usage = Usage { prompt_tokens: 90, completion_tokens: 9, ..Usage::default() };
        let end = ModelChunk::End { finish: "stop".to_owned(), usage, model: "chat".to_owned() };
        Ok(futures::stream::iter([Ok(ModelChunk::Text(said)), Ok(end)]).boxed())
    }
    async fn score(&self, _: ConnectionId, _: ModelRequest, _: &[String]) -> Result<Vec<Scored>, ModelError> {
        Err(failure(ModelErrorClass::Connect, "no"))
    }
    async fn health(&self) -> Vec<ConnectionHealth> {
        Vec::new()
    }
}
