//! The HTTP API as the commands use it.

mod agents;
mod approvals;
mod chat;
mod connections;
mod conversations;
mod encode;
mod events;
mod refused;
mod requests;
mod runs;
mod serve_file;
mod socket;
mod spending;
mod sse;
#[cfg(test)]
mod tests;
mod transport;
mod wire;
mod workspace;

pub use agents::DEFAULT_AGENT;
pub use approvals::{Scope, is_already_decided};
pub use chat::{Chat, Started};
pub use connections::TestFailed;
pub use conversations::{Conversation, Message};
pub use encode::encoded;
pub use refused::Refused;
pub use requests::Client;
pub use runs::{Fork, KeptReport, Logged, Replay, Undone};
pub use serve_file::ServeFile;
pub use socket::{Absent, Socket};
pub use spending::{Labelled, NewKey};
pub use transport::{ByteStream, Transport};
pub use workspace::SampleChange;
