//! What MCP needs: settings and ports.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::{Clock, Ids, McpServers, Skills, Vault};
use steward_sandbox::process::{Helper, Sandbox};

#[derive(Debug, Clone)]
pub struct McpConfig {
    /// What starts and confines local servers.
    pub sandbox: Sandbox,
    /// Each local server has a folder below this one, and works there.
    pub folder: PathBuf,
    /// A connection that is not used for so long is closed.
    pub idle: Duration,
    /// How long a server may take to start and to answer the first time.
    pub start: Duration,
}

impl McpConfig {
    /// Ten minutes of idling, thirty seconds to start.
    pub fn new(helper: Helper, folder: impl Into<PathBuf>) -> Self {
        Self {
            sandbox: Sandbox::new(helper),
            folder: folder.into(),
            idle: Duration::from_mins(10),
            start: Duration::from_secs(30),
        }
    }
}

/// What it needs from the world.
#[derive(Clone)]
pub struct McpPorts {
    pub servers: Arc<dyn McpServers>,
    /// Skills that stand for their tools.
    pub skills: Arc<dyn Skills>,
    pub vault: Arc<dyn Vault>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}
