//! Groups as a provider makes, changes and removes them. Only those that came by SCIM are there for it.

use std::collections::BTreeSet;

use steward_core::ports::{Counted, Group, GroupChange, MemberChange, ScimGroupFilter, StoreError, User};
use steward_core::scim::{SCIM_SOURCE, ScimSettings};
use steward_core::{GroupId, UserId};

use crate::groups::group_name;
use crate::{Access, AccessError};

/// Members that are read in one go.
const AT_ONCE: u32 = 1000;

impl Access {
    pub async fn scim_groups(
        &self,
        filter: &ScimGroupFilter,
        offset: u64,
        limit: u32,
    ) -> Result<Counted<Group>, AccessError> {
        Ok(self.scim.scim_groups(self.tenant, SCIM_SOURCE, filter, offset, limit).await?)
    }

    /// [`StoreError::NotFound`] also where its members are kept by somebody else.
    pub async fn scim_group(&self, id: GroupId) -> Result<Group, AccessError> {
        let found = self.groups.group(self.tenant, id).await?.filter(|group| group.source == SCIM_SOURCE);
        Ok(found.ok_or_else(|| StoreError::NotFound(format!("group {id}")))?)
    }

    /// All of them, by email.
    pub async fn scim_members(&self, id: GroupId) -> Result<Vec<User>, AccessError> {
        let mut all: Vec<User> = Vec::new();
        loop {
            let after = all.last().map(|user| user.email.as_str());
            let page = self.groups.group_members(self.tenant, id, after, AT_ONCE).await?;
            all.extend(page.items);
            if !page.more {
                return Ok(all);
            }
        }
    }

    pub async fn create_scim_group(
        &self,
        name: &str,
        external_id: Option<String>,
        members: Vec<UserId>,
    ) -> Result<Group, AccessError> {
        let _writing = self.writing_scim.lock().await;
        let settings = self.scim_settings().await?;
        let group = Group { external_id, ..self.new_group(name, "", SCIM_SOURCE)? };
        self.save_group(&group).await?;
        let changed = self.save_members(group.id, GroupChange::default(), MemberChange::Only(members.clone())).await;
        if let Err(error) = changed {
            self.groups.remove_group(self.tenant, group.id).await?;
            return Err(error);
        }
        if settings.names(&group.name) {
            self.reconcile_roles(&settings, &members.into_iter().collect()).await?;
        }
        self.scim_group(group.id).await
    }

    pub async fn change_scim_group(
        &self,
        id: GroupId,
        change: GroupChange,
        members: MemberChange,
    ) -> Result<Group, AccessError> {
        let _writing = self.writing_scim.lock().await;
        let settings = self.scim_settings().await?;
        let before = self.scim_group(id).await?;
        let name = change.name.as_deref().map(group_name).transpose()?;
        let change = GroupChange { name, ..change };
        let affected = self.affected(&settings, &before, &change, &members).await?;
        self.save_members(id, change, members).await?;
        self.reconcile_roles(&settings, &affected).await?;
        self.scim_group(id).await
    }

    pub async fn remove_scim_group(&self, id: GroupId) -> Result<(), AccessError> {
        let _writing = self.writing_scim.lock().await;
        let settings = self.scim_settings().await?;
        let before = self.scim_group(id).await?;
        let all = MemberChange::Only(Vec::new());
        let affected = self.affected(&settings, &before, &GroupChange::default(), &all).await?;
        self.groups.remove_group(self.tenant, id).await?;
        self.reconcile_roles(&settings, &affected).await
    }

    /// Whose role the change may change.
    async fn affected(
        &self,
        settings: &ScimSettings,
        before: &Group,
        change: &GroupChange,
        members: &MemberChange,
    ) -> Result<BTreeSet<UserId>, AccessError> {
        let renamed = change.name.as_ref().filter(|name| **name != before.name);
        if !settings.names(&before.name) && !renamed.is_some_and(|name| settings.names(name)) {
            return Ok(BTreeSet::new());
        }
        let mut affected: BTreeSet<UserId> = match members {
            MemberChange::Only(users) => users.iter().copied().collect(),
            MemberChange::Some { add, remove } => add.iter().chain(remove).copied().collect(),
        };
        if renamed.is_some() || matches!(members, MemberChange::Only(_)) {
            affected.extend(self.scim_members(before.id).await?.into_iter().map(|user| user.id));
        }
        Ok(affected)
    }

    async fn save_members(
        &self,
        id: GroupId,
        change: GroupChange,
        members: MemberChange,
    ) -> Result<Group, AccessError> {
        match self.scim.change_scim_group(self.tenant, id, &change, &members).await {
            Err(StoreError::Conflict(_)) => Err(AccessError::GroupTaken(change.name.unwrap_or_default())),
            Err(StoreError::NotFound(what)) if what.starts_with("user ") => {
                Err(AccessError::invalid("members", format!("there is no {what}")))
            }
            done => Ok(done?),
        }
    }
}
