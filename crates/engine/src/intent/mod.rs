//! The method by which a small model can act: the intent filter narrows the tools, the tools
//! propose complete arguments from what they see, and the best of these become plans.

mod error;
mod fallback;
mod features;
mod fill;
mod filter;
mod known;
mod likelihood;
mod parted;
mod propose;
mod settings;
mod skilled;
mod split;
mod vectors;
mod words;

pub use error::IntentError;
pub use fill::{FilledCall, fill};
pub use filter::{Filtered, rank, unfiltered};
pub(crate) use propose::MOST_STEPS;
pub use propose::{Proposal, propose};
pub use settings::Settings;
pub use words::by_words;
