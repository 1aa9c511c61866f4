use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a command may do with the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Look at it.
    ReadOnly,
    /// Change it.
    ReadWrite,
}

/// Bounds of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall time. Default 30 s.
    pub wall: Duration,
    /// CPU seconds of each process. Default 30.
    pub cpu_s: u64,
    /// Memory, in bytes: address space of each process and resident memory of all together. Default 1 GiB.
    pub memory_bytes: u64,
    /// Processes and threads at the same time. Default 64.
    pub processes: u64,
    /// Resident memory of all processes of a session together, in bytes; looked at twice a second. Default: none.
    pub resident_bytes: Option<u64>,
    /// Largest file written, and size of the temporary folder where that can be bounded. Default 256 MiB.
    pub file_bytes: u64,
    /// Bytes kept of each of stdout and stderr; the rest is counted and dropped. Default 1 MiB.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(30),
            cpu_s: 30,
            memory_bytes: 1 << 30,
            processes: 64,
            resident_bytes: None,
            file_bytes: 256 << 20,
            output_bytes: 1 << 20,
        }
    }
}

/// A command to run: an argument vector, never a shell line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Program and arguments. A program without `/` is looked up in `PATH` of `env`.
    pub argv: Vec<String>,
    /// The folder that is visible at its own path; nothing else of the user's files is.
    pub workspace: PathBuf,
    /// What may be done with it.
    pub access: Access,
    /// Where to start, relative to the workspace; empty for the workspace.
    pub cwd: PathBuf,
    /// Further files and folders that may be read, absolute.
    pub read_paths: Vec<PathBuf>,
    /// Further files and folders that may be changed, absolute; none of the system's.
    pub write_paths: Vec<PathBuf>,
    /// The whole environment beside `PATH`, `LANG`, `HOME` (the workspace) and `TMPDIR`, which it can override.
    pub env: BTreeMap<String, String>,
    /// Whether it may use the network: the machine's own, private hosts included. Off by default.
    pub network: bool,
    /// Whether it gets a loopback of its own with one listener on it, whose connections come to
    /// [`super::Session::gate`]: all of the network that it can reach. For sessions in the namespaces tier; `network`
    /// must be off.
    pub gate: bool,
    /// Bytes given on stdin.
    pub stdin: Vec<u8>,
    /// Bounds.
    pub limits: Limits,
}

impl CommandSpec {
    /// A command that may change `workspace`, with nothing else allowed and the default limits.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>, workspace: impl AsRef<Path>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            workspace: workspace.as_ref().to_owned(),
            access: Access::ReadWrite,
            cwd: PathBuf::new(),
            read_paths: Vec::new(),
            write_paths: Vec::new(),
            env: BTreeMap::new(),
            network: false,
            gate: false,
            stdin: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// How a command was confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// bubblewrap and seccomp.
    Namespaces,
    /// Landlock and seccomp.
    Landlock,
}

/// As whom a command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privileges {
    /// As the ordinary user that this program runs as.
    User,
    /// This program runs as root, the command ran as `nobody`.
    Dropped,
    /// This program runs as root and `nobody` cannot use the workspace, so the command ran with root's file
    /// ownership, but without any capability.
    RootWithoutCapabilities,
}

/// A limit that ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tripwire {
    /// Resident memory of all its processes.
    Memory,
    /// Number of processes.
    Processes,
    /// CPU seconds.
    Cpu,
    /// Size of a file.
    FileSize,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// Killed at the wall time.
    TimedOut,
    /// Killed since the caller cancelled.
    Cancelled,
    /// Killed at another limit.
    LimitExceeded(Tripwire),
}

/// One captured stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The beginning, up to the limit.
    pub bytes: Vec<u8>,
    /// Bytes written in total.
    pub total: u64,
}

impl Output {
    /// Whether something is missing from `bytes`.
    pub fn truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// As text; what is no UTF-8 is replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to stdout.
    pub stdout: Output,
    /// What it wrote to stderr.
    pub stderr: Output,
    /// Milliseconds from start to end, the sandbox's own included.
    pub wall_ms: u64,
    /// How it was confined.
    pub tier: Tier,
    /// As whom it ran.
    pub privileges: Privileges,
}
