//! Skills that run programs. Here: running a program, sandboxed or guarded, and what it printed.

mod ansible;
mod docker;
mod python;
mod shell;
pub(crate) mod workspace_changes;

pub use ansible::AnsibleExecutor;
pub use docker::DockerExecutor;
pub use python::{PythonExecutor, PythonProgram, PythonReply, PythonRunner};
pub(crate) use python::{compute, value_text};
pub use shell::ShellExecutor;

use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::outside_watch::OutsideWatch;
use crate::text;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use steward_sandbox::process::{CommandSpec, Exit, Limits, Outcome, Output, Sandbox, SandboxError};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

pub(super) const MEMORY: u64 = 1 << 30;
/// The program ends this much before the call, so that its outcome is known.
const END_MARGIN: Duration = Duration::from_millis(100);

/// Runs a program in the sandbox: how it ended, and what it read of the files from outside. Stopping the run kills it with all
/// that it has started.
pub(super) async fn run_sandboxed(
    sandbox: &Sandbox,
    mut spec: CommandSpec,
    context: &Context,
) -> Result<(Outcome, Vec<String>), ToolsError> {
    let wall = context.left();
    spec.limits = Limits {
        wall: wall.checked_sub(END_MARGIN).unwrap_or(wall / 2),
        cpu_s: wall.as_secs().max(1),
        memory_bytes: MEMORY,
        output_bytes: OUTPUT,
        ..Limits::default()
    };
    let watch = OutsideWatch::begin(&context.scope).await?;
    let cancel = CancellationToken::new();
    let work = sandbox.run(spec, &cancel);
    let outcome = context.or_cancel(&cancel, work).await.map_err(|error| match error {
        SandboxError::NotExecutable { program, reason } => {
            refused!("{program} can't be run on this machine ({reason}); ask an operator")
        }
        other => ToolsError::Refused(other.to_string()),
    })?;
    watch.end(outcome).await
}

pub(super) fn exit_text(exit: Exit) -> String {
    text::exit_text(exit, "exit status", MEMORY)
}

const OUTPUT: usize = 256 << 10;
const VENV: &str = "pyvenv.cfg";
/// How long a program gets to end by itself.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// Folders to search, such as those of PATH.
    pub search: Vec<PathBuf>,
    /// Those of them that an operator named: the sandbox shows their programs with what belongs to them.
    pub own: Vec<PathBuf>,
    /// Variables that are passed on, such as `DOCKER_HOST`.
    pub env: BTreeMap<String, String>,
}

impl Programs {
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        program_in(&self.search, name)
    }

    /// A program in an operator's own folder, by name.
    pub(super) fn own(&self, name: &str) -> Option<PathBuf> {
        program_in(&self.own, name).filter(|_| !name.contains('/'))
    }

    /// Nothing for a system program; else its folder, or its virtual environment with the Python it was made from.
    pub(super) fn readable(&self, program: &Path) -> Vec<PathBuf> {
        let Some(folder) = self.own.iter().find(|own| program.parent() == Some(own)) else {
            return Vec::new();
        };
        let venv = folder.parent().filter(|root| root.join(VENV).is_file());
        let Some(root) = venv else {
            return vec![folder.clone()];
        };
        let mut all = vec![root.to_owned()];
        if let Ok(python) = folder.join("python3").canonicalize()
            && let Some(home) = python.parent().and_then(Path::parent)
            && !home.starts_with("/usr")
            && has_library(home)
        {
            all.push(home.to_owned());
        }
        all
    }

    fn path(&self) -> std::ffi::OsString {
        std::env::join_paths(&self.search).unwrap_or_default()
    }
}

fn program_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn has_library(home: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(home.join("lib")) else {
        return false;
    };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
}

#[derive(Debug)]
pub(super) struct ProcessResult {
    /// Exit status; `None` if it was killed.
    pub code: Option<i32>,
    pub stdout: Output,
    pub stderr: Output,
    pub halted: bool,
}

impl ProcessResult {
    pub fn how(&self) -> String {
        match (self.halted, self.code) {
            (true, _) => "was stopped".to_owned(),
            (_, Some(code)) => format!("ended with exit status {code}"),
            (_, None) => "was killed".to_owned(),
        }
    }
}

/// Runs `program` until its end or the end of the call, with `home` as its HOME and working folder.
pub(super) async fn run_process(
    programs: &Programs,
    program: &Path,
    args: &[String],
    env: &BTreeMap<String, String>,
    home: &Path,
    context: &Context,
) -> Result<ProcessResult, ToolsError> {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .env("PATH", programs.path())
        .env("LANG", "C.UTF-8")
        .env("HOME", home)
        .envs(&programs.env)
        .envs(env)
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let name = program.display();
    let trouble = |error: std::io::Error| refused!("{name}: {error}");
    let mut child = command.spawn().map_err(trouble)?;
    let group = ProcessGroup::of(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let reading = async { tokio::join!(read_bounded(stdout), read_bounded(stderr)) };
    let work = async { tokio::join!(reading, child.wait()) };
    tokio::pin!(work);
    let (((stdout, stderr), status), halted) = tokio::select! {
        done = &mut work => (done, false),
        () = context.halt() => {
            group.signal(Signal::TERM);
            if let Ok(done) = tokio::time::timeout(GRACE_PERIOD, &mut work).await {
                (done, true)
            } else {
                group.signal(Signal::KILL);
                (work.await, true)
            }
        }
    };
    Ok(ProcessResult { code: status.map_err(trouble)?.code(), stdout, stderr, halted })
}

/// A program with all that it has started; dropping it kills what is left.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

async fn read_bounded(stream: Option<impl AsyncRead + Unpin>) -> Output {
    let mut output = Output::default();
    let Some(mut stream) = stream else {
        return output;
    };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(read) = stream.read(&mut buffer).await {
        if read == 0 {
            break;
        }
        output.total += read as u64;
        let room = OUTPUT - output.bytes.len();
        output.bytes.extend_from_slice(&buffer[..read.min(room)]);
    }
    output
}

/// What a model is shown of a program that ended well.
pub(super) fn printed_or_status(what: &str, text: String, status: i64) -> String {
    match (text.is_empty(), status) {
        (true, 0) => format!("(the {what} printed nothing)"),
        (true, status) => format!("(the {what} printed nothing, exit status {status})"),
        (false, _) => text,
    }
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}
