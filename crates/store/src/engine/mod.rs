//! How statements reach a database and become durable.

mod job;
mod lot;
mod points;
mod postgres;
mod sqlite;

pub(crate) use job::OpFn;
pub(crate) use lot::{EventRow, Lot};
pub(crate) use postgres::Postgres;
pub(crate) use sqlite::Sqlite;
