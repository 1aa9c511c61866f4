//! `terminal`: allow-listed commands as argument vectors, in the OS sandbox, never through a shell.

mod allow;
mod tool;

pub use allow::{Command, Risk};
pub use tool::{Terminal, TerminalConfig};
