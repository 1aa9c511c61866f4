//! Inline Python: `def run(payload)` in a process of its own, with nothing at hand but memory, time and its own pipes.
//!
//! A warm interpreter (`data/python/zygote.py`) that has imported the allowed modules waits inside the sandbox of
//! [`crate::process`], without network, files of its own, privileges or environment. For each call it forks; the fork
//! takes a system call filter that is a list of permissions (`filter`), in which there is no opening, no socket, no
//! other process and no executable memory, runs the code, answers on its own pipe and ends. The guard of imports inside
//! Python is there for clear messages only. Decision 019 has the figures.

mod call;
mod check;
mod config;
mod control;
mod filter;
mod frame;
mod interpreter;
mod outcome;
mod pool;
mod start;
mod zygote;

pub use config::{PythonConfig, PythonLimits};
pub use outcome::{FaultKind, PythonFault, PythonOutcome};
pub use pool::{Interpreter, PythonPool};
