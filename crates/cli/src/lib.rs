//! The commands, as a client of the HTTP API.

pub mod args;
pub mod client;
pub mod commands;
pub mod exit;
mod run;
pub mod term;

pub use args::Command;
pub use run::{Files, Needs, run};
