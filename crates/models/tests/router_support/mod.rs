#![allow(dead_code, clippy::unwrap_used, reason = "shared by several tests")]

use crate::support::{connection, request, secrets, uuid};
use futures::StreamExt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelChunk, ModelError};
use steward_core::ports::{ConnectionHealth, ModelCall, Models, NoAnswer, Opened};
use steward_core::routing::Routing;
use steward_models::openai::{Client, Timeouts};
use steward_models::router::Router;
use steward_testkit::FakeClock;
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// What no well-behaved server does.
#[derive(Debug, Clone, Copy)]
pub enum Rude {
    /// One header line after the other, and never the last.
    SlowHeader,
    /// Part of a stream without content, and then a reset.
    ResetInStream,
}

/// What a target does.
#[allow(clippy::large_enum_variant, reason = "a test has a handful")]
#[derive(Debug, Clone)]
pub enum Fault {
    Scripted(Behaviour),
    Rude(Rude),
    /// Nobody listens.
    Dead,
}

/// An upstream that counts what it is asked.
pub enum Upstream {
    Scripted(ScriptedModelServer),
    Rude(RudeServer),
    Dead(u16),
}

pub struct RudeServer {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for RudeServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Upstream {
    pub async fn start(fault: &Fault) -> Self {
        match fault {
            Fault::Scripted(behaviour) => {
                let script = Script::always(behaviour.clone());
                Self::Scripted(ScriptedModelServer::start(script).await.unwrap())
            }
            Fault::Rude(rude) => Self::Rude(RudeServer::start(*rude).await.unwrap()),
            Fault::Dead => {
                let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
                Self::Dead(listener.local_addr().unwrap().port())
            }
        }
    }

    pub async fn says(text: &str) -> Self {
        Self::start(&Fault::Scripted(Behaviour::text(text))).await
    }

    pub fn base_url(&self) -> String {
        match self {
            Self::Scripted(server) => server.base_url(),
            Self::Rude(server) => format!("http://{}/v1", server.address),
            Self::Dead(port) => format!("http://127.0.0.1:{port}/v1"),
        }
    }

    /// Chat requests so far; where nobody listens there are none.
    pub fn asked(&self) -> usize {
        match self {
            Self::Scripted(server) => server.chats().len(),
            Self::Rude(server) => server.asked.load(Ordering::SeqCst),
            Self::Dead(_) => 0,
        }
    }

    pub fn scripted(&self) -> &ScriptedModelServer {
        match self {
            Self::Scripted(server) => server,
            _ => panic!("not a scripted server"),
        }
    }
}

impl RudeServer {
    async fn start(rude: Rude) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                open.spawn(async move {
                    // The client's leaving ends it.
                    let _gone = be_rude(stream, rude).await;
                });
            }
        });
        Ok(Self { address, asked, task })
    }
}

async fn be_rude(mut stream: TcpStream, rude: Rude) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let _request = stream.read(&mut buffer).await?;
    stream.write_all(b"HTTP/1.1 200 OK\r\n").await?;
    match rude {
        Rude::SlowHeader => {
            for n in 0..2000 {
                tokio::time::sleep(Duration::from_millis(20)).await;
                stream.write_all(format!("x-{n}: y\r\n").as_bytes()).await?;
            }
        }
        Rude::ResetInStream => {
            let event = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n";
            let head = "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            let body = format!("{head}{:x}\r\n{event}\r\n", event.len());
            stream.write_all(body.as_bytes()).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream.set_zero_linger()?;
        }
    }
    Ok(())
}

/// A router over upstreams, which are connections a, b, c…
pub struct Bench {
    pub router: Router,
    pub clock: Arc<FakeClock>,
    pub connections: Vec<Connection>,
    pub routing: Routing,
    pub deadline_ms: u64,
}

pub fn id(n: usize) -> ConnectionId {
    ConnectionId(uuid(n as u128 + 1))
}

pub fn patient() -> Timeouts {
    Timeouts::default()
}

/// Stages that end soon.
pub fn hasty() -> Timeouts {
    Timeouts {
        headers: Duration::from_millis(150),
        first_content: Duration::from_millis(150),
        idle: Duration::from_millis(150),
    }
}

impl Bench {
    pub fn new(timeouts: Timeouts, upstreams: &[&Upstream]) -> Self {
        let connections: Vec<Connection> = upstreams
            .iter()
            .enumerate()
            .map(|(n, upstream)| Connection {
                id: id(n),
                name: ["a", "b", "c", "d"][n].to_owned(),
                ..connection(&upstream.base_url())
            })
            .collect();
        let clock = Arc::new(FakeClock::default());
        let client = Client::new(secrets(), None, timeouts);
        let router = Router::new(client, clock.clone(), connections.clone(), None);
        Self { router, clock, connections, routing: Routing::default(), deadline_ms: 5000 }
    }

    /// After `change` of the connections.
    pub fn change(&mut self, change: impl FnOnce(&mut Vec<Connection>)) {
        change(&mut self.connections);
        self.router.replace_connections(self.connections.clone(), None);
    }

    /// Asks all in order.
    pub async fn open(&self) -> Result<Opened, NoAnswer> {
        let call = ModelCall {
            targets: &self.connections,
            routing: &self.routing,
            request: &|_| request("hi"),
            deadline_ms: self.deadline_ms,
        };
        self.router.open(call).await
    }

    /// Asks and reads to the end.
    pub async fn ask(&self) -> Result<(Opened, Vec<ModelChunk>, Option<ModelError>), NoAnswer> {
        let mut opened = self.open().await?;
        let mut chunks = Vec::new();
        let mut error = None;
        while let Some(item) = opened.stream.next().await {
            match item {
                Ok(chunk) => chunks.push(chunk),
                Err(failed) => error = Some(failed),
            }
        }
        Ok((opened, chunks, error))
    }

    pub async fn health(&self, n: usize) -> ConnectionHealth {
        let all = self.router.health().await;
        all.into_iter().find(|one| one.connection == id(n)).unwrap()
    }
}

/// The JSON name of a class or a state.
pub fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value).unwrap() {
        serde_json::Value::String(word) => word,
        other => other.to_string(),
    }
}
