use serde::{Deserialize, Serialize};
use steward_core::Timestamp;
use steward_core::permission::{AccessLevel, Grantee, ResourceKind};
use steward_core::ports::Role;
use utoipa::ToSchema;
use uuid::Uuid;

/// Who may do what with a resource, beside operators and administrators, who may do everything.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ResourceAccess {
    /// What it is.
    pub kind: ResourceKind,
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Only those with a grant may use it. Credentials always are.
    pub restricted: bool,
    /// The oldest first.
    pub grants: Vec<ResourceGrant>,
}

/// A right of a user or a group to a resource.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ResourceGrant {
    /// Who has it.
    pub grantee: Grantee,
    /// The email of the user, or the name of the group; null: they are not there any more.
    #[schema(required)]
    pub name: Option<String>,
    /// How far it reaches.
    pub level: AccessLevel,
    /// Email of who gave it.
    pub given_by: String,
    /// When, milliseconds since 1970 UTC.
    pub given_at: Timestamp,
}

/// Whether a resource is for those with a grant only.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Restriction {
    /// Only those with a grant may use it.
    pub restricted: bool,
}

/// A grant to give. It takes the place of another of the same user or group.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantInput {
    /// Email or id of the user; this or `group`.
    #[schema(nullable = false, max_length = 254)]
    pub user: Option<String>,
    /// Name or id of the group; this or `user`.
    #[schema(nullable = false, max_length = 100)]
    pub group: Option<String>,
    /// How far it reaches.
    pub level: AccessLevel,
}

/// What somebody may do with a resource, and why.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AccessExplanation {
    /// Email.
    pub user: String,
    /// Their role.
    pub role: Role,
    /// The highest level they have; null: none.
    #[schema(required)]
    pub level: Option<AccessLevel>,
    /// What gives it to them, in sentences.
    pub because: Vec<String>,
    /// What they would need for more, in a sentence; null: they may do everything.
    #[schema(required)]
    pub missing: Option<String>,
}

/// A grant that somebody has, or a group of theirs.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HeldGrant {
    /// What it is for.
    pub kind: ResourceKind,
    /// Its id.
    pub id: Uuid,
    /// Its name; null: it is not there any more.
    #[schema(required)]
    pub name: Option<String>,
    /// How far it reaches.
    pub level: AccessLevel,
    /// The group that has it; null: it is the user's own.
    #[schema(required)]
    pub group: Option<String>,
    /// Email of who gave it.
    pub given_by: String,
    /// When, milliseconds since 1970 UTC.
    pub given_at: Timestamp,
}

/// How new resources begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessDefaults {
    /// Agents, skills and connections that are made from now on are for those with a grant only.
    pub new_restricted: bool,
}
