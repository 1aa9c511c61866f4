//! Inline Python: `def run(payload)` in a process that has only memory, time and its own pipes. A warm interpreter
//! (`data/python/zygote.py`) in the sandbox forks for each call; the fork takes a filter of permitted system calls,
//! runs the code, answers and ends. The guard of imports is only for clear messages (decision 016).

mod call;
mod pool;
mod result;
mod start;
mod syscall_filter;
mod zygote;

pub use pool::{Interpreter, PythonPool};

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::data_lines;
use super::process::Tier;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonConfig {
    /// `None`: the system's, else the first `python3` in `search`. CPython 3.10 or later.
    pub interpreter: Option<PathBuf>,
    /// Folders to look for `python3` in, such as those of PATH.
    pub search: Vec<PathBuf>,
    /// Calls at the same time; further ones wait. Default 8.
    pub concurrency: usize,
}

impl Default for PythonConfig {
    fn default() -> Self {
        Self { interpreter: None, search: Vec::new(), concurrency: 8 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PythonLimits {
    /// After which the process is killed. Default 5 s.
    pub wall: Duration,
    /// Beyond what the interpreter has anyway. Default 128 MiB.
    pub memory_bytes: u64,
    /// Kept of each of stdout and stderr; the rest is dropped. Default 64 KiB.
    pub output_bytes: usize,
    /// Of the result as JSON. Default 1 MiB.
    pub result_bytes: usize,
}

impl Default for PythonLimits {
    fn default() -> Self {
        Self { wall: Duration::from_secs(5), memory_bytes: 128 << 20, output_bytes: 64 << 10, result_bytes: 1 << 20 }
    }
}

/// Largest code of one call, bytes.
const MOST_CODE: usize = 256 << 10;

/// Largest payload of one call as JSON, bytes.
const MOST_PAYLOAD: usize = 8 << 20;

/// Modules that code may import.
fn allowed() -> Vec<&'static str> {
    data_lines(include_str!("../data/python/allowed.txt")).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    Raised,
    Syntax,
    /// There is no function `run`, or it does not take the payload alone and return.
    NoEntry,
    /// It imports a module that is not offered.
    ImportRefused,
    /// The operating system refused something: files, processes and the network are not available.
    Denied,
    Timeout,
    Memory,
    /// The result, or what bypassed the capture of output, was too large.
    Output,
    /// The process ended without a result, or was killed.
    Killed,
    ResultNotJson,
    /// The code or the payload is larger than a call takes.
    Input,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}. {hint}")]
pub struct PythonFault {
    pub kind: FaultKind,
    /// Such as `ValueError: no such day (line 3)`.
    pub message: String,
    pub hint: String,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PythonOutcome {
    /// What `run` returned, as JSON.
    pub result: Result<Value, PythonFault>,
    /// Up to the limit; invalid UTF-8 is replaced.
    pub stdout: String,
    /// Up to the limit; invalid UTF-8 is replaced.
    pub stderr: String,
    pub truncated: bool,
    /// From the request to the end of the process, without waiting for a place.
    pub ms: u64,
    pub tier: Tier,
}

impl PythonOutcome {
    /// `ok`, `truncated` (a result, but output was dropped), `timeout`, `memory`, or `blocked` for every other end
    /// without a result; [`PythonFault::kind`] says which.
    pub fn word(&self) -> &'static str {
        match &self.result {
            Ok(_) if self.truncated => "truncated",
            Ok(_) => "ok",
            Err(fault) => match fault.kind {
                FaultKind::Timeout => "timeout",
                FaultKind::Memory => "memory",
                _ => "blocked",
            },
        }
    }
}
