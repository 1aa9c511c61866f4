//! What answers at a URL: guessed by the URL, then confirmed by asking. Nothing is saved,
//! and whoever makes the connection may choose otherwise.

mod patterns;
mod probe;
mod run;
mod url;

pub use run::recognise;
