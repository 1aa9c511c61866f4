//! What a request wants, without a language model: tools are ranked for every model, and for a model that can't plan
//! the one call is drafted that does what is asked, from the request's words and the workspace. If that is not
//! possible, the reply says so.
//!
//! The only room besides the receipts that knows words of natural languages; they are data (`data/*.toml`).

mod continued;
mod decide;
mod draft;
mod kinds;
mod lexicon;
mod propose;
mod rank;
mod read;
mod replies;
mod settings;
mod split;
mod suggest;
mod tables;
mod view;

pub use draft::{Draft, Wanted, draft};
pub use kinds::Kinds;
pub use propose::IntentService;
pub use view::View;
