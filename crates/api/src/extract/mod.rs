//! What handlers take: JSON bodies, ids, queries and pages, each with problems that name the field.

mod body;
mod page;
mod params;
mod path;
mod text;

pub(crate) use body::{Body, PublishedBody, too_long};
pub(crate) use page::{Page, Paging, PagingQuery};
pub(crate) use params::Params;
pub(crate) use path::{PathId, PathIds, PathName};
