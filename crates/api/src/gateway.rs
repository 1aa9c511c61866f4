//! Steward as a gateway: requests for `connection/<name>` go to the model itself, without an agent.

mod embed;
mod errors;
mod inbound;
mod pass;
mod relay;
mod targets;
mod translate;
mod usage_sniffer;

pub(crate) use embed::embeddings;
pub(crate) use errors::model_error;
pub(crate) use inbound::Inbound;
pub(crate) use pass::{completions, pass};
pub(crate) use targets::{PREFIX, name_of};
