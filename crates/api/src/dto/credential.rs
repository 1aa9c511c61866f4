//! Credentials: what is told of them, and what is taken in. Secrets go one way only.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::credential::{CredentialKind, Field};
use steward_core::ports::Role;
use steward_core::{AgentId, RunId, Timestamp};
use utoipa::ToSchema;

/// A credential to keep.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialInput {
    /// Its name, unique.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// What it is.
    pub kind: CredentialKind,
    /// For people.
    #[serde(default)]
    #[schema(max_length = 1000)]
    pub description: String,
    /// Its fields; those that are secret are never shown again.
    #[schema(value_type = BTreeMap<String, String>)]
    pub fields: BTreeMap<String, SecretString>,
    /// Roles whose runs may use it.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// Whether skills may find it by kind and name alone.
    #[serde(default)]
    pub discoverable: bool,
    /// When it ends, ms since 1970 UTC.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// What is changed of a credential; what is left out stays.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "left out, null, or a value")]
pub(crate) struct CredentialPatch {
    /// Its name.
    #[schema(min_length = 1, max_length = 64)]
    #[serde(default)]
    pub name: Option<String>,
    /// For people.
    #[schema(max_length = 1000)]
    #[serde(default)]
    pub description: Option<String>,
    /// Fields to set; the others stay.
    #[schema(value_type = BTreeMap<String, String>)]
    #[serde(default)]
    pub fields: BTreeMap<String, SecretString>,
    /// Roles whose runs may use it.
    #[serde(default)]
    pub roles: Option<Vec<Role>>,
    /// Whether skills may find it by kind and name alone.
    #[serde(default)]
    pub discoverable: Option<bool>,
    /// When it ends, ms since 1970 UTC; null: never.
    #[serde(default, deserialize_with = "super::given")]
    pub expires_at: Option<Option<Timestamp>>,
}

/// One use of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct CredentialUse {
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
pub(crate) struct Resealed {
    /// How many.
    pub resealed: u64,
}

/// Kinds of credentials and their fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct CredentialKindInfo {
    /// The kind.
    pub kind: CredentialKind,
    /// Its fields. Others are allowed, and secret.
    pub fields: &'static [Field],
}
