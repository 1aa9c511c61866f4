//! What goes over the wire where it is not a type of the core as it is: names joined to ids, inputs whose fields may be
//! left out, secrets that go one way.

pub(crate) mod about;
pub(crate) mod agent;
pub(crate) mod approval;
pub(crate) mod auth;
pub(crate) mod connection;
pub(crate) mod conversation;
pub(crate) mod credential;
pub(crate) mod exam;
pub(crate) mod files;
pub(crate) mod mcp;
pub(crate) mod package;
pub(crate) mod published;
pub(crate) mod reminder;
pub(crate) mod routing;
pub(crate) mod run;
pub(crate) mod skill;
pub(crate) mod spending;
