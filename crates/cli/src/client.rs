mod approvals;
mod chat;
mod connections;
mod conversations;
mod events;
mod refused;
mod requests;
mod runs;
mod socket;
mod spending;
mod sse;
#[cfg(test)]
mod tests;
mod wire;
mod workspace;

pub use approvals::{Scope, is_already_decided};
pub use chat::{Chat, DEFAULT_AGENT, Started};
pub use conversations::{Conversation, Message};
pub use refused::Refused;
pub use requests::{ByteStream, Client, Transport, encoded};
pub use runs::{Fork, KeptReport, Logged, Replay, Undone};
pub use socket::{Absent, ServeFile, Socket};
pub use spending::{Labelled, NewKey};
pub use workspace::{SampleChange, workspace};
