//! Allow-listed commands as argument vectors, in the OS sandbox, never through a shell: `terminal`
//! looks, `terminal_write` may change files of the workspace.

mod allow;
mod change;
mod config;
mod folder;
mod program;
mod tool;
mod words;

pub use allow::{Command, Risk};
pub use change::TerminalWrite;
pub use config::TerminalConfig;
pub use tool::Terminal;
pub use words::{Unsplit, split};
