use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use super::SandboxError;
use super::helper_message::{self, Report};
use super::kill_handle::KillHandle;
use super::launch::{Launched, Resources};
use super::run;
use super::spec::{CommandSpec, Exit, Output, Privileges, Tier};

/// How long a program that opened no listener may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Dropping it kills the program and everything it has started.
#[derive(Debug)]
pub struct Session {
    pub tier: Tier,
    pub privileges: Privileges,
    streams: Option<(ChildStdin, ChildStdout)>,
    gate: Option<TcpListener>,
    end: Option<JoinHandle<(Option<Report>, Output)>>,
    program: String,
    _kill_handle: KillHandle,
    _resources: Resources,
}

impl Session {
    pub(super) async fn begin(launched: Launched, tier: Tier, spec: CommandSpec) -> Result<Self, SandboxError> {
        let Launched { mut child, kill_handle, status, gate, preamble, privileges, resources } = launched;
        let gone = || SandboxError::Io(std::io::Error::other("a stream of the program is missing"));
        let mut stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        stdin.write_all(&preamble).await?;
        stdin.write_all(&spec.stdin).await?;
        let mut end = tokio::spawn(watch(child, status, spec.limits.output_bytes));
        let program = spec.argv.first().cloned().unwrap_or_default();
        let gate = match gate {
            None => None,
            Some(stream) => match helper_message::receive_listener(stream).await {
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
            _kill_handle: kill_handle,
            _resources: resources,
        })
    }

    /// `None` on the second call.
    pub fn streams(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.streams.take()
    }

    /// The listener on its loopback, if the specification asks for one; `None` on the second call.
    pub fn gate(&mut self) -> Option<TcpListener> {
        self.gate.take()
    }

    /// Waits for the end; returns the exit and the beginning of stderr. Call it once.
    pub async fn ending(&mut self) -> Result<(Exit, Output), SandboxError> {
        let (report, stderr) = match self.end.take() {
            Some(end) => end.await.map_err(|error| SandboxError::Io(std::io::Error::other(error)))?,
            None => (None, Output::default()),
        };
        let exit = match report {
            // Nobody watches these limits of a service; they show as its end by a signal.
            None => Exit::Signaled(libc::SIGKILL),
            report => run::exit_of(&self.program, report, &stderr)?,
        };
        Ok((exit, stderr))
    }
}

/// The error for a missing listener, which the program's end explains best.
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
    let stderr = run::capture(child.stderr.take(), keep);
    let (stderr, report, _) = tokio::join!(stderr, run::read_report(status), child.wait());
    (report, stderr)
}
