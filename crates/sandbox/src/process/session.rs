//! A confined program that is talked to over its streams for as long as it is wanted.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use super::error::SandboxError;
use super::gate;
use super::launch::{Held, Launched};
use super::leash::Leash;
use super::plan::Report;
use super::spec::{CommandSpec, Exit, Output, Privileges, Tier};
use super::{capture::capture, run};

/// How long a program that gave no listener may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Longest line of the status pipe.
const STATUS: u64 = 64 << 10;

/// A running program. Dropping it kills it and everything it has started.
#[derive(Debug)]
pub struct Session {
    /// How it is confined.
    pub tier: Tier,
    /// As whom it runs.
    pub privileges: Privileges,
    streams: Option<(ChildStdin, ChildStdout)>,
    gate: Option<TcpListener>,
    end: Option<JoinHandle<(Option<Report>, Output)>>,
    program: String,
    _leash: Leash,
    _held: Held,
}

impl Session {
    pub(super) async fn begin(launched: Launched, tier: Tier, spec: CommandSpec) -> Result<Self, SandboxError> {
        let Launched { mut child, leash, status, gate, preamble, privileges, held } = launched;
        let gone = || SandboxError::Io(std::io::Error::other("a stream of the program is missing"));
        let mut stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        stdin.write_all(&preamble).await?;
        stdin.write_all(&spec.stdin).await?;
        let mut end = tokio::spawn(watch(child, status, spec.limits.output_bytes));
        let program = spec.argv.first().cloned().unwrap_or_default();
        let gate = match gate {
            None => None,
            Some(stream) => match gate::receive(stream).await {
                Ok(listener) => Some(listener),
                Err(error) => return Err(without_gate(&program, &mut end, error).await),
            },
        };
        Ok(Self {
            tier,
            privileges,
            streams: Some((stdin, stdout)),
            gate,
            end: Some(end),
            program,
            _leash: leash,
            _held: held,
        })
    }

    /// Its stdin and stdout; `None` the second time.
    pub fn streams(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.streams.take()
    }

    /// The listener on its loopback, if the specification wants one; `None` the second time.
    pub fn gate(&mut self) -> Option<TcpListener> {
        self.gate.take()
    }

    /// Waits for its end, and returns how it ended and the beginning of what it wrote to stderr. To be asked once.
    ///
    /// # Errors
    /// [`SandboxError::NotExecutable`] or [`SandboxError::Setup`] where it never ran.
    pub async fn ending(&mut self) -> Result<(Exit, Output), SandboxError> {
        let (report, stderr) = match self.end.take() {
            Some(end) => end.await.map_err(|error| SandboxError::Io(std::io::Error::other(error)))?,
            None => (None, Output::default()),
        };
        let exit = match report {
            // Nobody watches these limits of a service; they stand for its end by a signal.
            None => Exit::Signaled(libc::SIGKILL),
            report => run::exit_of(&self.program, report, &stderr)?,
        };
        Ok((exit, stderr))
    }
}

/// Why the listener did not come: how the program ended says it best.
async fn without_gate(
    program: &str,
    end: &mut JoinHandle<(Option<Report>, Output)>,
    error: std::io::Error,
) -> SandboxError {
    match tokio::time::timeout(PATIENCE, end).await {
        Ok(Ok((report, stderr))) => match run::exit_of(program, report, &stderr) {
            Err(why) => why,
            Ok(_) => SandboxError::Io(error),
        },
        _ => SandboxError::Io(error),
    }
}

async fn watch(mut child: Child, status: tokio::net::unix::pipe::Receiver, keep: usize) -> (Option<Report>, Output) {
    let err = child.stderr.take();
    let stderr = async {
        match err {
            Some(stream) => capture(stream, keep).await,
            None => Output::default(),
        }
    };
    let report = async {
        let mut text = Vec::new();
        let _ = status.take(STATUS).read_to_end(&mut text).await;
        text.split(|byte| *byte == b'\n').find_map(|line| serde_json::from_slice::<Report>(line).ok())
    };
    let (stderr, report, _) = tokio::join!(stderr, report, child.wait());
    (report, stderr)
}
