//! The document as a page for people: made here, without a script.

mod html;
mod operation;
mod page;
mod schema;

pub(super) use page::page;
