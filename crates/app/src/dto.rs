//! What goes over the wire where it is not a type of the core as it is: names joined to ids, inputs whose fields may be
//! left out, secrets that go one way.

pub mod about;
pub mod agents;
pub mod approvals;
pub mod audit;
pub mod auth;
pub mod backups;
pub mod budgets;
pub mod config;
pub mod connections;
pub mod conversations;
pub mod credentials;
pub mod dashboard;
pub mod documents;
pub mod domains;
pub mod exam;
pub mod files;
pub mod governance;
pub mod graphql;
pub mod groups;
pub mod hooks;
pub mod identity;
pub mod keys;
pub mod mcp_servers;
pub mod named;
pub mod own_data;
pub mod packages;
pub mod policies;
pub mod rag;
pub mod reminders;
pub mod resource_access;
pub mod retention;
pub mod routing;
pub mod runs;
pub mod schedules;
pub mod skills;
pub mod subscriptions;
pub mod tenants;
pub mod users;

/// What a switch is that is left out.
fn yes() -> bool {
    true
}
