//! `/Users`: looked up, made, replaced, changed and removed by a provider.

use super::attributes::kept;
use super::error::{ScimError, ScimResult};
use super::patch::{apply, operations};
use super::query::ScimQuery;
use super::resource::{attributes_of, profile, shown_user};
use super::{ScimCaller, filter};
use crate::app::App;
use serde_json::{Map, Value};
use steward_core::UserId;
use steward_core::ports::{Counted, Group, ScimGroupFilter, ScimUser, ScimUserFilter};

impl App {
    pub async fn scim_list_users(&self, caller: &ScimCaller, query: &ScimQuery) -> ScimResult<Value> {
        let filter = filter::of_users(query.filter.as_deref())?;
        let found = self.found_users(caller, filter, query, (query.offset(), query.count())).await?;
        Ok(query.listed(found.total, &found.items))
    }

    /// Users, and groups after them. A filter that only one of them understands finds only those.
    pub async fn scim_search(&self, caller: &ScimCaller, query: &ScimQuery) -> ScimResult<Value> {
        let text = query.filter.as_deref();
        let (users, groups) = match (filter::of_users(text), filter::of_groups(text)) {
            (Err(refused), Err(_)) => return Err(refused),
            (users, groups) => (users.unwrap_or_default(), groups.unwrap_or_default()),
        };
        let (offset, count) = (query.offset(), query.count());
        let mut found = self.found_users(caller, users, query, (offset, count)).await?;
        let shown = u32::try_from(found.items.len()).unwrap_or(count);
        let rest = (offset.saturating_sub(found.total), count.saturating_sub(shown));
        let more = self.found_groups(caller, groups, query, rest).await?;
        found.items.extend(more.items);
        Ok(query.listed(found.total + more.total, &found.items))
    }

    /// `page`: how many are left out at the beginning, and how many are shown. No filter: nobody.
    async fn found_users(
        &self,
        caller: &ScimCaller,
        filter: Option<ScimUserFilter>,
        query: &ScimQuery,
        (offset, count): (u64, u32),
    ) -> ScimResult<Counted<Value>> {
        let Some(filter) = filter else { return Ok(ScimQuery::nothing()) };
        let found = self.access.scim_users(filter, offset, count).await?;
        let mut items = Vec::with_capacity(found.items.len());
        for user in &found.items {
            items.push(self.scim_user_shown(caller, user, query).await?);
        }
        Ok(Counted { items, total: found.total })
    }

    pub async fn scim_read_user(&self, caller: &ScimCaller, id: &str, query: &ScimQuery) -> ScimResult<Value> {
        let user = self.access.scim_user(user_id(id)?).await?;
        self.scim_user_shown(caller, &user, query).await
    }

    /// Also gives somebody their account back who was removed before.
    pub async fn scim_create_user(
        &self,
        caller: &ScimCaller,
        body: &Map<String, Value>,
        query: &ScimQuery,
    ) -> ScimResult<Value> {
        let user = self.access.create_scim_user(profile(kept(body)?, None)?).await?;
        self.scim_user_shown(caller, &user, query).await
    }

    pub async fn scim_replace_user(
        &self,
        caller: &ScimCaller,
        id: &str,
        body: &Map<String, Value>,
        query: &ScimQuery,
    ) -> ScimResult<Value> {
        let kept = kept(body)?;
        let user = self.access.change_scim_user(user_id(id)?, |user| profile(kept, Some(user))).await?;
        self.scim_user_shown(caller, &user, query).await
    }

    pub async fn scim_patch_user(
        &self,
        caller: &ScimCaller,
        id: &str,
        body: &Map<String, Value>,
        query: &ScimQuery,
    ) -> ScimResult<Value> {
        let operations = operations(body)?;
        let wanted = |user: &ScimUser| {
            let mut attributes = attributes_of(user);
            for operation in &operations {
                apply(&mut attributes, operation)?;
            }
            profile(attributes, Some(user))
        };
        let user = self.access.change_scim_user(user_id(id)?, wanted).await?;
        self.scim_user_shown(caller, &user, query).await
    }

    /// Disabled and in no group any more; what they did stays.
    pub async fn scim_remove_user(&self, id: &str) -> ScimResult<()> {
        Ok(self.access.remove_scim_user(user_id(id)?).await?)
    }

    async fn scim_user_shown(&self, caller: &ScimCaller, user: &ScimUser, query: &ScimQuery) -> ScimResult<Value> {
        let groups: Option<Vec<Group>> = if query.asks_for("groups") {
            let filter = ScimGroupFilter { member: Some(user.user.id), ..ScimGroupFilter::default() };
            Some(self.access.scim_groups(&filter, 0, super::query::MOST).await?.items)
        } else {
            None
        };
        Ok(query.select(shown_user(caller, user, groups.as_deref())))
    }
}

/// What is no id of ours isn't there.
fn user_id(text: &str) -> ScimResult<UserId> {
    text.parse().map_err(|_| ScimError::not_found(text))
}
