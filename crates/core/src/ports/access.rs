use crate::{AgentId, ConnectionId, KeyId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// What somebody may do: viewers look; developers chat, run and decide on their own runs; operators also have agents,
/// connections, all approvals and runs; admins everything.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
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
        self.into()
    }
}

/// A person or program that has proved its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    pub tenant: TenantId,
    pub user: UserId,
    pub name: String,
    pub role: Role,
    /// The virtual key that was used, if any; it opens nothing but `/v1`.
    pub key: Option<Box<VirtualKey>>,
}

/// A virtual key: lets a program use some connections and agents, whatever these are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualKey {
    pub id: KeyId,
    pub name: String,
    /// Whose it is; its calls are theirs.
    pub user: UserId,
    /// First characters, to recognise it by.
    pub prefix: String,
    /// Connections it may use; empty: all.
    pub connections: Vec<ConnectionId>,
    /// Agents it may use; `None`: none, an empty list: all.
    pub agents: Option<Vec<AgentId>>,
    /// Most requests a minute.
    pub requests_per_minute: Option<u32>,
    /// Most tokens a minute.
    pub tokens_per_minute: Option<u32>,
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// Proof of a right password, for the second step of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    pub user: UserId,
    pub email: String,
    pub token: String,
    /// How long it is good, seconds.
    pub expires_in: u64,
    /// Whether the user must first set a second factor up, since their role needs one.
    pub enrol: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// Email and password do not match or there is no such user; both get the same answer.
    #[error("email or password is wrong")]
    Wrong,
    #[error("too many attempts; try again in {seconds} s")]
    TooMany {
        /// Seconds to wait.
        seconds: u64,
    },
    /// Token or key is unknown, expired or revoked.
    #[error("the token is not valid; log in again")]
    Token,
    /// A refresh token was used again: somebody has a copy, and the session was ended.
    #[error("the token is not valid; log in again")]
    Stolen { user: UserId, email: String },
    /// A virtual key was used where only people and their own keys are allowed.
    #[error("this is a virtual key: it opens /v1 and /mcp, and nothing else")]
    VirtualKey,
    /// A token of a provider was used where people and programs are allowed.
    #[error("this is a token for SCIM: it opens /scim/v2, and nothing else")]
    ScimToken,
    /// The password is right, and a code is still to be shown with the challenge.
    #[error("a code of the second factor is needed")]
    SecondFactor(Box<Challenge>),
    /// A code of the second factor is wrong, or was used already.
    #[error("the code is wrong, or was used already")]
    Code,
    #[error("{0}")]
    Invalid(String),
    #[error("cannot check logins now: {0}")]
    Unavailable(String),
}

#[async_trait]
pub trait Authenticator: Send + Sync {
    /// An access token (JWT) and its lifetime in seconds.
    async fn login(&self, email: &str, password: &str) -> Result<(String, u64), LoginError>;
    /// The owner of a bearer token (JWT or API key).
    async fn verify(&self, bearer: &str) -> Result<Principal, LoginError>;
}
