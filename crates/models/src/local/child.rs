use super::LocalModelError;
use secrecy::{ExposeSecret, SecretString};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdin, Command};

/// The program to start. It gets socket and token as a line on standard input, see [`Endpoint::to_line`], and ends
/// when that input ends.
#[derive(Debug, Clone)]
pub struct ChildCommand {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

impl ChildCommand {
    /// Without arguments, and with an empty environment, so that it inherits no secret.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new() }
    }

    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }
}

#[derive(Debug, Clone)]
pub struct Endpoint {
    pub socket_path: PathBuf,
    pub token: SecretString,
}

pub(crate) struct ChildProcess {
    child: Child,
    /// Held open: its end tells the child that nobody needs it any more.
    stdin: Option<ChildStdin>,
    tail: LastLines,
    reader: Option<tokio::task::JoinHandle<()>>,
    pub socket_path: PathBuf,
    pub since: Instant,
}

impl ChildProcess {
    pub async fn start(
        command: &ChildCommand,
        token: &SecretString,
        socket_path: PathBuf,
    ) -> Result<Self, LocalModelError> {
        let mut child = Command::new(&command.program)
            .args(&command.args)
            .env_clear()
            .envs(command.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A Ctrl-C in the terminal is for the parent to handle.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| LocalModelError::Spawn { program: command.program.clone(), source })?;
        let tail = LastLines::default();
        let reader = child.stderr.take().map(|stream| tail.follow(stream));
        let mut stdin = child.stdin.take();
        let line = Endpoint { socket_path: socket_path.clone(), token: token.clone() }.to_line()?;
        if let Some(pipe) = &mut stdin {
            // A child that has already ended is noticed while waiting for its readiness.
            let _ = pipe.write_all(line.as_bytes()).await;
        }
        Ok(Self { child, stdin, tail, reader, socket_path, since: Instant::now() })
    }

    /// `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub async fn stderr_tail(&mut self) -> Vec<String> {
        if let Some(reader) = self.reader.take() {
            // A grandchild could hold the pipe open for ever.
            let _ = tokio::time::timeout(Duration::from_millis(500), reader).await;
        }
        self.tail.lines()
    }

    /// Closes its standard input, and kills it if it has not ended after `grace`.
    pub async fn stop(mut self, grace: Duration) {
        drop(self.stdin.take());
        if tokio::time::timeout(grace, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
        let _ = std::fs::remove_file(&self.socket_path);
    }
}

const LINES: usize = 12;
const LINE_BYTES: usize = 400;

#[derive(Debug, Clone, Default)]
struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
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

    /// Oldest first.
    pub fn lines(&self) -> Vec<String> {
        lock(&self.0).iter().cloned().collect()
    }

    fn push(&self, line: String) {
        let mut lines = lock(&self.0);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// Whether the server at `socket` has loaded its model. Written by hand: this one request is all the HTTP that is needed
/// here.
pub(crate) async fn is_ready(socket: &Path, token: &SecretString) -> bool {
    let answer = tokio::time::timeout(Duration::from_secs(2), exchange(socket, token)).await;
    matches!(answer, Ok(Ok(text)) if is_ok(&text))
}

async fn exchange(socket: &Path, token: &SecretString) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket).await?;
    let request = format!(
        "GET /health HTTP/1.1\r\nhost: local\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        token.expose_secret()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(16 << 10).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn is_ok(answer: &str) -> bool {
    answer.split(' ').nth(1) == Some("200")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        assert!(is_ok("HTTP/1.1 200 OK\r\n\r\n{}"));
        for other in ["HTTP/1.1 503 x\r\na: b\r\n\r\n{\"progress\":0.5}", "HTTP/1.1 401 x\r\n\r\n", ""] {
            assert!(!is_ok(other), "{other}");
        }
    }
}
