//! The program: settings, composition, commands.

pub mod api_state;
pub mod browser;
pub mod cli;
pub mod commands;
pub mod compose;
#[cfg(feature = "failpoints")]
pub mod crash;
mod extra;
pub mod integrations;
mod open;
pub mod processes;
mod serving;
pub mod settings;
pub mod start;
pub mod telemetry;

pub use open::open;
pub use steward_cli::{exit, term};
