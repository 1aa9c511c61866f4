use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::process::Tier;

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The code raised an exception.
    Raised,
    /// The code is no valid Python.
    Syntax,
    /// There is no function `run`, or none that is called with the payload alone and returns.
    NoEntry,
    /// The code imports a module that is not offered.
    ImportRefused,
    /// The operating system refused something: files, processes and the network are not available.
    Denied,
    /// Killed at the wall time.
    Timeout,
    /// The memory cap was reached.
    Memory,
    /// The result, or what bypassed the capture of output, was too large.
    Output,
    /// The process ended without a result, or was killed.
    Killed,
    /// The result has no JSON form.
    ResultNotJson,
    /// The code or the payload is larger than one call takes.
    Input,
    /// The caller cancelled.
    Cancelled,
}

/// Why there is no result, for a person or a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}. {hint}")]
pub struct PythonFault {
    /// Which.
    pub kind: FaultKind,
    /// What happened, such as `ValueError: no such day (line 3)`.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// Line of the code, counted from 1, where one is to blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct PythonOutcome {
    /// What `run` returned, as JSON.
    pub result: Result<Value, PythonFault>,
    /// What it printed, up to the limit; what is no UTF-8 is replaced.
    pub stdout: String,
    /// What it wrote to standard error, likewise.
    pub stderr: String,
    /// Whether output was dropped.
    pub truncated: bool,
    /// Milliseconds from the request to the end of the process; waiting for a place is not counted.
    pub ms: u64,
    /// How it was confined.
    pub tier: Tier,
}

impl PythonOutcome {
    /// One word: `ok`, `truncated` (a result, but output was dropped), `timeout`, `memory`, or `blocked` for every
    /// other way of ending without a result; [`PythonFault::kind`] says which.
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
