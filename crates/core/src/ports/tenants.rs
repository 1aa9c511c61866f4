use crate::{TenantId, Timestamp};

/// A customer of the installation. Nothing of one is seen by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    /// By which logins name it: lower-case letters, digits and hyphens.
    pub slug: String,
    pub name: String,
    pub created_at: Timestamp,
    /// Since then nothing of it opens anything. `None`: it is not disabled.
    pub disabled_at: Option<Timestamp>,
}

/// What is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantChange {
    pub name: Option<String>,
    /// `Some(None)`: enables it. A second disabling keeps the time of the first.
    pub disabled_at: Option<Option<Timestamp>>,
}

/// How many rows of a tenant were deleted from a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedRows {
    pub table: &'static str,
    pub rows: u64,
}
