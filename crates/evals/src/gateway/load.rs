//! The load driver: keep-alive connections that ask again as soon as they are answered.

use super::upstream::{BURST, find};
use std::io::{Error, Result};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A gap between two pieces of an answer that counts as a stall.
pub const STALL: Duration = Duration::from_millis(40);
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub struct Place {
    pub name: String,
    /// `127.0.0.1:PORT`.
    pub address: String,
    pub key: String,
    /// Model name as that place knows it.
    pub model: String,
    /// Process whose CPU time is counted; `None` for the upstream itself.
    pub process: Option<u32>,
    /// Whether it may fail: this is reported, and the bench continues.
    pub foreign: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Whole,
    /// A stream with a pause before each chunk.
    Paced,
    /// A stream without pauses between its chunks.
    Burst,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Whole, Self::Paced, Self::Burst];
}

impl Place {
    pub fn request(&self, kind: Kind) -> Vec<u8> {
        let (streamed, user) = (kind != Kind::Whole, if kind == Kind::Burst { BURST } else { "bench" });
        let body = format!(
            r#"{{"model":"{}","stream":{streamed},"max_tokens":100,"user":"{user}","messages":[{{"role":"system","content":"You are a helpful assistant."}},{{"role":"user","content":"Tell me about the fox and the dog, in a few words."}}]}}"#,
            self.model
        );
        self.post("/v1/chat/completions", &body)
    }

    pub fn post(&self, path: &str, body: &str) -> Vec<u8> {
        format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\naccept: */*\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.key,
            body.len()
        )
        .into_bytes()
    }

    pub fn get(&self, path: &str) -> Vec<u8> {
        format!("GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n", self.address, self.key)
            .into_bytes()
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    /// Until the first byte of the body.
    pub first: Duration,
    /// Until the end.
    pub whole: Duration,
    /// Longest wait between two pieces of the body.
    pub gap: Duration,
}

#[derive(Debug, Default)]
pub struct Answers {
    pub samples: Vec<Sample>,
    /// Unanswered requests and refused connections.
    pub errors: usize,
    pub why: Option<String>,
}

impl Answers {
    fn failed(&mut self, error: &Error) {
        self.errors += 1;
        self.why.get_or_insert_with(|| error.to_string());
    }

    fn add(&mut self, other: Self) {
        self.samples.extend(other.samples);
        self.errors += other.errors;
        self.why = self.why.take().or(other.why);
    }
}

/// Sends requests over `connections` connections for `time`. A connection that fails is counted and opened again.
pub async fn drive(place: &Place, kind: Kind, connections: usize, time: Duration) -> Result<Answers> {
    let request = place.request(kind);
    let mut all = Answers::default();
    let mut ready = Vec::new();
    for _ in 0..connections {
        // The first request of a connection pays for what is kept.
        let opened = warm(&place.address, &request).await;
        ready.push(opened.map_err(|error| all.failed(&error)).ok());
    }
    let until = Instant::now() + time;
    let tasks = ready.into_iter().map(|wire| {
        let (address, request) = (place.address.clone(), request.clone());
        tokio::spawn(async move { ask_until(wire, &address, &request, until).await })
    });
    for task in tasks.collect::<Vec<_>>() {
        all.add(task.await.map_err(Error::other)?);
    }
    Ok(all)
}

async fn ask_until(mut wire: Option<Wire>, address: &str, request: &[u8], until: Instant) -> Answers {
    let mut answers = Answers::default();
    while Instant::now() < until {
        let asked = match &mut wire {
            Some(wire) => wire.ask(request).await.map(|sample| answers.samples.push(sample)),
            None => warm(address, request).await.map(|opened| wire = Some(opened)),
        };
        if let Err(error) = asked {
            answers.failed(&error);
            wire = None;
            tokio::time::sleep(PAUSE).await;
        }
    }
    answers
}

async fn warm(address: &str, request: &[u8]) -> Result<Wire> {
    let mut wire = Wire::open(address).await?;
    wire.ask(request).await?;
    Ok(wire)
}

pub struct Wire {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Wire {
    pub async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 * 1024) })
    }

    pub async fn ask(&mut self, request: &[u8]) -> Result<Sample> {
        let answer = tokio::time::timeout(PATIENCE, self.answer(request)).await;
        answer.unwrap_or_else(|_| Err(Error::other("no answer within 30 s")))
    }

    async fn answer(&mut self, request: &[u8]) -> Result<Sample> {
        let begun = Instant::now();
        let (mut sample, mut head, mut last) = (Sample::default(), None, None);
        self.buffer.clear();
        self.stream.write_all(request).await?;
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(Error::other("the connection ended within an answer"));
            }
            let now = Instant::now();
            if head.is_none() {
                head = Head::of(&self.buffer)?;
            }
            let Some(known) = &head else { continue };
            if self.buffer.len() > known.length {
                match last {
                    None => sample.first = now - begun,
                    Some(before) => sample.gap = sample.gap.max(now - before),
                }
                last = Some(now);
            }
            if known.ended(&self.buffer) {
                sample.whole = now - begun;
                return Ok(sample);
            }
        }
    }

    pub fn body(&self) -> &[u8] {
        let begin = find(&self.buffer, b"\r\n\r\n").map_or(0, |at| at + 4);
        &self.buffer[begin..]
    }
}

struct Head {
    length: usize,
    /// `None`: chunked.
    body: Option<usize>,
}

impl Head {
    fn of(buffer: &[u8]) -> Result<Option<Self>> {
        let Some(end) = find(buffer, b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
        if !text.starts_with("http/1.1 2") {
            return Err(Error::other(format!("refused: {}", String::from_utf8_lossy(buffer))));
        }
        let body = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .and_then(|value| value.trim().parse().ok());
        Ok(Some(Self { length: end + 4, body }))
    }

    fn ended(&self, buffer: &[u8]) -> bool {
        match self.body {
            Some(body) => buffer.len() >= self.length + body,
            None => buffer.ends_with(b"\r\n0\r\n\r\n") || &buffer[self.length..] == b"0\r\n\r\n",
        }
    }
}
