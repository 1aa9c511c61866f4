//! A started model server and a small HTTP client for it.
#![allow(dead_code, reason = "each test file uses its part")]

use secrecy::ExposeSecret;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use steward_models::local::{ChildCommand, Endpoint, Supervisor, SupervisorOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

pub fn model_path() -> PathBuf {
    steward_testkit::set_up("models/SmolLM2-135M-Instruct.Q4_1.gguf")
}

/// The example binary, which Cargo builds beside the tests.
pub fn server_binary() -> PathBuf {
    let mut dir = std::env::current_exe().expect("own path");
    dir.pop();
    if dir.ends_with("deps") {
        dir.pop();
    }
    dir.join("examples/model_server")
}

pub fn command(settings: &[&str]) -> ChildCommand {
    // One thread: with as many as cores, each waits for the others whenever the machine is busy.
    let mut command = ChildCommand::new(server_binary()).arg(model_path()).arg("threads=1");
    for setting in settings {
        command = command.arg(*setting);
    }
    command
}

pub fn options(dir: &std::path::Path) -> SupervisorOptions {
    let mut options = SupervisorOptions::new(dir, "test-token-0123456789".to_owned().into());
    options.start_timeout = Duration::from_mins(5);
    options
}

/// Two servers on two cores only wait for each other.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

pub struct Server {
    pub supervisor: Supervisor,
    pub endpoint: Endpoint,
    _dir: tempfile::TempDir,
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

impl Server {
    pub async fn start(settings: &[&str]) -> Self {
        let turn = ONE_AT_A_TIME.lock().await;
        let dir = tempfile::tempdir().unwrap();
        let supervisor = Supervisor::new(command(settings), options(dir.path()));
        let endpoint = supervisor.endpoint().await.unwrap();
        Self { supervisor, endpoint, _dir: dir, _turn: turn }
    }

    pub fn token(&self) -> &str {
        self.endpoint.token.expose_secret()
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.raw("POST", path, body.to_string().as_bytes(), self.token()).await
    }

    pub async fn raw(&self, method: &str, path: &str, body: &[u8], token: &str) -> Reply {
        self.send(method, path, body, token).await.whole().await
    }

    pub async fn send(&self, method: &str, path: &str, body: &[u8], token: &str) -> Pending {
        let mut stream = UnixStream::connect(&self.endpoint.socket_path).await.unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: local\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        Pending { stream }
    }
}

pub struct Pending {
    stream: UnixStream,
}

impl Pending {
    pub async fn read_some(&mut self) {
        let mut buffer = [0; 256];
        assert!(self.stream.read(&mut buffer).await.unwrap() > 0);
    }

    pub async fn whole(mut self) -> Reply {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a response");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        Reply { status, text: if chunked { unchunk(body) } else { body.to_owned() } }
    }
}

fn unchunk(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    text
}

pub struct Reply {
    pub status: u16,
    pub text: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{}: {e}", self.text))
    }

    pub fn content(&self) -> String {
        self.json()["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{}", self.text)).to_owned()
    }

    /// Events of a stream, which must end in the right way.
    pub fn events(&self) -> Vec<Value> {
        assert!(self.text.ends_with("data: [DONE]\n\n"), "{}", self.text);
        self.text
            .split("\n\n")
            .filter_map(|event| event.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}
