use serde::{Deserialize, Serialize};
use steward_core::credential::{CredentialKind, Field};
use steward_core::{AgentId, RunId, Timestamp};
use utoipa::ToSchema;

/// One use of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CredentialUse {
    /// The run; null for a test by a person.
    #[schema(required)]
    pub run: Option<RunId>,
    /// The agent.
    #[schema(required)]
    pub agent: Option<AgentId>,
    /// Its name, if it is known still.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// When, ms since 1970 UTC.
    pub at: Timestamp,
}

/// How many secrets have a new key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resealed {
    /// How many.
    pub resealed: u64,
}

/// Kinds of credentials and their fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CredentialKindInfo {
    /// The kind.
    pub kind: CredentialKind,
    /// Its fields. Others are allowed, and secret.
    pub fields: &'static [Field],
}
