//! One command from start to end.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

use super::caps::Capabilities;
use super::capture::capture;
use super::error::SandboxError;
use super::launch::{Launch, Launched};
use super::plan::{Failure, Report, Stage, Tripped};
use super::sandbox::Helper;
use super::spec::{CommandSpec, Exit, Outcome, Output, Tier, Tripwire};

/// How long a killed command may take to be gone.
const GRACE: Duration = Duration::from_secs(5);

pub(super) async fn run(
    helper: &Helper,
    capabilities: &Capabilities,
    tier: Tier,
    spec: CommandSpec,
    cancel: &CancellationToken,
) -> Result<Outcome, SandboxError> {
    let started = Instant::now();
    let launch = Launch { helper, capabilities, tier, spec: &spec, service: false, stdout: Stdio::piped() };
    let Launched { child, leash, status, preamble: mut stdin, privileges, gate: _, held: _held } =
        launch.start().await?;
    stdin.extend_from_slice(&spec.stdin);
    let work = attend(child, stdin, status, spec.limits.output_bytes);
    tokio::pin!(work);
    let (stopped, finished) = tokio::select! {
        finished = &mut work => (None, Some(finished)),
        () = tokio::time::sleep(spec.limits.wall) => (Some(Exit::TimedOut), None),
        () = cancel.cancelled() => (Some(Exit::Cancelled), None),
    };
    let finished = if let Some(finished) = finished {
        finished
    } else {
        leash.pull();
        if let Ok(finished) = tokio::time::timeout(GRACE, &mut work).await {
            finished
        } else {
            leash.cut();
            tokio::time::timeout(GRACE, &mut work).await.map_err(|_| stuck())?
        }
    };
    leash.release();
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
async fn attend(mut child: Child, stdin: Vec<u8>, mut status: pipe::Receiver, keep: usize) -> Finished {
    let (input, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let Some(mut input) = input {
            // A command need not read what it is given.
            let _ = input.write_all(&stdin).await;
        }
    };
    let stdout = read(out, keep);
    let stderr = read(err, keep);
    let report = async {
        let mut text = Vec::new();
        let _ = (&mut status).take(64 << 10).read_to_end(&mut text).await;
        // The command's own failure to start comes before the supervisor's word on how it ended.
        text.split(|b| *b == b'\n').find_map(|line| serde_json::from_slice::<Report>(line).ok())
    };
    let ((), stdout, stderr, report, _) = tokio::join!(feed, stdout, stderr, report, child.wait());
    Finished { report, stdout, stderr }
}

async fn read(stream: Option<impl AsyncRead + Unpin>, keep: usize) -> Output {
    match stream {
        Some(stream) => capture(stream, keep).await,
        None => Output::default(),
    }
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
        // The helper never spoke: bubblewrap or the loader said why, or the whole tree was killed from outside.
        None => {
            let said = stderr.text();
            let reason = if said.trim().is_empty() { "the launcher ended without a word" } else { said.trim() };
            Err(SandboxError::Setup { step: "start".to_owned(), reason: reason.chars().take(500).collect() })
        }
    }
}
