//! What goes over the wire where it is not a type of the core as it is: names joined to ids, inputs whose fields may be
//! left out, secrets that go one way.

pub mod about;
pub mod agent;
pub mod approval;
pub mod auth;
pub mod connection;
pub mod conversation;
pub mod credential;
pub mod exam;
pub mod files;
pub mod mcp;
pub mod package;
pub mod reminder;
pub mod routing;
pub mod run;
pub mod skill;
pub mod spending;
