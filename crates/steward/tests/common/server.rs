//! A running `steward serve`.

use super::Bench;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Ends with the test.
pub struct Server {
    child: Child,
    said: Arc<Mutex<String>>,
    pub url: String,
    pub key: String,
}

impl Server {
    /// Starts one on a free port and waits until it says where.
    pub fn start(bench: &Bench) -> Self {
        Self::start_with(bench, &[])
    }

    /// The same with further variables.
    pub fn start_with(bench: &Bench, variables: &[(&str, &str)]) -> Self {
        let workspace = bench.work.path().to_str().unwrap();
        let args = ["serve", "--listen", "127.0.0.1:0", "--workspace", workspace];
        let mut child = bench
            .command(&args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .env("STEWARD_LEASE_SECONDS", "1")
            .envs(variables.iter().copied())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (heard, stderr) = (Arc::clone(&said), child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut heard = heard.lock().unwrap();
                heard.push_str(&line);
                heard.push('\n');
            }
        });
        let mut server = Self { child, said, url: String::new(), key: String::new() };
        // The last line of the welcome ends with this word.
        server.wait_for("steward ask");
        let said = server.said();
        let at = said.find("http://").or_else(|| said.find("https://")).unwrap();
        said[at..].split_whitespace().next().unwrap().clone_into(&mut server.url);
        server.key = std::fs::read_to_string(bench.data().join("api-key")).unwrap();
        server
    }

    /// What it printed so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    fn wait_for(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.said().contains(text) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", self.said());
            assert!(begun.elapsed() < Duration::from_mins(5), "{}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A request; the answer's status and JSON (or text).
    pub fn request(
        &self,
        bench: &Bench,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> (StatusCode, Value) {
        let mut request = client().request(method, format!("{}{path}", self.url));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        bench.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let status = answer.status();
            let text = answer.text().await.unwrap();
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            (status, value)
        })
    }

    /// One user message to the default agent.
    pub fn chat(&self, bench: &Bench, text: &str) -> (StatusCode, Value) {
        let body = json!({"model": "steward", "messages": [{"role": "user", "content": text}]});
        let path = "/v1/chat/completions";
        self.request(bench, Method::POST, path, Some(&self.key), Some(&body))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The one-time token of the link that it printed.
    pub fn setup_token(&self) -> String {
        let said = self.said();
        let rest = said.split("/setup#token=").nth(1).unwrap();
        rest.chars().take_while(char::is_ascii_hexdigit).collect()
    }

    /// SIGKILL: no chance to tidy up.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).timeout(Duration::from_mins(5)).build().unwrap()
}
