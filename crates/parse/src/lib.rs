//! Turns the output of models into text for the reader and complete tool calls.
//!
//! Pure and incremental: no I/O, no panics on any input, time linear in the length of the reply, and the same result
//! however the reply was cut into pieces. [`StreamParser`] is the way in. Behind it each text strategy is a grammar,
//! and `dialect` has the forms that models use by themselves. None of them guesses: what it does not recognise is text.
//! Only [`fuzzy`] reads phrases, and its calls are weak. [`fit`] brings arguments into the form of a tool's schema.

mod alias;
#[doc(hidden)]
pub mod complexity_counter;
pub mod deep;
mod dialect;
pub mod fit;
pub mod fuzzy;
mod grammar;
mod json;
mod native;
mod out;
pub mod plan;
mod prose;
mod stream;
mod tool_index;

pub use grammar::{Dialects, guided, markers_instructions, react};
pub use json::{Repaired, repair};
pub use out::{BrokenCall, Out, Parsed};
pub use plan::{PlanError, PlanStream};
pub use stream::{Form, Reading, StreamParser};
pub use tool_index::ToolIndex;
