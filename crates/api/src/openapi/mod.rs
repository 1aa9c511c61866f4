//! The OpenAPI document, and the pages made of it.

mod answers;
mod base;
mod document;
mod pages;
mod serve;

pub(crate) use base::base;
pub use document::document;
pub(crate) use serve::{docs_routes, document_routes};
