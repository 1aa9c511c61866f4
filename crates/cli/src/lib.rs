//! The commands, as a client of the HTTP API.

pub mod client;
pub mod commands;
mod options;
pub mod term;

pub use commands::{Command, Files, Needs, run};
