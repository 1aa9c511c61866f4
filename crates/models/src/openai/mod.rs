//! Client for model servers, over TCP, TLS or a Unix socket: the OpenAI dialect here, the providers'
//! own interfaces in [`crate::native`], behind the same calls.
//!
//! The endpoint's own words are kept in errors, keys never are. Dropping a stream closes the
//! request.

mod address;
mod auth;
mod classify;
mod client;
mod constrain;
mod decode;
mod describe;
mod embeddings;
mod framing;
mod limits;
mod listing;
mod pass;
mod quirks;
mod responses;
mod retry_after;
mod score;
mod secrets;
mod send;
#[cfg(test)]
mod shapes;
mod sign;
#[cfg(test)]
mod splits;
mod sse;
mod stream;
mod strict;
mod transport;
mod wire;

pub(crate) use address::{default_base, segment, version, without_version};
pub use client::Client;
pub(crate) use constrain::{all_ways, constraint};
pub(crate) use decode::{Decode, Fault, State, text};
pub(crate) use describe::Origin;
pub(crate) use framing::{BadFrame, Framing};
pub(crate) use limits::Limits;
pub use limits::Timeouts;
pub(crate) use listing::names as model_names;
pub(crate) use pass::{bytes, judged, judged_in_band};
pub use secrets::Secrets;
pub(crate) use send::{Outgoing, json_bytes};
pub(crate) use stream::Manner;
pub use transport::LocalModels;
pub(crate) use transport::is_loopback;
