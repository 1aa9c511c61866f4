//! The tools of this build: the standard ones, and in builds for crash tests one that counts.

use steward_tools::{Dispatcher, Ports, ToolsConfig, ToolsError};

/// All tools.
#[cfg(not(feature = "failpoints"))]
pub fn tools(config: ToolsConfig, ports: &Ports) -> Result<Dispatcher, ToolsError> {
    steward_tools::standard(config, ports)
}

/// All tools, and `effect_*` where a crash test asked for them.
#[cfg(feature = "failpoints")]
pub fn tools(config: ToolsConfig, ports: &Ports) -> Result<Dispatcher, ToolsError> {
    crate::crash::tools(config, ports)
}
