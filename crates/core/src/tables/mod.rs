//! Databases: their schema and queries.

mod query;
mod schema;

pub use query::{Aggregate, Ask, Condition, Op, Order, Query, QueryColumn, Select};
pub use schema::{Column, ForeignKey, Found, Schema, Table};
