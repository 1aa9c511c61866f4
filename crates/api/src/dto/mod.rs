//! What goes over the wire: plain structs that mirror the core's types and have a schema.

pub(crate) mod about;
pub(crate) mod above;
pub(crate) mod agent;
pub(crate) mod approval;
pub(crate) mod connection;
pub(crate) mod conversation;
pub(crate) mod exam;
pub(crate) mod names;
pub(crate) mod routing;
pub(crate) mod run;
pub(crate) mod spending;
