use super::store_result::{Page, StoreResult};
use super::users::User;
use crate::permission::Permissions;
use crate::{GroupId, TenantId, Timestamp, UserId};
use async_trait::async_trait;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub id: GroupId,
    /// Unique among those of its source, whatever the case.
    pub name: String,
    pub description: String,
    /// Where its members are kept, such as `ldap`; empty: here.
    pub source: String,
    /// What it is called there.
    pub external_id: Option<String>,
    pub created_at: Timestamp,
    pub members: u64,
}

impl Group {
    /// What a list of groups goes on after; names alone can be those of two sources.
    pub fn cursor(&self) -> String {
        if self.source.is_empty() { self.name.clone() } else { format!("{}\n{}", self.name, self.source) }
    }
}

/// What is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub external_id: Option<Option<String>>,
}

/// The groups that a directory or provider says somebody is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalGroups {
    /// Which directory or provider; memberships that others told of stay.
    pub source: String,
    pub names: Vec<String>,
}

#[async_trait]
pub trait Groups: Send + Sync {
    /// A name that another has is a conflict.
    async fn create_group(&self, tenant: TenantId, group: &Group) -> StoreResult<()>;
    async fn change_group(&self, tenant: TenantId, id: GroupId, change: &GroupChange) -> StoreResult<Group>;
    /// With its memberships and grants.
    async fn remove_group(&self, tenant: TenantId, id: GroupId) -> StoreResult<()>;
    async fn group(&self, tenant: TenantId, id: GroupId) -> StoreResult<Option<Group>>;
    /// The group that somebody means by a name: of those with this name the one that is kept here, else the only one. Where
    /// several providers have one, `provider/name` says which.
    async fn group_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Group>>;
    async fn group_of_source(&self, tenant: TenantId, source: &str, name: &str) -> StoreResult<Option<Group>>;
    /// By name, those after `after`, a [cursor](Group::cursor); `text`: part of the name or description.
    async fn groups(
        &self,
        tenant: TenantId,
        text: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<Group>>;
    /// By name.
    async fn groups_of(&self, tenant: TenantId, user: UserId) -> StoreResult<Vec<Group>>;
    /// By email, those after `after`.
    async fn group_members(
        &self,
        tenant: TenantId,
        id: GroupId,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<User>>;
    /// Adds or takes out; nothing changes where they are or aren't in it already.
    async fn set_member(&self, tenant: TenantId, id: GroupId, user: UserId, member: bool) -> StoreResult<()>;
    /// Makes these the groups of the source that somebody is in; `new` are groups for names that there is none of yet.
    /// Groups of these names with another source are left alone.
    async fn sync_memberships(
        &self,
        tenant: TenantId,
        user: UserId,
        groups: &ExternalGroups,
        new: &[Group],
    ) -> StoreResult<()>;
}

#[async_trait]
pub trait ResourceGrants: Send + Sync {
    async fn permissions(&self, tenant: TenantId, user: UserId) -> StoreResult<Permissions>;
}
