use crate::error::ToolsError;
use steward_core::ports::{StoreError, VaultError};

#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("there is no MCP server `{0}`; see `steward mcp list`")]
    Unknown(String),
    #[error("the MCP server `{0}` is switched off; an operator can switch it on again")]
    Disabled(String),
    #[error("the MCP server `{server}` has no tool `{tool}`; it has {known}")]
    NoTool { server: String, tool: String, known: String },
    #[error(
        "the tool `{tool}` of the MCP server `{server}` has not been accepted; a person must look at it and accept it first (steward mcp accept {server} {tool})"
    )]
    NotAccepted { server: String, tool: String },
    /// The tool changed since. Its new description is kept from the model, since it may be meant to mislead it.
    #[error(
        "the tool `{tool}` of the MCP server `{server}` was not called: its {what} changed since a person accepted it. Somebody must compare and accept it anew (steward mcp check {server})"
    )]
    Changed {
        server: String,
        tool: String,
        /// What changed: `description`, `schema`, or both.
        what: &'static str,
        diff: String,
    },
    /// The server could not be started or reached.
    #[error("the MCP server `{server}` can't be used: {reason}")]
    Unreachable { server: String, reason: String },
    /// The server requires a login that is missing or no longer valid.
    #[error("the MCP server `{server}` wants a login: {hint}")]
    Login {
        server: String,
        hint: String,
        /// Its `WWW-Authenticate`, which says where and for what to log in.
        challenge: Option<String>,
    },
    /// The login is valid but lacks rights that the server asks for.
    #[error(
        "the MCP server `{server}` wants rights that its login lacks{rights}: log in again to grant them (steward mcp login {server}); what is granted already stays"
    )]
    Scope { server: String, rights: String, challenge: String },
    #[error(
        "the MCP server `{server}` ended while it worked on `{tool}` ({reason}); the call may or may not have taken effect: look before trying again"
    )]
    Died { server: String, tool: String, reason: String },
    #[error(
        "`{tool}` of the MCP server `{server}` gave no answer in time{progress} and was told to stop; it may or may not have taken effect"
    )]
    TimedOut { server: String, tool: String, progress: String },
    #[error("`{tool}` of the MCP server `{server}` was stopped{progress}; it may or may not have taken effect")]
    Stopped { server: String, tool: String, progress: String },
    #[error("the MCP server `{server}` says: {message}")]
    Said { server: String, message: String },
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Refused by another part of this room, such as the address guard.
    #[error(transparent)]
    Tools(#[from] ToolsError),
}

impl From<McpError> for ToolsError {
    fn from(error: McpError) -> Self {
        match error {
            McpError::Store(error) => error.into(),
            McpError::Tools(error) => error,
            other => Self::Refused(other.to_string()),
        }
    }
}
