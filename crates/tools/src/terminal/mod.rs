//! `terminal`: allow-listed commands as argument vectors, in the OS sandbox, never through a shell.

mod allow;
mod tool;

pub use allow::{Command, Risk};
pub use tool::{Terminal, TerminalConfig};

/// Whether a command of this name is on the list that comes with the program.
pub(crate) fn knows(name: &str) -> bool {
    static KNOWN: std::sync::OnceLock<Option<allow::Allowed>> = std::sync::OnceLock::new();
    KNOWN
        .get_or_init(|| allow::standard().ok())
        .as_ref()
        .is_some_and(|known| known.contains_key(name))
}
