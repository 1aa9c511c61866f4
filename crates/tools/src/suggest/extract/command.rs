//! A command line in a request, as an argument vector.

/// Splits a command line; `None` where it is no single command.
pub fn split(line: &str) -> Option<Vec<String>> {
    crate::terminal::split_command_line(line).ok()
}
