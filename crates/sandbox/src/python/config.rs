use std::path::PathBuf;
use std::time::Duration;

/// Where to find Python, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonConfig {
    /// The interpreter; `None`: the system's, else the first `python3` in `search`. CPython 3.10 or later.
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

/// Bounds of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PythonLimits {
    /// Wall time, after which the process is killed. Default 5 s.
    pub wall: Duration,
    /// Bytes of memory beyond what the interpreter has anyway. Default 128 MiB.
    pub memory_bytes: u64,
    /// Bytes kept of each of stdout and stderr; the rest is dropped. Default 64 KiB.
    pub output_bytes: usize,
    /// Bytes of the result as JSON. Default 1 MiB.
    pub result_bytes: usize,
}

impl Default for PythonLimits {
    fn default() -> Self {
        Self { wall: Duration::from_secs(5), memory_bytes: 128 << 20, output_bytes: 64 << 10, result_bytes: 1 << 20 }
    }
}

/// Bytes of the code of one call.
pub(super) const MOST_CODE: usize = 256 << 10;

/// Bytes of the payload of one call, as JSON.
pub(super) const MOST_PAYLOAD: usize = 8 << 20;

/// The allowed modules, as in `data/python/allowed.txt`.
pub(super) fn allowed() -> Vec<&'static str> {
    lines(include_str!("../../data/python/allowed.txt"))
}

pub(super) fn warm() -> Vec<&'static str> {
    lines(include_str!("../../data/python/warm.txt"))
}

pub(super) fn internal() -> Vec<&'static str> {
    lines(include_str!("../../data/python/internal.txt"))
}

fn lines(text: &'static str) -> Vec<&'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}
