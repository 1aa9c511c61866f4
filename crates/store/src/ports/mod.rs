//! The ports, one file each: what they do is written once, for both engines.

mod agents;
mod approvals;
mod claims;
mod commit;
mod connections;
mod conversations;
mod credentials;
mod facts;
mod fork;
mod grants;
mod idempotency;
mod inbox;
mod kept;
mod log;
mod mcp_servers;
mod packages;
mod reports;
mod run_rows;
mod runs;
mod sessions;
mod settings;
mod side;
mod skills;
mod spending;
mod tool_sets;
mod users;
mod virtual_keys;

pub(crate) use spending::{LimitedScopes, limited_scopes};
pub(crate) use tool_sets::ToolSets;
