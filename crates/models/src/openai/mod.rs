//! Client for the OpenAI chat-completions dialect, over TCP, TLS or a Unix socket.
//!
//! The endpoint's own words are kept in errors, keys never are. Dropping a stream closes the
//! request.

mod classify;
mod client;
mod decode;
mod describe;
mod listing;
mod quirks;
mod retry_after;
mod score;
mod secrets;
#[cfg(test)]
mod splits;
mod sse;
mod stream;
mod strict;
mod transport;
mod wire;

pub use client::{Client, Timeouts};
pub use secrets::Secrets;
pub use transport::LocalModels;
pub(crate) use transport::is_loopback;
