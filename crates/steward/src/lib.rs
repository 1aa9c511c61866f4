//! The program: settings, composition, commands.

pub mod api_state;
mod application;
mod certificate;
pub mod cli;
pub mod commands;
pub mod compose;
#[cfg(feature = "failpoints")]
pub mod crash;
mod health;
pub mod integrations;
mod live;
mod nats;
pub mod processes;
mod serving;
pub mod settings;
pub mod start;
pub mod telemetry;
mod tenants;
mod transport;

pub use steward_cli::{exit, term};
pub use transport::open;
