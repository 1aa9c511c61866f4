//! The tools of this build: the standard ones, and in builds for crash tests one that counts.

use steward_tools::{DispatcherBuilder, Ports, ToolsConfig, ToolsError};

#[cfg(not(feature = "failpoints"))]
pub fn tools(config: ToolsConfig, ports: &Ports) -> Result<DispatcherBuilder, ToolsError> {
    steward_tools::standard_builder(config, ports)
}

/// Includes `effect_*` if a crash test asked for them.
#[cfg(feature = "failpoints")]
pub fn tools(config: ToolsConfig, ports: &Ports) -> Result<DispatcherBuilder, ToolsError> {
    crate::crash::tools(config, ports)
}
