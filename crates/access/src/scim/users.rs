//! Users as a provider makes, changes and removes them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use steward_core::UserId;
use steward_core::ports::{
    Counted, ScimGroupFilter, ScimRecord, ScimUser, ScimUserFilter, StoreError, User, UserChange, UserChangeError,
};
use steward_core::scim::{SCIM_SOURCE, ScimSettings};

use crate::users::{LOCAL_USER, email_address};
use crate::{Access, AccessError};

/// Users that are looked at in one go.
const AT_ONCE: u32 = 1000;

/// A user as a provider wants them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScimProfile {
    pub user_name: String,
    pub external_id: Option<String>,
    pub email: String,
    /// To show; `None`: the first part of the email.
    pub name: Option<String>,
    /// `None`: as they are, and of somebody new that they are active.
    pub active: Option<bool>,
    /// Further attributes that are kept for the provider.
    pub attributes: Map<String, Value>,
}

impl Access {
    pub async fn scim_users(
        &self,
        filter: ScimUserFilter,
        offset: u64,
        limit: u32,
    ) -> Result<Counted<ScimUser>, AccessError> {
        let filter = ScimUserFilter { but: LOCAL_USER.to_owned(), ..filter };
        Ok(self.scim.scim_users(self.tenant, &filter, offset, limit).await?)
    }

    /// [`StoreError::NotFound`] also where the provider has removed them.
    pub async fn scim_user(&self, id: UserId) -> Result<ScimUser, AccessError> {
        let found = self.scim.scim_user(self.tenant, id).await?;
        let there = found.filter(|found| !is_gone(found) && found.user.email != LOCAL_USER);
        Ok(there.ok_or_else(|| StoreError::NotFound(format!("user {id}")))?)
    }

    /// Makes a user, or gives somebody who was removed their account back.
    pub async fn create_scim_user(&self, profile: ScimProfile) -> Result<ScimUser, AccessError> {
        let _writing = self.writing_scim.lock().await;
        let settings = self.scim_settings().await?;
        let email = email_address(&profile.email)?;
        let known = self.scim.scim_user_by_name(self.tenant, &email, &profile.user_name).await?;
        if let Some(known) = known {
            if !is_gone(&known) {
                return Err(AccessError::EmailTaken(profile.user_name));
            }
            let change = UserChange {
                email: Some(email).filter(|email| *email != known.user.email),
                name: profile.name.clone(),
                disabled_at: (profile.active != Some(false)).then_some(None),
                ..UserChange::default()
            };
            let made = known.record.as_ref().is_some_and(|record| record.made);
            let user = self.change(&known.user, change, self.record(&profile, made)).await?;
            // What somebody may do now does not stand on what they could do before they left.
            let role = settings.role(&self.scim_groups_of(user.id).await?);
            let user = self.give_role(user, role).await?;
            tracing::info!(user = %user.id, "somebody came back by SCIM");
            return self.scim_user(user.id).await;
        }
        let mut user = self.new_user(&email, profile.name.as_deref(), settings.default_role)?;
        user.disabled_at = (profile.active == Some(false)).then_some(user.created_at);
        let record = self.record(&profile, true);
        match self.scim.create_scim_user(self.tenant, &user, &record).await {
            Err(StoreError::Conflict(_)) => return Err(AccessError::EmailTaken(profile.user_name)),
            done => done?,
        }
        tracing::info!(user = %user.id, role = user.role.as_str(), "a user was made by SCIM");
        Ok(ScimUser { user, record: Some(record) })
    }

    /// Changes somebody to what `wanted` makes of them. Nobody else changes them in between.
    pub async fn change_scim_user<E: From<AccessError>>(
        &self,
        id: UserId,
        wanted: impl FnOnce(&ScimUser) -> Result<ScimProfile, E> + Send,
    ) -> Result<ScimUser, E> {
        let _writing = self.writing_scim.lock().await;
        let known = self.scim_user(id).await?;
        let profile = wanted(&known)?;
        Ok(self.set_profile(known, profile).await?)
    }

    /// Disables somebody and takes them out of all groups. What they did stays.
    pub async fn remove_scim_user(&self, id: UserId) -> Result<(), AccessError> {
        let _writing = self.writing_scim.lock().await;
        let known = self.scim_user(id).await?;
        let now = self.clock.now();
        let record = known.record.unwrap_or_else(|| ScimRecord {
            user_name: known.user.email.clone(),
            external_id: None,
            attributes: Map::new(),
            made: false,
            updated_at: now,
            removed_at: None,
        });
        let record = ScimRecord { updated_at: now, removed_at: Some(now), ..record };
        let change = UserChange { disabled_at: Some(Some(now)), ..UserChange::default() };
        self.change(&known.user, change, record).await?;
        tracing::info!(user = %id, "a user was removed by SCIM: disabled, and in no group any more");
        Ok(())
    }

    async fn set_profile(&self, known: ScimUser, profile: ScimProfile) -> Result<ScimUser, AccessError> {
        let ScimUser { user, record } = known;
        let settings = self.scim_settings().await?;
        let email = email_address(&profile.email)?;
        let made = record.as_ref().is_some_and(|record| record.made);
        if email != user.email && !made {
            // Whoever can log in by the new one would get an account that an administrator gave to somebody else.
            return Err(AccessError::FixedEmail);
        }
        let disabled = profile.active.map(|active| !active).filter(|disabled| *disabled != user.is_disabled());
        let change = UserChange {
            email: Some(email).filter(|email| *email != user.email),
            name: profile.name.clone().filter(|name| *name != user.name),
            disabled_at: disabled.map(|disabled| disabled.then(|| self.clock.now())),
            ..UserChange::default()
        };
        let changed = self.change(&user, change, self.record(&profile, made)).await?;
        if disabled.is_some() {
            tracing::info!(user = %user.id, state = changed.state().as_str(), "a user was changed by SCIM");
        }
        self.reconcile_role(&settings, &changed).await?;
        self.scim_user(user.id).await
    }

    async fn change(&self, user: &User, change: UserChange, record: ScimRecord) -> Result<User, AccessError> {
        let name = record.user_name.clone();
        match self.scim.change_scim_user(self.tenant, user.id, &change, &record).await {
            Err(UserChangeError::Store(StoreError::Conflict(_))) => Err(AccessError::EmailTaken(name)),
            done => Ok(done?),
        }
    }

    fn record(&self, profile: &ScimProfile, made: bool) -> ScimRecord {
        ScimRecord {
            user_name: profile.user_name.clone(),
            external_id: profile.external_id.clone(),
            attributes: profile.attributes.clone(),
            made,
            updated_at: self.clock.now(),
            removed_at: None,
        }
    }

    /// Gives somebody the role that their groups have, if any group has one.
    pub(super) async fn reconcile_role(&self, settings: &ScimSettings, user: &User) -> Result<(), AccessError> {
        if settings.roles.is_empty() {
            return Ok(());
        }
        let role = settings.role(&self.scim_groups_of(user.id).await?);
        self.give_role(user.clone(), role).await.map(drop)
    }

    /// The same for some users; those whom no provider has written stay as they are.
    pub(super) async fn reconcile_roles(
        &self,
        settings: &ScimSettings,
        users: &BTreeSet<UserId>,
    ) -> Result<(), AccessError> {
        for id in users {
            if let Some(ScimUser { user, record: Some(_) }) = self.scim.scim_user(self.tenant, *id).await? {
                self.reconcile_role(settings, &user).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn reconcile_all_roles(&self, settings: &ScimSettings) -> Result<(), AccessError> {
        let filter = ScimUserFilter { written: true, ..ScimUserFilter::default() };
        let mut offset = 0;
        while !settings.roles.is_empty() {
            let page = self.scim_users(filter.clone(), offset, AT_ONCE).await?;
            for one in &page.items {
                self.reconcile_role(settings, &one.user).await?;
            }
            offset += u64::from(AT_ONCE);
            if offset >= page.total {
                break;
            }
        }
        Ok(())
    }

    async fn scim_groups_of(&self, user: UserId) -> Result<Vec<String>, AccessError> {
        let filter = ScimGroupFilter { member: Some(user), ..ScimGroupFilter::default() };
        let groups = self.scim.scim_groups(self.tenant, SCIM_SOURCE, &filter, 0, AT_ONCE).await?;
        Ok(groups.items.into_iter().map(|group| group.name).collect())
    }
}

fn is_gone(user: &ScimUser) -> bool {
    user.user.is_disabled() && user.record.as_ref().is_some_and(|record| record.removed_at.is_some())
}
