//! Hard budgets and the record of usage.
//!
//! A limit's row holds what its period has spent. It is counted from the record of usage when the
//! period (or the limit) begins and goes up with each settled call. What is set aside are rows of
//! their own, which count until they end.
//!
//! On PostgreSQL a call locks the rows of all its limits, in the order of their ids, before it looks
//! at anything else; so calls under a common limit go one after the other, and none of them wait in
//! a circle.

mod limits;
mod record;
mod reserve;
mod row;
mod scopes;
mod settle;
mod usage;

pub(super) use record::Sum;
pub(crate) use scopes::{LimitedScopes, limited_scopes};
pub(super) use settle::settle;
