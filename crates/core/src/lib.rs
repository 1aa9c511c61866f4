//! The pure part of Steward: types, ports, policy, prompt assembly and the run state machine.
//!
//! Nothing here does I/O, reads a clock or draws a random number, so nothing here can fail for a reason outside its
//! arguments. Adapters implement the traits of [`ports`]; the `engine` room drives [`run`] with them.

pub mod address;
pub mod agent;
pub mod approval;
pub mod audit;
pub mod budget;
mod cancellation;
pub mod credential;
pub mod datasource;
pub mod deep;
pub mod document;
pub mod event;
pub mod exam;
pub mod extracted;
pub mod governance;
pub mod hash;
pub mod id;
pub mod live;
pub mod locks;
pub mod mcp;
pub mod message;
pub mod model;
pub mod package;
pub mod passthrough_request;
pub mod permission;
pub mod plan;
pub mod policy;
pub mod ports;
pub mod prompt;
pub mod provenance;
pub mod rate_limit;
pub mod receipts;
pub mod reference;
pub mod retention;
pub mod routing;
pub mod run;
pub mod schema;
pub mod scim;
pub mod scrub;
pub mod sign_on;
pub mod skill;
pub mod spending;
pub mod spreadsheet;
pub mod started_by;
pub mod tables;
pub mod text;
pub mod time;
pub mod tool;
pub mod upload;
mod workspace_path;

/// Whether `serde` leaves a field out, since reading it back makes the same value.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub use cancellation::Cancellation;
pub use id::*;
pub use time::Timestamp;
