//! The program: settings, composition, commands.

pub mod api_state;
pub mod application;
pub mod cli;
pub mod compose;
#[cfg(feature = "failpoints")]
mod crash;
pub mod doctor;
pub mod health;
pub mod live;
pub mod nats;
mod open_files;
mod places;
pub mod reconfigure;
pub mod restore;
pub mod retrieval;
pub mod serve;
pub mod serving;
pub mod settings;
pub mod start;
pub mod tenants;
pub mod toolset;
mod transport;

pub use steward_cli::term;
pub use transport::open;
