use super::groups::{Group, GroupChange};
use super::store_result::StoreResult;
use super::users::{User, UserChange, UserChangeError};
use crate::{GroupId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// What a provider keeps of a user, beside what Steward uses itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ScimRecord {
    /// By which it knows them; unique, whatever the case.
    pub user_name: String,
    /// Its own id of them.
    pub external_id: Option<String>,
    /// Further attributes, as it sent them.
    pub attributes: Map<String, Value>,
    /// Whether it made the user, rather than found one.
    pub made: bool,
    pub updated_at: Timestamp,
    /// When it removed them. Until somebody enables them again they are not there for it.
    pub removed_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScimUser {
    pub user: User,
    /// `None`: no provider has written them.
    pub record: Option<ScimRecord>,
}

/// What is `None` counts for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScimUserFilter {
    pub id: Option<UserId>,
    pub user_name: Option<String>,
    pub external_id: Option<String>,
    pub email: Option<String>,
    pub name: Option<String>,
    pub active: Option<bool>,
    /// Only those whom a provider has written.
    pub written: bool,
    /// An email that is left out.
    pub but: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScimGroupFilter {
    pub id: Option<GroupId>,
    pub name: Option<String>,
    pub external_id: Option<String>,
    pub member: Option<UserId>,
}

/// Some rows, and how many there are in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted<T> {
    pub items: Vec<T>,
    pub total: u64,
}

/// Who is in a group after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberChange {
    /// These and nobody else.
    Only(Vec<UserId>),
    /// Who was, and these; those to `remove` are taken out first.
    Some { add: Vec<UserId>, remove: Vec<UserId> },
}

impl Default for MemberChange {
    fn default() -> Self {
        Self::Some { add: Vec::new(), remove: Vec::new() }
    }
}

/// Lets a provider keep users and groups here by SCIM, and does nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ScimToken {
    /// Its id.
    pub id: Uuid,
    /// Its name; the actor of what is done with it in the audit trail is `scim:NAME`.
    pub name: String,
    /// First characters, to recognise it by.
    pub prefix: String,
    /// Who made it.
    pub created_by: String,
    /// When it was made, milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// When it was last used, to the minute; null: never.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
}

#[async_trait]
pub trait ScimDirectory: Send + Sync {
    /// An email or user name that another has is a conflict.
    async fn create_scim_user(&self, tenant: TenantId, user: &User, record: &ScimRecord) -> StoreResult<()>;
    /// Changes user and record in one transaction. A record that is removed takes the user out of all groups.
    async fn change_scim_user(
        &self,
        tenant: TenantId,
        id: UserId,
        change: &UserChange,
        record: &ScimRecord,
    ) -> Result<User, UserChangeError>;
    /// Also one whom the provider has removed.
    async fn scim_user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<ScimUser>>;
    /// By email or user name, also one whom the provider has removed.
    async fn scim_user_by_name(&self, tenant: TenantId, email: &str, user_name: &str) -> StoreResult<Option<ScimUser>>;
    /// In the order of their ids, without those whom the provider has removed. At most 1,000, none with `limit` 0.
    async fn scim_users(
        &self,
        tenant: TenantId,
        filter: &ScimUserFilter,
        offset: u64,
        limit: u32,
    ) -> StoreResult<Counted<ScimUser>>;
    /// Groups of this source, in the order of their ids. At most 1,000, none with `limit` 0.
    async fn scim_groups(
        &self,
        tenant: TenantId,
        source: &str,
        filter: &ScimGroupFilter,
        offset: u64,
        limit: u32,
    ) -> StoreResult<Counted<Group>>;
    /// Changes a group and its members in one transaction.
    async fn change_scim_group(
        &self,
        tenant: TenantId,
        id: GroupId,
        change: &GroupChange,
        members: &MemberChange,
    ) -> StoreResult<Group>;

    /// A name that another has is a conflict.
    async fn save_scim_token(&self, tenant: TenantId, token: &ScimToken, secret_hash: &str) -> StoreResult<()>;
    /// By name.
    async fn scim_tokens(&self, tenant: TenantId) -> StoreResult<Vec<ScimToken>>;
    async fn scim_token_by_hash(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<ScimToken>>;
    async fn note_scim_use(&self, tenant: TenantId, id: Uuid, at: Timestamp) -> StoreResult<()>;
    async fn remove_scim_token(&self, tenant: TenantId, id: Uuid) -> StoreResult<()>;
}
