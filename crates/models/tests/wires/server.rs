//! A loopback server of fixed answers.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What is answered to a path.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The connection stays open after the body.
    pub hangs: bool,
}

impl Answer {
    pub fn ok(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
            hangs: false,
        }
    }

    pub fn json(value: &Value) -> Self {
        Self::ok("application/json", value.to_string())
    }

    pub fn status(status: u16, body: &Value) -> Self {
        Self { status, ..Self::json(body) }
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

type Choose = dyn Fn(&Seen) -> Option<Answer> + Send + Sync;

pub struct Server {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: watch::Receiver<usize>,
}

impl Server {
    /// Gives `answer` to everything.
    pub async fn always(answer: Answer) -> Self {
        Self::start(move |_| Some(answer.clone())).await
    }

    /// Answers as `choose` says; `None` is 404.
    pub async fn start(choose: impl Fn(&Seen) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (left, gone) = watch::channel(0);
        let choose: Arc<Choose> = Arc::new(choose);
        let kept = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (choose, kept, left) = (Arc::clone(&choose), Arc::clone(&kept), left.clone());
                tokio::spawn(async move {
                    serve(stream, &*choose, &kept).await;
                    left.send_modify(|count| *count += 1);
                });
            }
        });
        Self { port, seen, gone }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn last(&self) -> Seen {
        self.seen().pop().expect("no request came")
    }

    /// Returns once a connection has ended.
    pub async fn ended(&mut self) {
        self.gone.wait_for(|count| *count > 0).await.unwrap();
    }
}

async fn serve(mut stream: TcpStream, choose: &Choose, kept: &Mutex<Vec<Seen>>) {
    let Some(seen) = read(&mut stream).await else {
        return;
    };
    kept.lock().unwrap().push(seen.clone());
    let missing = Answer::status(404, &serde_json::json!({"detail": "Not Found"}));
    let answer = choose(&seen).unwrap_or(missing);
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head = format!("{head}{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    let whole = [head.as_bytes(), &answer.body].concat();
    if stream.write_all(&whole).await.is_ok() && answer.hangs {
        // Ends when the client does.
        let _closed = stream.read(&mut [0; 64]).await;
    }
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = bytes.split_off(end);
    while body.len() < length {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.ok().filter(|n| *n > 0)?;
        body.extend_from_slice(&piece[..count]);
    }
    Some(Seen { method, target, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
