//! What every handler can reach.

use crate::health::Health;
use std::sync::Arc;
use steward_access::Access;
use steward_core::policy::Grant;
use steward_engine::RunService;

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
}
