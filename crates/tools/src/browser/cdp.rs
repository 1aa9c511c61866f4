//! Chromium's protocol over two pipes: JSON messages, each ended by a zero byte. No port is opened to others.

use super::error::BrowserError;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};

/// Bytes: a large page's tree, or a screenshot.
const MAX_MESSAGE: usize = 64 << 20;
const QUEUE: usize = 256;

type Reply = oneshot::Sender<Result<Value, String>>;

/// Commands that wait for their answers; `None` once the browser is gone.
type PendingReplies = Mutex<Option<HashMap<u64, Reply>>>;

#[derive(Debug, Clone)]
pub(super) struct Cdp {
    out: mpsc::Sender<Vec<u8>>,
    next: Arc<AtomicU64>,
    waiting: Arc<PendingReplies>,
}

pub(super) type CdpCommand = (&'static str, Value);

impl Cdp {
    /// Starts reading and writing. `on_event` gets session, method and parameters, and may answer with a command.
    pub fn begin(
        input: impl AsyncWrite + Unpin + Send + 'static,
        output: impl AsyncRead + Unpin + Send + 'static,
        on_event: impl FnMut(&str, &str, &Value) -> Option<CdpCommand> + Send + 'static,
    ) -> Self {
        let (out, queue) = mpsc::channel(QUEUE);
        let cdp = Self { out, next: Arc::new(AtomicU64::new(1)), waiting: Arc::new(Mutex::new(Some(HashMap::new()))) };
        tokio::spawn(write(input, queue));
        let reader = EventReader {
            // Only a weak sender: the writer ends when the last strong one is dropped.
            out: cdp.out.downgrade(),
            next: Arc::clone(&cdp.next),
            waiting: Arc::clone(&cdp.waiting),
            on_event,
        };
        tokio::spawn(reader.read(output));
        cdp
    }

    pub async fn call(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value, BrowserError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        match lock(&self.waiting).as_mut() {
            Some(waiting) => waiting.insert(id, reply),
            None => return Err(closed_error()),
        };
        // Removes the entry if the caller stops waiting.
        let _forget = ForgetOnDrop(&self.waiting, id);
        self.out.send(message(id, session, method, &params)).await.map_err(|_| closed_error())?;
        match answer.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(message)) => Err(BrowserError::Protocol { method: method.to_owned(), message }),
            Err(_) => Err(closed_error()),
        }
    }

    /// Sends a command without waiting for its answer; drops it where too many are queued.
    pub fn send(&self, session: &str, method: &str, params: &Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let _ = self.out.try_send(message(id, Some(session), method, params));
    }

    pub fn closed(&self) -> bool {
        lock(&self.waiting).is_none()
    }
}

struct ForgetOnDrop<'a>(&'a PendingReplies, u64);

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = lock(self.0).as_mut() {
            waiting.remove(&self.1);
        }
    }
}

fn closed_error() -> BrowserError {
    BrowserError::Gone("its process is no longer there".to_owned())
}

fn message(id: u64, session: Option<&str>, method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({"id": id, "method": method, "params": params});
    if let Some(session) = session {
        message["sessionId"] = json!(session);
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}

async fn write(mut input: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if input.write_all(&bytes).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

struct EventReader<H> {
    out: mpsc::WeakSender<Vec<u8>>,
    next: Arc<AtomicU64>,
    waiting: Arc<PendingReplies>,
    on_event: H,
}

impl<H: FnMut(&str, &str, &Value) -> Option<CdpCommand>> EventReader<H> {
    async fn read(mut self, output: impl AsyncRead + Unpin) {
        let mut output = BufReader::with_capacity(64 << 10, output);
        let mut whole = Vec::new();
        while let Ok(part @ [_, ..]) = output.fill_buf().await {
            let end = part.iter().position(|byte| *byte == 0);
            let taken = end.map_or(part.len(), |at| at + 1);
            whole.extend_from_slice(&part[..end.unwrap_or(part.len())]);
            output.consume(taken);
            if whole.len() > MAX_MESSAGE {
                tracing::warn!("the browser's message is too long; the browser is given up");
                break;
            }
            if end.is_some() {
                self.take(&whole);
                whole.clear();
                whole.shrink_to(1 << 20);
            }
        }
        // Dropping the reply channels tells the waiting callers.
        lock(&self.waiting).take();
    }

    fn take(&mut self, bytes: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(bytes) else {
            tracing::warn!("the browser sent something that is no JSON");
            return;
        };
        if let Some(id) = message["id"].as_u64() {
            let reply = lock(&self.waiting).as_mut().and_then(|waiting| waiting.remove(&id));
            if let Some(reply) = reply {
                let _ = reply.send(match message.get("error") {
                    Some(error) => Err(error["message"].as_str().unwrap_or("no reason").to_owned()),
                    None => Ok(message.get("result").cloned().unwrap_or_default()),
                });
            }
            return;
        }
        let session = message["sessionId"].as_str().unwrap_or("");
        let method = message["method"].as_str().unwrap_or("");
        let command = (self.on_event)(session, method, &message["params"]);
        if let (Some((method, params)), Some(out)) = (command, self.out.upgrade()) {
            let id = self.next.fetch_add(1, Ordering::Relaxed);
            let session = (!session.is_empty()).then_some(session);
            let _ = out.try_send(self::message(id, session, method, &params));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{BrowserError, Cdp};
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    /// Answers commands as `answer` says, until it says nothing.
    async fn peer(stream: tokio::io::DuplexStream, answer: fn(&Value) -> Option<Vec<Value>>) {
        let (read, mut write) = tokio::io::split(stream);
        let mut read = BufReader::new(read);
        loop {
            let mut bytes = Vec::new();
            if read.read_until(0, &mut bytes).await.unwrap() == 0 {
                return;
            }
            bytes.pop();
            let Some(answers) = answer(&serde_json::from_slice(&bytes).unwrap()) else {
                return;
            };
            for one in answers {
                let mut bytes = one.to_string().into_bytes();
                bytes.push(0);
                // In pieces, as pipes deliver.
                for piece in bytes.chunks(5) {
                    write.write_all(piece).await.unwrap();
                }
            }
        }
    }

    #[tokio::test]
    async fn answers_events_refusals_and_the_end() {
        let (ours, theirs) = tokio::io::duplex(256);
        tokio::spawn(peer(theirs, |asked| {
            let id = &asked["id"];
            match asked["method"].as_str().unwrap() {
                "A" => Some(vec![
                    json!({"method": "E", "params": {"x": 1}, "sessionId": "s"}),
                    json!({"id": id, "result": {"session": asked["sessionId"]}}),
                ]),
                "B" => Some(vec![json!({"id": id, "error": {"message": "no such thing"}})]),
                "Told" => Some(Vec::new()),
                _ => None,
            }
        }));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        let (read, write) = tokio::io::split(ours);
        let cdp = Cdp::begin(write, read, move |session, method, params| {
            kept.lock().unwrap().push(format!("{session} {method} {params}"));
            Some(("Told", json!({})))
        });
        let answer = cdp.call(Some("s"), "A", json!({})).await.unwrap();
        assert_eq!(answer, json!({"session": "s"}));
        assert_eq!(*heard.lock().unwrap(), ["s E {\"x\":1}"]);
        let refused = cdp.call(None, "B", json!({})).await.unwrap_err();
        assert!(matches!(&refused, BrowserError::Protocol { message, .. } if message == "no such thing"));
        let gone = cdp.call(None, "End", json!({})).await.unwrap_err();
        assert!(matches!(gone, BrowserError::Gone(_)), "{gone}");
        assert!(cdp.closed());
        let after = cdp.call(None, "A", json!({})).await.unwrap_err();
        assert!(matches!(after, BrowserError::Gone(_)));
    }
}
