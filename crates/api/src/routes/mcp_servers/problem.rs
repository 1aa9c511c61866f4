//! Errors of MCP as problems.

use crate::problem::Problem;
use axum::http::StatusCode;
use steward_tools::mcp::McpError;

impl From<McpError> for Problem {
    fn from(error: McpError) -> Self {
        let title = error.to_string();
        match error {
            McpError::Unknown(_) | McpError::NoTool { .. } => {
                Self::new(StatusCode::NOT_FOUND, title, "see GET /api/mcp/servers")
            }
            McpError::Store(error) => error.into(),
            McpError::Vault(error) => error.into(),
            McpError::Disabled(_) | McpError::NotAccepted { .. } | McpError::Changed { .. } => {
                Self::conflict("mcp_tool", title, "look at the server's tools and accept them")
            }
            _ => Self::invalid("", title, "correct the server's settings, or try again later"),
        }
    }
}
