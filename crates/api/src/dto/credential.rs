//! Credentials: what is told of them, and what is taken in. Secrets go one way only.

use super::names::{CredentialKind, Role};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::credential;
use utoipa::ToSchema;
use uuid::Uuid;

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
    pub expires_at: Option<i64>,
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
    pub expires_at: Option<Option<i64>>,
}

/// A credential without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Credential {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: CredentialKind,
    /// For people.
    pub description: String,
    /// Fields that may be shown.
    pub shown: BTreeMap<String, String>,
    /// Names of the fields that may not.
    pub secret: Vec<String>,
    /// Roles whose runs may use it.
    pub roles: Vec<Role>,
    /// Whether skills may find it by kind and name alone.
    pub discoverable: bool,
    /// The connection whose key it is; it is changed and removed with that, and nothing else can use it.
    #[schema(required)]
    pub connection: Option<Uuid>,
    /// When it was made, ms since 1970 UTC.
    pub created_at: i64,
    /// When its secrets were last changed.
    pub changed_at: i64,
    /// When it was last used.
    #[schema(required)]
    pub used_at: Option<i64>,
    /// When it ends.
    #[schema(required)]
    pub expires_at: Option<i64>,
}

/// One use of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct CredentialUse {
    /// The run; null for a test by a person.
    #[schema(required)]
    pub run: Option<Uuid>,
    /// The agent.
    #[schema(required)]
    pub agent: Option<Uuid>,
    /// Its name, if it is known still.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// When, ms since 1970 UTC.
    pub at: i64,
}

/// How many secrets have a new key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Resealed {
    /// How many.
    pub resealed: u64,
}

/// Kinds of credentials and their fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct CredentialKindInfo {
    /// The kind.
    pub kind: CredentialKind,
    /// Its fields. Others are allowed, and secret.
    pub fields: Vec<CredentialField>,
}

/// A field of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct CredentialField {
    /// Its name.
    pub name: String,
    /// Whether it is shown to nobody.
    pub secret: bool,
    /// Whether it must be there.
    pub required: bool,
}

impl From<credential::Credential> for Credential {
    fn from(one: credential::Credential) -> Self {
        Self {
            id: one.id.0,
            name: one.name,
            kind: one.kind.into(),
            description: one.description,
            shown: one.shown,
            secret: one.secret,
            roles: one.roles.into_iter().map(Into::into).collect(),
            discoverable: one.discoverable,
            connection: one.connection.map(|id| id.0),
            created_at: one.created_at.0,
            changed_at: one.changed_at.0,
            used_at: one.used_at.map(|at| at.0),
            expires_at: one.expires_at.map(|at| at.0),
        }
    }
}
