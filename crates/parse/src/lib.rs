//! What a model emits, turned into text for the reader and complete tool calls.
//!
//! Pure and incremental: no I/O, no panics on any input, time linear in the length of the reply,
//! and the same result however the reply was cut into pieces. [`StreamParser`] is the way in; each
//! text strategy is a [`grammar`] behind it. A grammar never guesses: what it does not recognise
//! is text.

mod grammar;
mod index;
mod json;
mod native;
mod out;
pub mod plan;
mod stream;

pub use grammar::{guided, react};
pub use index::ToolIndex;
pub use json::{Repaired, complete, repair};
pub use out::{BrokenCall, Out, Parsed};
pub use plan::{PlanError, PlanStream};
pub use stream::StreamParser;
