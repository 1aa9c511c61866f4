//! A model server that answers by script, in the OpenAI dialect, with every fault that a real one may show.

mod actions;
mod check;
pub(crate) mod http;
mod rank;
mod script;
mod server;
mod state;

pub use rank::logprob;
pub use script::{Behaviour, BodyRule, Embeddings, Reply, Rule, Script, ScriptedCall, ScriptedUsage};
pub use server::ScriptedModelServer;
pub use state::Recorded;
