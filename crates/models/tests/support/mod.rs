#![allow(dead_code, clippy::unwrap_used, reason = "shared by several tests")]

use futures::StreamExt;
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::message::Message;
use steward_core::model::{
    Auth, Capabilities, Connection, ModelChunk, ModelError, ModelRequest, Provider, RequestOptions,
};
use steward_models::openai::{Client, Secrets, Timeouts};

pub const KEY: &str = "sk-test-0123456789abcdef";

pub fn connection(base_url: &str) -> Connection {
    Connection {
        id: ConnectionId(uuid(7)),
        name: "work".to_owned(),
        provider: Provider::Compatible,
        base_url: base_url.to_owned(),
        model: "scripted".to_owned(),
        auth: Auth::BearerEnv { variable: "WORK_KEY".to_owned() },
        capabilities: Capabilities::default(),
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
        wire: None,
    }
}

pub fn uuid(n: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(n)
}

pub fn request(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![Message::system("Be brief."), Message::user(text)],
        tools: vec![],
        schema: None,
        temperature: Some(0.2),
        max_tokens: Some(64),
        stop: vec![],
        seed: None,
        timeout_ms: 5000,
        options: RequestOptions::default(),
    }
}

pub fn client() -> Client {
    Client::new(secrets(), None, quick())
}

pub fn secrets() -> Secrets {
    Secrets::new(|name| (name == "WORK_KEY").then(|| KEY.into()))
}

pub fn quick() -> Timeouts {
    Timeouts {
        headers: Duration::from_millis(300),
        first_content: Duration::from_millis(300),
        idle: Duration::from_millis(300),
    }
}

/// All chunks, or those before the error with it.
pub async fn ask(
    client: &Client,
    connection: &Connection,
    request: &ModelRequest,
) -> (Vec<ModelChunk>, Option<ModelError>) {
    let mut stream = match client.stream(connection, request).await {
        Ok(stream) => stream,
        Err(error) => return (vec![], Some(error)),
    };
    let mut chunks = vec![];
    while let Some(item) = stream.next().await {
        match item {
            Ok(chunk) => chunks.push(chunk),
            Err(error) => {
                assert!(stream.next().await.is_none(), "something after the error");
                return (chunks, Some(error));
            }
        }
    }
    (chunks, None)
}

pub fn text(chunks: &[ModelChunk]) -> String {
    chunks
        .iter()
        .filter_map(|chunk| match chunk {
            ModelChunk::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}
