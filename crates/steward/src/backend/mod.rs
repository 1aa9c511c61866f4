//! Where a command does its work: in this process, or through the server that has the data
//! directory open. Commands see no difference.

mod agents;
mod api;
mod approvals;
mod begin;
mod client;
mod connections;
mod conversations;
mod duration;
mod events;
mod exams;
mod open;
mod past;
mod refused;
mod runs;
mod sample;
mod serve_file;
mod spending;
mod sse;
#[cfg(test)]
mod tests;
mod undo;
mod wire;

use crate::compose::App;
use client::Client;
use std::sync::Arc;

pub use api::encoded;
pub use approvals::{Scope, is_already_decided};
pub use begin::{Begin, Begun};
pub use connections::TestFailed;
pub use conversations::{Said, Talk};
pub use duration::parse as parse_duration;
pub use past::{Fork, KeptReport};
pub use refused::Refused;
pub use runs::Logged;
pub use sample::SampleChange;
pub use serve_file::{ServeFile, Serving, address_for};
pub use spending::{LOCAL_USER, Labelled};
pub use undo::Taken;

/// Who is named in logs and approvals for what is done in this process.
const BY: &str = "cli";

/// Where a command does its work.
pub enum Backend {
    /// Here: the data directory is ours while the command runs.
    InProcess(Box<App>),
    /// At the running server of the same data directory.
    Remote(Arc<Client>),
}
