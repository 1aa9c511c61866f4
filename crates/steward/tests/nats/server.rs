//! A NATS server, and a program that asks over it.

use crate::common::Bench;
use async_nats::{HeaderMap, Message, RequestErrorKind};
use bytes::Bytes;
use serde_json::Value;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Handle;

const PATIENCE: Duration = Duration::from_mins(5);

pub fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Waits until it is so.
pub fn until(so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < PATIENCE, "it is not so after {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Killed with the test, without a chance to tell its clients.
pub struct NatsServer {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl NatsServer {
    pub fn start() -> Self {
        Self::on(free_port(), &[])
    }

    pub fn with(args: &[&str]) -> Self {
        Self::on(free_port(), args)
    }

    pub fn on(port: u16, args: &[&str]) -> Self {
        Self::launch(port, "", args)
    }

    /// With these lines in its file of settings.
    pub fn configured(lines: &str) -> Self {
        Self::launch(free_port(), lines, &[])
    }

    fn launch(port: u16, lines: &str, args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("nats.conf");
        std::fs::write(&file, lines).unwrap();
        let child = Command::new(steward_testkit::set_up("bin/nats-server"))
            .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-c"])
            .arg(&file)
            .args(args)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        Self { child, port, _folder: folder }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Client {
    nats: async_nats::Client,
    runtime: Handle,
    asked: AtomicU64,
}

impl Client {
    pub fn new(bench: &Bench, nats: &NatsServer) -> Self {
        let nats = bench.runtime.block_on(async_nats::connect(nats.url())).unwrap();
        Self { nats, runtime: bench.runtime.handle().clone(), asked: AtomicU64::new(0) }
    }

    /// How many requests were answered.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The answer to these bytes; as long as nobody is there who answers, they are sent again.
    pub fn send(&self, subject: &str, payload: &[u8]) -> Value {
        self.runtime.block_on(self.request(subject, None, payload.to_vec()))
    }

    pub fn with(&self, subject: &str, authorization: Option<&str>, payload: &Value) -> Value {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert("Authorization", value);
        }
        self.runtime.block_on(self.request(subject, Some(headers), payload.to_string().into_bytes()))
    }

    /// An answer that is good.
    pub fn good(&self, subject: &str, payload: &Value) -> Value {
        let answer = self.send(subject, payload.to_string().as_bytes());
        assert_eq!(answer["ok"], true, "{subject} {payload}: {answer}");
        answer
    }

    /// What is wrong.
    pub fn bad(&self, subject: &str, payload: &Value) -> String {
        let answer = self.send(subject, payload.to_string().as_bytes());
        assert_eq!(answer["ok"], false, "{subject} {payload}: {answer}");
        answer["error"].as_str().unwrap().to_owned()
    }

    /// All at the same time.
    pub fn all(&self, subject: &str, payloads: &[Value]) -> Vec<Value> {
        let asked = payloads.iter().map(|payload| self.request(subject, None, payload.to_string().into_bytes()));
        self.runtime.block_on(futures::future::join_all(asked))
    }

    /// Waits for no answer.
    pub fn tell(&self, subject: &str, payload: &Value) {
        let bytes: Bytes = payload.to_string().into();
        self.runtime.block_on(async {
            self.nats.publish(subject.to_owned(), bytes).await.unwrap();
            self.nats.flush().await.unwrap();
        });
    }

    /// Asks until twenty requests in a row were answered. What is handed to a replica that was killed a moment ago is lost, until
    /// the server has noticed.
    pub fn settle(&self, subject: &str, payload: &Value) {
        let payload: Bytes = payload.to_string().into();
        let (begun, mut answered) = (Instant::now(), 0);
        while answered < 20 {
            assert!(begun.elapsed() < PATIENCE, "{subject} is not answered");
            let soon = Some(Duration::from_secs(2));
            let request = async_nats::Request::new().payload(payload.clone()).timeout(soon);
            let answer = self.runtime.block_on(self.nats.send_request(subject.to_owned(), request));
            answered = if answer.is_ok() { answered + 1 } else { 0 };
        }
    }

    async fn request(&self, subject: &str, headers: Option<HeaderMap>, payload: Vec<u8>) -> Value {
        let (begun, payload) = (Instant::now(), Bytes::from(payload));
        let message: Message = loop {
            let request = async_nats::Request::new().payload(payload.clone()).timeout(Some(PATIENCE));
            let request = match headers.clone() {
                Some(headers) => request.headers(headers),
                None => request,
            };
            match self.nats.send_request(subject.to_owned(), request).await {
                Ok(message) => break message,
                Err(error) if error.kind() == RequestErrorKind::NoResponders && begun.elapsed() < PATIENCE => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{subject}: {error}"),
            }
        };
        self.asked.fetch_add(1, Ordering::Relaxed);
        serde_json::from_slice(&message.payload).unwrap()
    }
}
