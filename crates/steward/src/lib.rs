//! The program: settings, composition, commands.

mod api_state;
mod application;
pub mod cli;
pub mod compose;
#[cfg(feature = "failpoints")]
mod crash;
pub mod doctor;
mod health;
mod nats;
mod open_files;
mod places;
pub mod retrieval;
pub mod serve;
mod serving;
pub mod settings;
pub mod start;
mod tenants;
mod transport;

pub use steward_cli::term;
pub use transport::open;
