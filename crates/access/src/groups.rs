//! Groups: made here by administrators, or by a directory or provider that tells which groups somebody is in.

use super::users::checked_name;
use super::{Access, AccessError};
use steward_core::ports::{ExternalGroups, Group, GroupChange, Page, StoreError, User};
use steward_core::{GroupId, UserId};

/// Longest description, characters.
const MAX_DESCRIPTION: usize = 500;
/// Most groups of one person that a directory is believed.
const MOST_EXTERNAL: usize = 500;

impl Access {
    /// By name, those after the cursor `after`.
    pub async fn groups(
        &self,
        text: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<Group>, AccessError> {
        Ok(self.groups.groups(self.tenant, text, after, limit).await?)
    }

    pub async fn group(&self, id: GroupId) -> Result<Group, AccessError> {
        let group = self.groups.group(self.tenant, id).await?;
        Ok(group.ok_or_else(|| StoreError::NotFound(format!("group {id}")))?)
    }

    pub async fn group_by_name(&self, name: &str) -> Result<Option<Group>, AccessError> {
        Ok(self.groups.group_by_name(self.tenant, name.trim()).await?)
    }

    pub async fn groups_of(&self, user: UserId) -> Result<Vec<Group>, AccessError> {
        Ok(self.groups.groups_of(self.tenant, user).await?)
    }

    pub async fn create_group(&self, name: &str, description: &str) -> Result<Group, AccessError> {
        let group = self.new_group(name, description, "")?;
        self.save_group(&group).await?;
        Ok(group)
    }

    pub(crate) async fn save_group(&self, group: &Group) -> Result<(), AccessError> {
        match self.groups.create_group(self.tenant, group).await {
            Err(StoreError::Conflict(_)) => Err(AccessError::GroupTaken(group.name.clone())),
            done => Ok(done?),
        }
    }

    pub async fn change_group(&self, id: GroupId, change: GroupChange) -> Result<Group, AccessError> {
        let name = change.name.as_deref().map(group_name).transpose()?;
        let description = change.description.as_deref().map(checked_description).transpose()?;
        let change = GroupChange { name: name.clone(), description, ..change };
        match self.groups.change_group(self.tenant, id, &change).await {
            Err(StoreError::Conflict(_)) => Err(AccessError::GroupTaken(name.unwrap_or_default())),
            done => Ok(done?),
        }
    }

    pub async fn remove_group(&self, id: GroupId) -> Result<(), AccessError> {
        Ok(self.groups.remove_group(self.tenant, id).await?)
    }

    /// By email, those after `after`.
    pub async fn group_members(&self, id: GroupId, after: Option<&str>, limit: u32) -> Result<Page<User>, AccessError> {
        self.group(id).await?;
        Ok(self.groups.group_members(self.tenant, id, after, limit).await?)
    }

    pub async fn set_member(&self, id: GroupId, user: UserId, member: bool) -> Result<(), AccessError> {
        Ok(self.groups.set_member(self.tenant, id, user, member).await?)
    }

    /// Puts somebody into the groups that their directory or provider names, and out of those that it names no more.
    pub async fn sync_memberships(&self, user: UserId, external: &ExternalGroups) -> Result<(), AccessError> {
        let mut known = ExternalGroups { source: external.source.clone(), names: Vec::new() };
        let mut new = Vec::new();
        for name in external.names.iter().take(MOST_EXTERNAL) {
            // A name that can't be one here must not keep anybody out.
            let Ok(name) = group_name(name) else { continue };
            if self.groups.group_of_source(self.tenant, &external.source, &name).await?.is_none() {
                new.push(self.new_group(&name, "", &external.source)?);
            }
            known.names.push(name);
        }
        Ok(self.groups.sync_memberships(self.tenant, user, &known, &new).await?)
    }

    pub(crate) fn new_group(&self, name: &str, description: &str, source: &str) -> Result<Group, AccessError> {
        Ok(Group {
            id: GroupId(self.ids.next()),
            name: group_name(name)?,
            description: checked_description(description)?,
            source: source.to_owned(),
            external_id: None,
            created_at: self.clock.now(),
            members: 0,
        })
    }
}

pub(crate) fn group_name(name: &str) -> Result<String, AccessError> {
    let name = checked_name(name)?.ok_or_else(|| AccessError::invalid("name", "a group needs a name"))?;
    Ok(name.to_owned())
}

fn checked_description(text: &str) -> Result<String, AccessError> {
    let text = text.trim();
    if text.chars().count() > MAX_DESCRIPTION {
        let title = format!("the description is too long; use at most {MAX_DESCRIPTION} characters");
        return Err(AccessError::invalid("description", title));
    }
    Ok(text.to_owned())
}
