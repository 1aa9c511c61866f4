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

/// Whether a command of this name is on the list that comes with the program.
pub(crate) fn knows(name: &str) -> bool {
    static KNOWN: std::sync::OnceLock<Option<allow::Allowed>> = std::sync::OnceLock::new();
    KNOWN
        .get_or_init(|| allow::list(TerminalConfig::default()).ok())
        .as_ref()
        .is_some_and(|known| known.contains_key(name))
}
