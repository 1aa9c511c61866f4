//! Runs what is not trusted: programs confined by the operating system, files confined to a workspace, and SQL that
//! can only do what a policy allows. Reads texts whose form nobody declared. Knows nothing of agents or runs.

pub mod attempt;
pub mod files;
pub mod helper;
pub mod host;
pub mod memory;
pub mod process;
pub mod python;
pub mod sql;
pub mod text;

/// The lines of a data file that are neither empty nor comments.
fn data_lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}
