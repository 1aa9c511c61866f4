use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};

use super::tail::Tail;
use super::{ChildCommand, SupervisorOptions};
use crate::local::{Handshake, LocalModelError};

/// A started child.
pub(super) struct Running {
    child: Child,
    /// Held open: its end tells the child that nobody needs it any more.
    stdin: Option<ChildStdin>,
    tail: Tail,
    reader: Option<tokio::task::JoinHandle<()>>,
    pub socket_path: PathBuf,
    pub since: Instant,
}

impl Running {
    pub async fn start(
        command: &ChildCommand,
        options: &SupervisorOptions,
        socket_path: PathBuf,
    ) -> Result<Self, LocalModelError> {
        let mut child = Command::new(&command.program)
            .args(&command.args)
            .env_clear()
            .envs(command.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A Ctrl-C in the terminal is the parent's to handle.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| LocalModelError::Spawn { program: command.program.clone(), source })?;
        let tail = Tail::default();
        let reader = child.stderr.take().map(|stream| tail.follow(stream));
        let mut stdin = child.stdin.take();
        let line = Handshake { socket_path: socket_path.clone(), token: options.token.clone() }.to_line()?;
        if let Some(pipe) = &mut stdin {
            // A child that has ended already is noticed by the wait for its readiness.
            let _ = pipe.write_all(line.as_bytes()).await;
        }
        Ok(Self { child, stdin, tail, reader, socket_path, since: Instant::now() })
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Its last words; after its end, all of them.
    pub async fn last_words(&mut self) -> Vec<String> {
        if let Some(reader) = self.reader.take() {
            // A grandchild could hold the pipe open for ever.
            let _ = tokio::time::timeout(Duration::from_millis(500), reader).await;
        }
        self.tail.lines()
    }

    /// Ends it, by asking first.
    pub async fn stop(mut self, grace: Duration) {
        drop(self.stdin.take());
        if tokio::time::timeout(grace, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
        let _ = std::fs::remove_file(&self.socket_path);
    }
}
