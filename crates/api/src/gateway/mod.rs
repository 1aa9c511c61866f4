//! Steward as a gateway: requests for `connection/<name>` go to the model itself, without an agent.

mod allowed;
mod bill;
mod embed;
mod errors;
mod inbound;
mod ledger;
mod meter;
mod pass;
mod relay;
mod targets;
mod translate;

pub(crate) use allowed::{may_use_agent, may_use_connection};
pub(crate) use embed::embeddings;
pub(crate) use errors::model_error;
pub(crate) use inbound::Inbound;
pub use ledger::Ledger;
pub(crate) use pass::{completions, pass};
pub(crate) use targets::{PREFIX, name_of};
