//! The method by which a small model can act: a request is of one of some kinds, by its likeness to examples; the tools
//! draft the one call that does it, from the request's words and from what they see; what is beyond that is said.
//! The filter ranks tools by a request for every model.

mod decide;
mod error;
mod features;
mod filter;
mod kinds;
mod propose;
mod replies;
mod settings;
mod split;
mod vectors;
mod words;

pub use error::IntentError;
pub use filter::{Filtered, rank};
pub use kinds::Kinds;
pub(crate) use propose::MOST_STEPS;
pub use propose::{Proposal, propose};
pub use replies::tries;
pub use settings::Settings;
pub use words::by_words;
