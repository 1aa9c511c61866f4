use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::HostMount;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Default 30 s.
    pub wall: Duration,
    /// CPU seconds of each process. Default 30.
    pub cpu_s: u64,
    /// Address space of each process and resident memory of all together, bytes. Default 1 GiB.
    pub memory_bytes: u64,
    /// Processes and threads at the same time. Default 64.
    pub processes: u64,
    /// Resident memory of all processes of a session together, bytes; checked twice a second. Default: none.
    pub resident_bytes: Option<u64>,
    /// Largest file written, and size of the temporary folder where that can be bounded, bytes. Default 256 MiB.
    pub file_bytes: u64,
    /// Kept of each of stdout and stderr; the rest is counted and dropped. Default 1 MiB.
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

/// An argument vector, never a shell line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// A program without `/` is looked up in `PATH` of `env`.
    pub argv: Vec<String>,
    /// Visible at its own path; the user's other files are not visible.
    pub workspace: PathBuf,
    pub access: Access,
    /// Relative to the workspace; empty for the workspace.
    pub cwd: PathBuf,
    /// Further files and folders that may be read, absolute.
    pub read_paths: Vec<PathBuf>,
    /// Further files and folders that people named. What stands at their paths when the program starts must be what was
    /// checked. None of the system's may be changed.
    pub mounts: Vec<HostMount>,
    /// The environment beside `PATH`, `LANG`, `HOME` (the workspace) and `TMPDIR`, which it can override.
    pub env: BTreeMap<String, String>,
    /// The machine's own network, including private hosts. Off by default.
    pub network: bool,
    /// Gives it a loopback of its own with one listener, whose connections come to [`super::Session::gate`] and which
    /// is all the network it can reach. For sessions in the namespaces tier; `network` must be off.
    pub gate: bool,
    /// Bytes.
    pub stdin: Vec<u8>,
    pub limits: Limits,
}

impl CommandSpec {
    /// A command that may change only `workspace`, with the default limits.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>, workspace: impl AsRef<Path>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            workspace: workspace.as_ref().to_owned(),
            access: Access::ReadWrite,
            cwd: PathBuf::new(),
            read_paths: Vec::new(),
            mounts: Vec::new(),
            env: BTreeMap::new(),
            network: false,
            gate: false,
            stdin: Vec::new(),
            limits: Limits::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    Namespaces,
    Landlock,
}

impl Tier {
    /// What confines the files of a program.
    pub(crate) fn mechanism(self) -> &'static str {
        match self {
            Self::Namespaces => "bubblewrap",
            Self::Landlock => "Landlock",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privileges {
    User,
    /// This program runs as root, the command as `nobody`.
    Dropped,
    /// This program runs as root and `nobody` cannot use the workspace: root's file ownership, but no capability.
    RootWithoutCapabilities,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tripwire {
    /// Resident memory of all its processes.
    Memory,
    Processes,
    Cpu,
    FileSize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Exited(i32),
    Signaled(i32),
    TimedOut,
    Cancelled,
    LimitExceeded(Tripwire),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The beginning, up to the limit.
    pub bytes: Vec<u8>,
    /// Bytes written in total.
    pub total: u64,
}

impl Output {
    pub fn truncated(&self) -> bool {
        self.total > self.bytes.len() as u64
    }

    /// Invalid UTF-8 is replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub exit: Exit,
    pub stdout: Output,
    pub stderr: Output,
    /// From start to end, including the sandbox's own work.
    pub wall_ms: u64,
    pub tier: Tier,
    pub privileges: Privileges,
}
