//! Who is asking.

use super::VirtualKey;
use crate::{TenantId, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// What somebody may do: viewers look; developers chat, run and decide on their own runs; operators also have agents,
/// connections, all approvals and runs; admins everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything.
    Admin,
    /// Agents, connections, approvals.
    Operator,
    /// API and runs.
    Developer,
    /// Looks only.
    Viewer,
}

impl Role {
    /// Lower-case name, as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Developer => "developer",
            Self::Viewer => "viewer",
        }
    }
}

/// A person or program that has proved who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    pub tenant: TenantId,
    pub user: UserId,
    pub name: String,
    pub role: Role,
    /// The virtual key that was shown, if it was one: then nothing but `/v1` is open.
    pub key: Option<Box<VirtualKey>>,
}

/// Why a login or a token was refused.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// Email and password do not match, or there is no such user: the same answer.
    #[error("email or password is wrong")]
    Wrong,
    #[error("too many attempts; try again in {seconds} s")]
    TooMany {
        /// Seconds to wait.
        seconds: u64,
    },
    /// Token or key is not known, has ended or was revoked.
    #[error("the token is not valid; log in again")]
    Token,
    /// A virtual key, shown where only people and their own keys may go.
    #[error("this is a virtual key: it opens /v1 and /mcp, and nothing else")]
    VirtualKey,
    #[error("{0}")]
    Invalid(String),
    #[error("cannot check logins now: {0}")]
    Unavailable(String),
}

#[async_trait]
pub trait Authenticator: Send + Sync {
    /// An access token (JWT) for email and password, and the seconds it is good for.
    async fn login(&self, email: &str, password: &str) -> Result<(String, u64), LoginError>;
    /// Whom a bearer token (JWT or API key) belongs to.
    async fn verify(&self, bearer: &str) -> Result<Principal, LoginError>;
}
