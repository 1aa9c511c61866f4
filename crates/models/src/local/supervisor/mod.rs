//! Keeps the model server's child process: starts it when it is first needed, notices its end,
//! starts it again, and stops it.

mod child;
mod crashes;
mod health;
mod options;
mod run;
mod tail;

pub use options::{ChildCommand, Endpoint, Phase, SupervisorOptions};
pub use run::Supervisor;
