//! What can be read from a text without knowing its language: words, quotations, numbers, and possible arguments.

pub mod number;
mod quoted;
mod spans;
mod stem;
mod words;

pub use quoted::{Quoted, quoted};
pub use spans::{Spans, constrained};
pub use stem::{distance, parts, same_word, stem};
pub use words::{Word, any_phrase, find_phrase, has_phrase, plain, words};
