//! The commands, as a client of the HTTP API.
#![warn(clippy::print_stdout, clippy::print_stderr)]

// First, since its `println!` is for all others.
#[macro_use]
pub mod term;
pub mod client;
pub mod commands;
pub mod options;

pub use commands::{Command, Files, Needs, run};
