//! Databases: what is known of one, and what is asked of it.

mod query;
mod schema;

pub use query::{Aggregate, Ask, Condition, Op, Order, Query, QueryColumn, Select};
pub use schema::{Column, ForeignKey, Found, Schema, Table};
