//! The ports, by table: what they do is written once, for both engines.

mod agents;
mod approvals;
mod budgets;
mod connections;
mod conversations;
mod credential_audit;
mod credentials;
mod facts;
mod grants;
mod idempotency;
mod leases;
mod log;
mod mcp_servers;
mod packages;
mod regression_runs;
mod reservations;
mod run_commit;
mod run_inbox;
mod run_list;
mod runs;
mod sessions;
mod settings;
mod side_writes;
mod skill_attachments;
mod skills;
mod spend_limits;
mod tool_sets;
mod usage;
mod users;
mod virtual_keys;

pub(crate) use budgets::{LimitedScopes, limited_scopes};
pub(crate) use tool_sets::ToolSets;
