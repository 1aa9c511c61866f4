//! MCP servers as a source of skills. All of the protocol library stays in this module.
//!
//! - [`McpHub`]: servers as people manage them: look, accept, compare, log in.
//! - [`McpExecutor`]: carries out skills of the kind `mcp`.
//!
//! A tool is called only as a person accepted it: name, description and schema are compared by hash before the
//! first call of a connection, whenever the server says that its list changed, and at intervals.

mod call;
mod config;
mod connection;
mod content;
mod error;
mod executor;
mod hub;
mod listener;
mod logins;
mod name;
mod oauth;
mod open;
mod pin;
mod pool;
mod reach;
mod secret;
mod skills;

pub use config::{McpConfig, McpPorts};
pub use error::McpError;
pub use executor::McpExecutor;
pub use hub::McpHub;
pub use logins::LoginAnswer;
pub use oauth::{Begun, LoginRequest, LoginStatus};
pub use pin::diff;
// For whoever composes: how local servers are confined.
pub use steward_sandbox::process::Helper;
