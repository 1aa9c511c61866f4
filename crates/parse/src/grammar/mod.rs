//! The text strategies. A new one is a file here and an arm in `stream`.

mod chain;
mod found;
pub mod guided;
mod label;
pub mod markers;
mod plain;
mod prompt;
pub mod react;
mod react_input;
mod shell;

pub(crate) use chain::Chain;
pub(crate) use found::{Call, Found, broken_arguments};
pub(crate) use plain::Plain;
pub use shell::Dialects;
pub(crate) use shell::Shell;

use crate::out::Sink;

/// How calls are written in text. A grammar is fed the content piece by piece, writes to the sink
/// what is sure, and gives its calls at the end.
pub(crate) trait Grammar: Send {
    /// The next piece of content.
    fn push(&mut self, text: &str, sink: &mut Sink);
    /// The end; `cut` where the reply ran into its token limit.
    fn finish(&mut self, sink: &mut Sink, cut: bool) -> Found;
}
