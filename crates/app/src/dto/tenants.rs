use super::users::{Invitation, InvitedUser, User};
use serde::{Deserialize, Serialize};
use steward_core::ports;
use steward_core::{TenantId, Timestamp};
use utoipa::ToSchema;

/// An organisation: its people, agents and data are apart from those of all others.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// By which logins name it.
    pub slug: String,
    /// To show.
    pub name: String,
    /// Whether it is the one of the installation, which is always there.
    pub default: bool,
    /// When it was made, milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// Since when it is disabled; null: it is not.
    #[schema(required)]
    pub disabled_at: Option<Timestamp>,
}

impl From<ports::Tenant> for Tenant {
    fn from(tenant: ports::Tenant) -> Self {
        let ports::Tenant { id, slug, name, created_at, disabled_at } = tenant;
        Self { id, slug, name, default: id == TenantId::DEFAULT, created_at, disabled_at }
    }
}

/// A new organisation, and its first administrator.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantInput {
    /// By which logins name it: 2 to 40 lower-case letters, digits and hyphens. It stays.
    #[schema(examples("acme"), min_length = 2, max_length = 40)]
    pub slug: String,
    /// To show; the slug if left out.
    #[schema(max_length = 100)]
    pub name: Option<String>,
    /// Email of its first administrator, who is invited.
    #[schema(examples("ann@example.org"), max_length = 254)]
    pub administrator: String,
}

/// An organisation that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NewTenant {
    /// The organisation.
    pub tenant: Tenant,
    /// Its first administrator.
    pub administrator: User,
    /// How they come to a password.
    pub invitation: Invitation,
}

impl NewTenant {
    pub(crate) fn new(tenant: ports::Tenant, invited: InvitedUser) -> Self {
        Self { tenant: tenant.into(), administrator: invited.user, invitation: invited.invitation }
    }

    /// Without the token, which is kept nowhere.
    #[must_use]
    pub fn without_token(mut self) -> Self {
        self.invitation.token = None;
        self
    }
}

/// What to change of an organisation. What is left out stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantPatch {
    /// To show.
    #[schema(nullable = false, max_length = 100)]
    pub name: Option<String>,
    /// Whether nobody of it comes in: its logins, keys, runs and streams end at once.
    #[schema(nullable = false)]
    pub disabled: Option<bool>,
}

/// That it is really meant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TenantDeletion {
    /// The slug of the organisation, once more.
    #[schema(max_length = 40)]
    pub slug: String,
}

/// How many rows were deleted from a table.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeletedTable {
    /// The table.
    pub table: String,
    /// How many.
    pub rows: u64,
}

/// What was deleted with an organisation. The same stands in the audit trail.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeletedTenant {
    /// By table, those without rows too.
    pub tables: Vec<DeletedTable>,
    /// Files of its folder.
    pub files: u64,
}
