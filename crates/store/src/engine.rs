//! How statements reach a database and become durable.

mod failpoints;
mod postgres;
mod queued_call;
mod sqlite;

pub(crate) use postgres::Postgres;
pub(crate) use queued_call::OpFn;
pub(crate) use sqlite::Sqlite;
