//! A web server on the loopback, as small as it gets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// What a path is answered with: the raw response.
type Answer = dyn Fn(&str) -> Vec<u8> + Send + Sync;

pub struct Server {
    pub port: u16,
    pub hits: Arc<AtomicUsize>,
    pub requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `answer` is given the path.
    pub async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start_whole(move |request| answer(request.split(' ').nth(1).unwrap_or("/"))).await
    }

    /// Answers with what it was sent.
    pub async fn echo() -> Self {
        Self::start_whole(|request| ok("text/plain", request)).await
    }

    /// `answer` is given the whole request, head and body.
    pub async fn start_whole(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (hits, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, kept, answer): (_, _, Arc<Answer>) = (hits.clone(), requests.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (count, kept, answer) = (count.clone(), kept.clone(), answer.clone());
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    let mut buffer = [0; 4096];
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        match stream.read(&mut buffer).await {
                            Ok(0) | Err(_) => return,
                            Ok(read) => head.extend_from_slice(&buffer[..read]),
                        }
                    }
                    let end = head.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
                    let length = length(&String::from_utf8_lossy(&head[..end]));
                    while head.len() < end + length {
                        match stream.read(&mut buffer).await {
                            Ok(0) | Err(_) => return,
                            Ok(read) => head.extend_from_slice(&buffer[..read]),
                        }
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let bytes = answer(&head);
                    kept.lock().unwrap().push(head);
                    count.fetch_add(1, Ordering::Relaxed);
                    if bytes.is_empty() {
                        // An empty answer stands for one that never comes.
                        std::future::pending::<()>().await;
                    }
                    let _ = stream.write_all(&bytes).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { port, hits, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn allowed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

fn length(head: &str) -> usize {
    let lines = head.lines();
    lines
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, value)| value.parse().unwrap())
}

/// An answer of any status, with further lines of its head.
pub fn answer(status: u16, lines: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let lines = lines.iter().fold(String::new(), |all, line| all + line + "\r\n");
    let mut bytes =
        format!("HTTP/1.1 {status} X\r\n{lines}content-length: {}\r\nconnection: close\r\n\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub fn ok(media: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").into_bytes()
}
