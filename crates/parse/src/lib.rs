//! What a model emits, turned into text for the reader and complete tool calls.
//!
//! Pure and incremental: no I/O, no panics on any input, time linear in the length of the reply,
//! and the same result however the reply was cut into pieces. [`StreamParser`] is the way in; each
//! text strategy is a grammar behind it, each model's own form a file of `dialect`. None of them
//! guesses: what it does not recognise is text. Only [`fuzzy`] reads phrases, and what it finds is
//! weak. [`fit`] brings arguments into the form of a tool's schema.

mod alias;
pub mod deep;
mod dialect;
pub mod fit;
pub mod fuzzy;
mod grammar;
mod index;
mod json;
mod native;
mod out;
pub mod plan;
mod prose;
mod stream;
#[doc(hidden)]
pub mod work;

pub use dialect::Dialect;
pub use grammar::{Dialects, guided, markers, react};
pub use index::ToolIndex;
pub use json::{Repaired, complete, repair};
pub use out::{BrokenCall, Out, Parsed};
pub use plan::{PlanError, PlanStream};
pub use stream::{Form, Reading, StreamParser};
