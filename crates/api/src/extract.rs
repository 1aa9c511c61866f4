//! What handlers take: JSON bodies, ids, queries and pages, each with problems that name the field.

mod body;
mod page;
mod path;

pub(crate) use body::{Body, PublishedBody, too_long};
pub(crate) use page::{Listed, Page, Paging, PagingQuery};
pub(crate) use path::{Params, PathId, PathIds, PathName};
