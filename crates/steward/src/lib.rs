//! The program: settings, composition, commands.

pub mod backend;
pub mod book;
pub mod browser;
pub mod cli;
pub mod commands;
pub mod compose;
#[cfg(feature = "failpoints")]
pub mod crash;
pub mod daily;
pub mod exit;
mod extra;
pub mod front;
pub mod key_variables;
pub mod keys;
pub mod processes;
pub mod settings;
pub mod skills;
pub mod start;
pub mod telemetry;
pub mod term;
pub mod traces;
pub mod vault;
