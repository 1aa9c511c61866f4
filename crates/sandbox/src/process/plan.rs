//! What is said between this process and the helper.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::spec::{Limits, Tier};

/// Everything the helper needs, sent on its stdin before the command's own bytes: a length of four bytes (little
/// endian), then JSON. Not in the arguments, since those are visible to every user of the machine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub tier: Tier,
    pub limits: Limits,
    /// Folders and files of the Landlock tier.
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Where the listener of the loopback is handed over; it may then use sockets on that loopback.
    pub gate: Option<i32>,
    /// Landlock ABI of the kernel.
    pub landlock_abi: i32,
    /// Become this user and group.
    pub drop_to: Option<u32>,
    /// `RLIMIT_NPROC`: all processes that the command's user may have, the present ones included.
    pub most_processes: Option<u64>,
    /// Serves until it is killed, so nothing but its end is watched.
    pub service: bool,
    /// The process that must be the helper's parent (Landlock tier).
    pub parent: Option<u32>,
}

/// One line on the status pipe.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    Exited(i32),
    Signaled(i32),
    Tripped(Tripped),
    Failed(Failure),
}

/// A limit that only the helper can watch.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tripped {
    Memory,
    Processes,
    Wall,
}

/// A step that failed before the command ran.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub stage: Stage,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    Plan,
    Fork,
    Network,
    WorkingFolder,
    Privileges,
    Landlock,
    Limits,
    Seccomp,
    Exec,
}
