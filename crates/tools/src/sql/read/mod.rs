//! From links to queries: what the request wants of the tables that it names.

mod columns;
mod conditions;
mod extreme;
mod group;
mod listing;
mod numbers;
mod phrases;
mod reading;
mod target;

pub use reading::read;
