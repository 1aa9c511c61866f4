//! Receipts: what an answer claims to have done, and what proves it.
//!
//! Plain rules over words that are data (`data/receipts`): [`check`] splits the answer into sentences and clauses,
//! finds the claims of a finished action of its own, and links each to the calls of the run that prove it. No model, no
//! I/O, linear in the length of the answer.

mod answer;
mod asks;
mod check;
mod clause;
mod detect;
mod learned;
mod lexicon;
mod link;
mod object;
mod promise;
mod text;
mod token;
mod types;
mod verb;
mod voice;
mod why;

pub use answer::false_completion;
pub(crate) use asks::is_for_text;
pub use check::check;
pub use types::{Claim, Evidence, Receipts, Verdict};
