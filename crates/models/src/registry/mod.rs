//! All connections of an installation behind the core's port.

pub(crate) mod attempt;
mod balance;
mod board;
mod children;
mod choose;
mod circuit;
mod health;
mod known;
mod open;
mod options;
mod policy;
mod queue;
mod router;
mod words;

pub(crate) use attempt::{Plan, try_targets};
pub(crate) use board::Permit;
pub use children::LocalChildren;
pub use options::RouterOptions;
pub use router::Router;
