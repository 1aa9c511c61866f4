//! What every handler can reach.

use crate::gateway::Ledger;
use crate::health::Health;
use std::sync::Arc;
use steward_access::Access;
use steward_core::Timestamp;
use steward_core::policy::Grant;
use steward_core::ports::{Examiner, Gateway, Idempotency, ManagedConnections, Skills, Vault};
use steward_engine::RunService;
use steward_tools::mcp::McpHub;
use steward_tools::package::Packages;
use steward_tools::skills::FileHostKeys;

/// What every handler can reach.
#[derive(Clone)]
pub struct ApiState {
    /// Runs.
    pub runs: RunService,
    /// Logins.
    pub access: Arc<Access>,
    /// Probes of what this program needs.
    pub health: Arc<Health>,
    /// Folder that the agents' file tools are confined to.
    pub workspace: String,
    /// Permissions of requests through the API, besides the agent's policy.
    pub grants: Vec<Grant>,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    /// Keys of writes that were made already.
    pub idempotency: Arc<dyn Idempotency>,
    /// Connections as people manage them.
    pub connections: Arc<dyn ManagedConnections>,
    /// Exams of their models.
    pub examiner: Arc<dyn Examiner>,
    /// Requests that go to models without an agent.
    pub gateway: Arc<dyn Gateway>,
    /// What these took.
    pub ledger: Arc<Ledger>,
    /// Skills and their versions.
    pub skills: Arc<dyn Skills>,
    /// Credentials.
    pub vault: Arc<dyn Vault>,
    /// Skill packages.
    pub packages: Arc<Packages>,
    /// MCP servers.
    pub mcp: Arc<McpHub>,
    /// Keys of servers that ssh skills reach.
    pub host_keys: Arc<FileHostKeys>,
    /// Facts for the page About.
    pub about: Arc<AboutFacts>,
    /// Names and origins that requests may come to and from.
    pub hosts: Arc<Hosts>,
}

/// Facts about this installation that don't change while it runs.
#[derive(Debug, Clone)]
pub struct AboutFacts {
    /// Version of the program.
    pub version: String,
    /// Commit that it was built from.
    pub commit: Option<String>,
    /// `sqlite` or `postgresql`.
    pub database: String,
    /// Version of the database.
    pub database_version: String,
    /// Version of its schema, where known.
    pub schema_version: Option<i64>,
    /// Data directory.
    pub data_dir: String,
    /// When this process began to serve.
    pub started_at: Timestamp,
}

/// Which `Host` and `Origin` headers are taken. A page of another site that has its name resolve to this
/// machine (DNS rebinding) sends a `Host` that isn't here.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Whether the listener is on a loopback address: only names of this machine and `names` are taken then.
    pub loopback: bool,
    /// Names without port that were given with `--host`. If there are any, no other is taken.
    pub names: Vec<String>,
    /// Origins such as `https://studio.example.org` that may write, besides the one of the request's `Host`.
    pub origins: Vec<String>,
}
