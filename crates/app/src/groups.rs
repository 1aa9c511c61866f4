//! Groups of users. Administrators change them; operators see them, since they give grants.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::groups::{Group, GroupInput, GroupPatch};
use crate::dto::users::User;
use crate::inputs::{check_search, given};
use steward_core::ports::{self, GroupChange, Page};
use steward_core::{GroupId, UserId};

impl App {
    /// By name, those after `after`.
    pub async fn groups(
        &self,
        caller: &Caller,
        text: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> AppResult<Page<Group>> {
        authorize(caller, Action::Read, Resource::Groups)?;
        let text = given(text);
        check_search(text)?;
        Ok(shown(self.access.groups(text, after, limit).await?))
    }

    pub async fn group(&self, caller: &Caller, id: GroupId) -> AppResult<Group> {
        authorize(caller, Action::Read, Resource::Groups)?;
        Ok(self.access.group(id).await?.into())
    }

    /// By email, those after `after`.
    pub async fn group_members(
        &self,
        caller: &Caller,
        id: GroupId,
        after: Option<&str>,
        limit: u32,
    ) -> AppResult<Page<User>> {
        authorize(caller, Action::Read, Resource::Groups)?;
        Ok(shown(self.access.group_members(id, after, limit).await?))
    }

    pub async fn groups_of_user(&self, caller: &Caller, user: UserId) -> AppResult<Vec<Group>> {
        authorize(caller, Action::Read, Resource::Groups)?;
        self.access.user(user).await?;
        Ok(self.access.groups_of(user).await?.into_iter().map(Group::from).collect())
    }

    pub async fn create_group(&self, caller: &Caller, input: GroupInput) -> AppResult<Group> {
        authorize(caller, Action::Write, Resource::Groups)?;
        Ok(self.access.create_group(&input.name, &input.description).await?.into())
    }

    pub async fn change_group(&self, caller: &Caller, id: GroupId, patch: GroupPatch) -> AppResult<Group> {
        authorize(caller, Action::Write, Resource::Groups)?;
        let change = GroupChange { name: patch.name, description: patch.description, external_id: None };
        Ok(self.access.change_group(id, change).await?.into())
    }

    /// For good, with the grants of the group. Its members stay.
    pub async fn remove_group(&self, caller: &Caller, id: GroupId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Groups)?;
        Ok(self.access.remove_group(id).await?)
    }

    /// Puts somebody in, or takes them out; in force at their next request.
    pub async fn set_group_member(&self, caller: &Caller, id: GroupId, user: UserId, member: bool) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Groups)?;
        let group = self.access.group(id).await?;
        if !group.source.is_empty() {
            return Err(AppError::conflict(
                "kept_elsewhere",
                format!("the members of `{}` are kept by {}", group.name, group.source),
                "change them there; they are taken over at the next login or synchronization",
            ));
        }
        Ok(self.access.set_member(id, user, member).await?)
    }
}

fn shown<T, U: From<T>>(page: ports::Page<T>) -> Page<U> {
    Page { items: page.items.into_iter().map(U::from).collect(), more: page.more }
}
