//! Arguments read out of a request in people's words, for any tool by its JSON Schema alone.
//!
//! Pure and quick: a [`Request`] is read once into spans (numbers with units, quotations, names, dates,
//! lists, phrases), a [`Form`] once into arguments with what their names and descriptions say of them;
//! [`fill`] assigns spans to arguments jointly and says how sure it is of each, and which required ones
//! are open. Nothing here knows a particular tool. English words and places are files in `data/fill`.

mod amount;
mod around;
mod assign;
mod calls;
mod candidates;
mod choice;
mod class;
mod clock;
mod date;
mod extent;
mod form;
mod formula;
mod kind;
mod lexicon;
mod list;
mod lists;
mod literal;
mod measure;
mod number;
mod parts;
mod phrase;
mod request;
mod score;
mod several;
mod spell;
mod stem;
mod token;
mod told;
mod value;

pub use calls::{Call, calls};
pub use form::Form;
pub use parts::{Part, parts};
pub use request::Request;
pub use stem::same_word;

/// How alike a phrase of the request and an argument are in meaning, -1 to 1; 0 where that is not known.
pub type Likeness<'a> = &'a dyn Fn(&str, &str) -> f32;
