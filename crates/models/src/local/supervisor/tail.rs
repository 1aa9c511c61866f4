use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

const LINES: usize = 12;
const LINE_BYTES: usize = 400;

/// The last lines that a child wrote.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    /// Reads to the end, remembering the last lines.
    pub fn follow(&self, stream: impl AsyncRead + Unpin + Send + 'static) -> tokio::task::JoinHandle<()> {
        let tail = self.clone();
        tokio::spawn(async move {
            let mut reader = BufReader::new(stream);
            let mut line = Vec::new();
            // Bytes, not lines: a child may write anything.
            while matches!(reader.read_until(b'\n', &mut line).await, Ok(n) if n > 0) {
                line.truncate(LINE_BYTES);
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                if !text.is_empty() {
                    tracing::debug!(line = text, "model server");
                    tail.push(text);
                }
            }
        })
    }

    /// The lines, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    fn push(&self, line: String) {
        let mut lines = self.lock();
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
