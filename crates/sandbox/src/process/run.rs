//! One command from start to end.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::bwrap::{self, Users};
use super::caps::Capabilities;
use super::capture::capture;
use super::cgroup::Group;
use super::error::SandboxError;
use super::leash::Leash;
use super::mounts::{self, ETC, Resolved, SYSTEM};
use super::plan::{Failure, Plan, Report, Stage, Tripped};
use super::privileges::{NOBODY, can_drop, is_root};
use super::sandbox::Helper;
use super::spawn::spawn;
use super::spec::{CommandSpec, Exit, Limits, Outcome, Output, Privileges, Tier, Tripwire};
use crate::helper::tasks_of_user;

/// How long a killed command may take to be gone.
const GRACE: Duration = Duration::from_secs(5);

/// Files below /proc and /dev that the Landlock tier shows, beside the process's own.
const LANDLOCK_READ: &[&str] = &[
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/filesystems",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
];

pub(super) async fn run(
    helper: &Helper,
    capabilities: &Capabilities,
    tier: Tier,
    spec: CommandSpec,
    cancel: &CancellationToken,
) -> Result<Outcome, SandboxError> {
    let resolved = mounts::resolve(&spec)?;
    let started = Instant::now();
    let dropping = is_root() && can_drop(&resolved, tier);
    let group = if is_root() {
        Group::new(spec.limits.processes)
    } else {
        None
    };
    // Without a namespace only the kernel's count holds back a program that does nothing but fork.
    if tier == Tier::Landlock && is_root() && !dropping && group.is_none() {
        return Err(uncounted(&resolved));
    }
    let privileges = match (is_root(), dropping) {
        (false, _) => Privileges::User,
        (true, true) => Privileges::Dropped,
        (true, false) => Privileges::RootWithoutCapabilities,
    };
    // Bubblewrap brings its own /tmp; Landlock cannot, so the command gets a folder that goes when it does.
    let own_tmp = match tier {
        Tier::Namespaces => None,
        Tier::Landlock => Some(private_tmp(dropping)?),
    };
    let tmp = own_tmp
        .as_ref()
        .map_or(Path::new("/tmp"), tempfile::TempDir::path);
    let mut plan = plan(
        &spec,
        &resolved,
        tier,
        capabilities.landlock_abi,
        dropping,
        tmp,
    );
    // The group counts the command alone, the limit by user whatever else runs as that user.
    if group.is_some() {
        plan.most_processes = None;
    }
    let (status_in, status_out) = status_pipe()?;
    let command = command(
        helper,
        capabilities,
        tier,
        &resolved,
        &spec.limits,
        dropping,
        &status_out,
    )?;
    let child = spawn(command, &status_out, group.as_ref()).await?;
    drop(status_out);
    let leash = Leash::new(child.id(), tier);
    let mut stdin = serde_json::to_vec(&plan).map_err(|e| SandboxError::Invalid(e.to_string()))?;
    stdin.splice(
        0..0,
        u32::try_from(stdin.len()).unwrap_or(u32::MAX).to_le_bytes(),
    );
    stdin.extend_from_slice(&spec.stdin);
    let work = attend(child, stdin, status_in, spec.limits.output_bytes);
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
            tokio::time::timeout(GRACE, &mut work)
                .await
                .map_err(|_| stuck())?
        }
    };
    leash.release();
    let exit = match stopped {
        Some(exit) => exit,
        None => exit_of(&spec.argv[0], finished.report, &finished.stderr)?,
    };
    let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Outcome {
        exit,
        stdout: finished.stdout,
        stderr: finished.stderr,
        wall_ms,
        tier,
        privileges,
    })
}

fn uncounted(resolved: &Resolved) -> SandboxError {
    let workspace = resolved.workspace.display();
    SandboxError::Unavailable {
        missing: format!("processes of root cannot be limited without a pids control group, and nobody may not use {workspace}"),
        hint: "Install bubblewrap (package `bubblewrap`), run this program as an ordinary user, or give `nobody` access \
               to the workspace"
            .to_owned(),
    }
}

fn stuck() -> SandboxError {
    SandboxError::Setup {
        step: "end".to_owned(),
        reason: "the command could not be killed".to_owned(),
    }
}

/// World-usable inside a private parent would be simpler, but the path must be walkable for the dropped user.
fn private_tmp(dropping: bool) -> Result<tempfile::TempDir, SandboxError> {
    let dir = tempfile::Builder::new().prefix("sandbox-").tempdir()?;
    if dropping {
        std::os::unix::fs::chown(dir.path(), Some(NOBODY), Some(NOBODY))?;
    }
    Ok(dir)
}

fn status_pipe() -> Result<(pipe::Receiver, OwnedFd), SandboxError> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(std::io::Error::from)?;
    Ok((pipe::Receiver::from_owned_fd(read)?, write))
}

fn plan(
    spec: &CommandSpec,
    resolved: &Resolved,
    tier: Tier,
    landlock_abi: i32,
    dropping: bool,
    tmp: &Path,
) -> Plan {
    let mut read: Vec<_> = SYSTEM
        .iter()
        .chain(ETC)
        .chain(LANDLOCK_READ)
        .map(Into::into)
        .collect();
    read.extend(resolved.read_paths.iter().cloned());
    let mut write = vec!["/dev/null".into(), tmp.to_owned()];
    if resolved.writable {
        &mut write
    } else {
        &mut read
    }
    .push(resolved.workspace.clone());
    Plan {
        argv: spec.argv.clone(),
        cwd: resolved.cwd.clone(),
        env: mounts::environment(spec, &resolved.workspace, tmp),
        tier,
        limits: spec.limits.clone(),
        read,
        write,
        landlock_abi,
        drop_to: dropping.then_some(NOBODY),
        most_processes: most_processes(&spec.limits, tier, dropping),
        parent: (tier == Tier::Landlock).then(std::process::id),
    }
}

/// The kernel counts a user's processes in its user namespace, and never those of root.
fn most_processes(limits: &Limits, tier: Tier, dropping: bool) -> Option<u64> {
    let present = match (is_root(), tier) {
        (true, _) if dropping => tasks_of_user(NOBODY),
        (true, _) => return None,
        // A namespace of its own, with nothing in it but the helper.
        (false, Tier::Namespaces) => 1,
        (false, Tier::Landlock) => tasks_of_user(rustix::process::getuid().as_raw()),
    };
    Some(present + limits.processes)
}

fn command(
    helper: &Helper,
    capabilities: &Capabilities,
    tier: Tier,
    resolved: &Resolved,
    limits: &Limits,
    dropping: bool,
    status: &OwnedFd,
) -> Result<Command, SandboxError> {
    use std::os::fd::AsRawFd as _;
    let fd = status.as_raw_fd();
    match tier {
        Tier::Namespaces => {
            let users = match (is_root(), dropping) {
                (false, _) => Users::Own,
                (true, false) => Users::RootMapped,
                (true, true) => Users::RootDropping,
            };
            let bwrap = capabilities
                .bubblewrap
                .as_ref()
                .ok_or_else(|| capabilities.unavailable())?;
            let mut command = Command::new(bwrap);
            command.args(bwrap::arguments(helper, resolved, limits, users, fd));
            Ok(command)
        }
        Tier::Landlock => {
            let mut command = Command::new(&helper.program);
            command.args(&helper.prefix).arg("run").arg(fd.to_string());
            Ok(command)
        }
    }
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
    mut status: pipe::Receiver,
    keep: usize,
) -> Finished {
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
        text.split(|b| *b == b'\n')
            .find_map(|line| serde_json::from_slice::<Report>(line).ok())
    };
    let ((), stdout, stderr, report, _) = tokio::join!(feed, stdout, stderr, report, child.wait());
    Finished {
        report,
        stdout,
        stderr,
    }
}

async fn read(stream: Option<impl AsyncRead + Unpin>, keep: usize) -> Output {
    match stream {
        Some(stream) => capture(stream, keep).await,
        None => Output::default(),
    }
}

fn exit_of(program: &str, report: Option<Report>, stderr: &Output) -> Result<Exit, SandboxError> {
    match report {
        Some(Report::Exited(code)) => Ok(Exit::Exited(code)),
        Some(Report::Signaled(libc::SIGXCPU)) => Ok(Exit::LimitExceeded(Tripwire::Cpu)),
        Some(Report::Signaled(libc::SIGXFSZ)) => Ok(Exit::LimitExceeded(Tripwire::FileSize)),
        Some(Report::Signaled(signal)) => Ok(Exit::Signaled(signal)),
        Some(Report::Tripped(Tripped::Memory)) => Ok(Exit::LimitExceeded(Tripwire::Memory)),
        Some(Report::Tripped(Tripped::Processes)) => Ok(Exit::LimitExceeded(Tripwire::Processes)),
        Some(Report::Tripped(Tripped::Wall)) => Ok(Exit::TimedOut),
        Some(Report::Failed(Failure {
            stage: Stage::Exec,
            message,
        })) => Err(SandboxError::NotExecutable {
            program: program.to_owned(),
            reason: message,
        }),
        Some(Report::Failed(Failure { stage, message })) => Err(SandboxError::Setup {
            step: format!("{stage:?}").to_lowercase(),
            reason: message,
        }),
        // The helper never spoke: bubblewrap or the loader said why, or the whole tree was killed from outside.
        None => {
            let said = stderr.text();
            let reason = if said.trim().is_empty() {
                "the launcher ended without a word"
            } else {
                said.trim()
            };
            Err(SandboxError::Setup {
                step: "start".to_owned(),
                reason: reason.chars().take(500).collect(),
            })
        }
    }
}
