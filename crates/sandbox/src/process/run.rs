use std::convert::Infallible;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

use super::helper_message::{Failure, Report, Stage, Tripped};
use super::launch::{Launch, Launched};
use super::machine_support::Capabilities;
use super::spec::{CommandSpec, Exit, Outcome, Output, Tier, Tripwire};
use super::{Helper, SandboxError};

/// How long a killed command may take to be gone.
const GRACE: Duration = Duration::from_secs(5);

pub(super) async fn run(
    helper: &Helper,
    capabilities: &Capabilities,
    tier: Tier,
    spec: CommandSpec,
    input: impl AsyncRead + Unpin,
    cancel: &CancellationToken,
) -> Result<Outcome, SandboxError> {
    let started = Instant::now();
    let launch = Launch { helper, capabilities, tier, spec: &spec, service: false, stdout: Stdio::piped() };
    let Launched { child, kill_handle, status, preamble: mut stdin, privileges, gate: _, resources: _resources } =
        launch.start().await?;
    stdin.extend_from_slice(&spec.stdin);
    let work = attend(child, stdin, input, status, spec.limits.output_bytes);
    tokio::pin!(work);
    let (stopped, finished) = tokio::select! {
        finished = &mut work => (None, Some(finished)),
        () = tokio::time::sleep(spec.limits.wall) => (Some(Exit::TimedOut), None),
        () = cancel.cancelled() => (Some(Exit::Cancelled), None),
    };
    let finished = if let Some(finished) = finished {
        finished
    } else {
        kill_handle.terminate();
        if let Ok(finished) = tokio::time::timeout(GRACE, &mut work).await {
            finished
        } else {
            kill_handle.kill();
            tokio::time::timeout(GRACE, &mut work).await.map_err(|_| stuck())?
        }
    };
    kill_handle.release();
    let exit = match stopped {
        Some(exit) => exit,
        None => exit_of(&spec.argv[0], finished.report, &finished.stderr)?,
    };
    let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Outcome { exit, stdout: finished.stdout, stderr: finished.stderr, wall_ms, tier, privileges })
}

fn stuck() -> SandboxError {
    SandboxError::Setup { step: "end".to_owned(), reason: "the command could not be killed".to_owned() }
}

struct Finished {
    report: Option<Report>,
    stdout: Output,
    stderr: Output,
}

/// Feeds and reads the child until it and its streams have ended.
async fn attend(
    mut child: Child,
    stdin: Vec<u8>,
    mut more: impl AsyncRead + Unpin,
    status: pipe::Receiver,
    keep: usize,
) -> Finished {
    let (input, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let Some(mut input) = input {
            // A command may ignore its input.
            let _ = input.write_all(&stdin).await;
            let _ = tokio::io::copy(&mut more, &mut input).await;
        }
        std::future::pending::<Infallible>().await
    };
    let ended = async { tokio::join!(capture(out, keep), capture(err, keep), read_report(status), child.wait()) };
    // Its end is the end, whether or not there is more to feed.
    let (stdout, stderr, report, _) = tokio::select! {
        ended = ended => ended,
        never = feed => match never {},
    };
    Finished { report, stdout, stderr }
}

/// The first line that is a report: a command's own failure to start precedes the supervisor's report.
pub(super) async fn read_report(status: pipe::Receiver) -> Option<Report> {
    let mut text = Vec::new();
    let _ = status.take(64 << 10).read_to_end(&mut text).await;
    text.split(|byte| *byte == b'\n').find_map(|line| serde_json::from_slice(line).ok())
}

pub(super) fn exit_of(program: &str, report: Option<Report>, stderr: &Output) -> Result<Exit, SandboxError> {
    match report {
        Some(Report::Exited(code)) => Ok(Exit::Exited(code)),
        Some(Report::Signaled(libc::SIGXCPU)) => Ok(Exit::LimitExceeded(Tripwire::Cpu)),
        Some(Report::Signaled(libc::SIGXFSZ)) => Ok(Exit::LimitExceeded(Tripwire::FileSize)),
        Some(Report::Signaled(signal)) => Ok(Exit::Signaled(signal)),
        Some(Report::Tripped(Tripped::Memory)) => Ok(Exit::LimitExceeded(Tripwire::Memory)),
        Some(Report::Tripped(Tripped::Processes)) => Ok(Exit::LimitExceeded(Tripwire::Processes)),
        Some(Report::Tripped(Tripped::Wall)) => Ok(Exit::TimedOut),
        Some(Report::Failed(Failure { stage: Stage::Exec, message })) => {
            Err(SandboxError::NotExecutable { program: program.to_owned(), reason: message })
        }
        Some(Report::Failed(Failure { stage, message })) => {
            Err(SandboxError::Setup { step: format!("{stage:?}").to_lowercase(), reason: message })
        }
        // The helper reported nothing: bubblewrap or the loader said why, or the whole tree was killed from outside.
        None => {
            let said = stderr.text();
            let reason = if said.trim().is_empty() { "the launcher ended without a word" } else { said.trim() };
            Err(SandboxError::Setup { step: "start".to_owned(), reason: reason.chars().take(500).collect() })
        }
    }
}

/// Reads to the end and keeps only the beginning.
pub(crate) async fn capture(from: Option<impl AsyncRead + Unpin>, keep: usize) -> Output {
    match from {
        Some(from) => capture_with(from, keep, |_| {}).await,
        None => Output::default(),
    }
}

/// Calls `on_read` with the total after each piece.
pub(crate) async fn capture_with(
    mut from: impl AsyncRead + Unpin,
    keep: usize,
    mut on_read: impl FnMut(u64),
) -> Output {
    let mut output = Output::default();
    let mut buffer = vec![0u8; 16 << 10];
    // A read error means that the other side is gone, which is the end as well.
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        output.total += read as u64;
        let room = keep.saturating_sub(output.bytes.len()).min(read);
        output.bytes.extend_from_slice(&buffer[..room]);
        on_read(output.total);
    }
    output
}
