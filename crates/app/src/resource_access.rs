//! Who may use, change and share single agents, skills, connections and credentials.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::resource_access::{
    AccessDefaults, AccessExplanation, GrantInput, HeldGrant, ResourceAccess, ResourceGrant as GrantView,
};
use serde_json::json;
use steward_core::permission::{AccessLevel, Grantee, ResourceGrant, ResourceKind, ResourceRef};
use steward_core::ports::{
    Agents as _, ResourceGrants as _, Role, Settings as _, Skills as _, StoreError, User, Users as _,
};
use steward_core::{AgentId, CollectionId, ConnectionId, CredentialId, GroupId, SkillId, UserId};
use uuid::Uuid;

const NEW_RESTRICTED: &str = "access.new_resources_restricted";
/// Most grants of one resource; whoever needs more needs a group.
const MAX_GRANTS: usize = 500;

impl App {
    pub async fn resource_access(&self, caller: &Caller, resource: ResourceRef) -> AppResult<ResourceAccess> {
        let name = self.sharable(caller, resource).await?;
        let list = self.store.access_list(self.tenant(), resource).await?;
        let mut grants = Vec::with_capacity(list.grants.len());
        for grant in list.grants {
            let ResourceGrant { grantee, level, given_by, given_at } = grant;
            grants.push(GrantView { grantee, name: self.grantee_name(grantee).await?, level, given_by, given_at });
        }
        let restricted = list.restricted || !resource.kind.open_to_all();
        Ok(ResourceAccess { kind: resource.kind, id: resource.id, name, restricted, grants })
    }

    /// In force at everybody's next call.
    pub async fn restrict_resource(
        &self,
        caller: &Caller,
        resource: ResourceRef,
        restricted: bool,
    ) -> AppResult<ResourceAccess> {
        self.sharable(caller, resource).await?;
        if !resource.kind.open_to_all() && !restricted {
            return Err(AppError::invalid(
                "restricted",
                "a credential is never open to everybody",
                "give grants to users or groups instead",
            ));
        }
        self.store.set_restricted(self.tenant(), resource, restricted).await?;
        self.resource_access(caller, resource).await
    }

    /// In force at the next call of whom it is given to.
    pub async fn give_resource_grant(
        &self,
        caller: &Caller,
        resource: ResourceRef,
        input: GrantInput,
    ) -> AppResult<ResourceAccess> {
        self.sharable(caller, resource).await?;
        let changeable = matches!(resource.kind, ResourceKind::Agent | ResourceKind::Skill | ResourceKind::Collection);
        if input.level == AccessLevel::Edit && !changeable {
            return Err(AppError::invalid(
                "level",
                format!("a {} is an operator's to change, whatever the grant", resource.kind.as_str()),
                "choose use, or share",
            ));
        }
        let grantee = self.grantee(&input).await?;
        let list = self.store.access_list(self.tenant(), resource).await?;
        if list.grants.len() >= MAX_GRANTS && !list.grants.iter().any(|one| one.grantee == grantee) {
            return Err(AppError::conflict(
                "too_many_grants",
                format!("there are {MAX_GRANTS} grants already"),
                "make a group, and give the grant to it",
            ));
        }
        let grant = ResourceGrant { grantee, level: input.level, given_by: caller.by(), given_at: self.now() };
        self.store.give_grant(self.tenant(), resource, &grant).await?;
        self.resource_access(caller, resource).await
    }

    /// In force at the next call, of runs at work too.
    pub async fn take_resource_grant(&self, caller: &Caller, resource: ResourceRef, grantee: Uuid) -> AppResult<()> {
        self.sharable(caller, resource).await?;
        Ok(self.store.take_grant(self.tenant(), resource, grantee).await?)
    }

    /// What somebody may do with a resource, and what they lack. `user`: email or id; `None`: the caller.
    pub async fn explain_access(
        &self,
        caller: &Caller,
        resource: ResourceRef,
        user: Option<&str>,
    ) -> AppResult<AccessExplanation> {
        authorize(caller, Action::Read, Resource::About)?;
        let user = match user {
            Some(user) => {
                self.sharable(caller, resource).await?;
                self.user_by_email_or_id("user", user).await?
            }
            None => self.access.user(caller.user()).await?,
        };
        self.resource_name(resource).await?;
        let permissions = self.store.permissions(self.tenant(), user.id).await?;
        let mut because = Vec::new();
        let above = matches!(user.role, Role::Admin | Role::Operator);
        if above {
            because.push(format!("the role {} may do everything with it", user.role.as_str()));
        }
        if resource.kind.open_to_all() && !permissions.restricted.contains(&resource) {
            because.push("it is open: everybody may use it".to_owned());
        }
        for (_, grant) in self.grants_for(resource, user.id).await? {
            let level = grant.level.as_str();
            because.push(match grant.grantee {
                Grantee::User(_) => format!("{} gave them the grant `{level}`", grant.given_by),
                Grantee::Group(_) => {
                    let group = self.grantee_name(grant.grantee).await?.unwrap_or_default();
                    format!("{} gave the grant `{level}` to the group {group}, which they are in", grant.given_by)
                }
            });
        }
        let level = if user.is_disabled() {
            None
        } else if above {
            Some(AccessLevel::Share)
        } else {
            reachable(user.role, resource.kind, permissions.level(resource))
        };
        Ok(AccessExplanation {
            missing: missing(&user, resource.kind, level),
            user: user.email,
            role: user.role,
            level,
            because,
        })
    }

    /// All grants of a user, by kind, and of the groups they are in.
    pub async fn grants_of_user(&self, caller: &Caller, user: UserId) -> AppResult<Vec<HeldGrant>> {
        if user != caller.user() {
            authorize(caller, Action::Administer, Resource::Users)?;
        }
        self.access.user(user).await?;
        let mut held = Vec::new();
        for (resource, grant) in self.store.grants_of(self.tenant(), user).await? {
            let ResourceGrant { grantee, level, given_by, given_at } = grant;
            let group = match grantee {
                Grantee::User(_) => None,
                Grantee::Group(_) => self.grantee_name(grantee).await?,
            };
            let (ResourceRef { kind, id }, name) = (resource, self.resource_name(resource).await.ok());
            held.push(HeldGrant { kind, id, name, level, group, given_by, given_at });
        }
        Ok(held)
    }

    pub async fn access_defaults(&self, caller: &Caller) -> AppResult<AccessDefaults> {
        authorize(caller, Action::Read, Resource::Policies)?;
        Ok(AccessDefaults { new_restricted: self.new_are_restricted().await? })
    }

    pub async fn set_access_defaults(&self, caller: &Caller, defaults: AccessDefaults) -> AppResult<AccessDefaults> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        self.store.set_setting(self.tenant(), NEW_RESTRICTED, &json!(defaults.new_restricted)).await?;
        Ok(defaults)
    }

    /// Before a resource is made: restricts it where the installation wants that, and lets its author share it.
    pub(crate) async fn prepare_new_resource(&self, caller: &Caller, resource: ResourceRef) -> AppResult<()> {
        if resource.kind.open_to_all() && self.new_are_restricted().await? {
            self.store.set_restricted(self.tenant(), resource, true).await?;
        }
        if authorize(caller, Action::Write, Resource::Connections).is_err() {
            let grantee = Grantee::User(caller.user());
            let (given_by, given_at) = (caller.by(), self.now());
            let grant = ResourceGrant { grantee, level: AccessLevel::Share, given_by, given_at };
            self.store.give_grant(self.tenant(), resource, &grant).await?;
        }
        Ok(())
    }

    async fn new_are_restricted(&self) -> AppResult<bool> {
        let kept = self.store.setting(self.tenant(), NEW_RESTRICTED).await?;
        Ok(kept.and_then(|kept| kept.as_bool()).unwrap_or_default())
    }

    /// The name of a resource whose grants the caller may see and change.
    async fn sharable(&self, caller: &Caller, resource: ResourceRef) -> AppResult<String> {
        authorize(caller, Action::Share, Resource::About)?;
        let name = self.resource_name(resource).await?;
        let (id, name_of) = (resource.id, name.as_str());
        let wanted = match resource.kind {
            ResourceKind::Agent => Resource::Agent { id: AgentId(id), name: name_of },
            ResourceKind::Skill => Resource::Skill { id: SkillId(id), name: name_of },
            ResourceKind::Connection => Resource::Connection { id: ConnectionId(id), name: name_of },
            ResourceKind::Credential => Resource::Credential { id: CredentialId(id), name: name_of },
            ResourceKind::Collection => Resource::Collection { id: CollectionId(id), name: name_of },
        };
        authorize(caller, Action::Share, wanted)?;
        Ok(name)
    }

    async fn resource_name(&self, resource: ResourceRef) -> AppResult<String> {
        let (tenant, id) = (self.tenant(), resource.id);
        match resource.kind {
            ResourceKind::Agent => Ok(self.store.agent(tenant, AgentId(id)).await?.name),
            ResourceKind::Skill => Ok(self.store.skill(tenant, SkillId(id)).await?.name),
            ResourceKind::Connection => Ok(self.known_connection(ConnectionId(id)).await?.connection.name),
            ResourceKind::Credential => Ok(self.vault.credential(tenant, CredentialId(id)).await?.name),
            ResourceKind::Collection => {
                let found = self.store.collection(tenant, CollectionId(id)).await?;
                Ok(found.ok_or_else(|| AppError::not_found(format!("collection {id}")))?.name)
            }
        }
    }

    async fn grants_for(
        &self,
        resource: ResourceRef,
        user: UserId,
    ) -> Result<Vec<(ResourceRef, ResourceGrant)>, StoreError> {
        let mut grants = self.store.grants_of(self.tenant(), user).await?;
        grants.retain(|(of, _)| *of == resource);
        Ok(grants)
    }

    async fn grantee(&self, input: &GrantInput) -> AppResult<Grantee> {
        match (&input.user, &input.group) {
            (Some(user), None) => Ok(Grantee::User(self.user_by_email_or_id("user", user).await?.id)),
            (None, Some(group)) => {
                let found = match group.trim().parse::<GroupId>() {
                    Ok(id) => Some(self.access.group(id).await?),
                    Err(_) => self.access.group_by_name(group).await?,
                };
                let found = found.ok_or_else(|| {
                    AppError::invalid("group", format!("there is no group `{group}`"), "see GET /api/groups")
                })?;
                Ok(Grantee::Group(found.id))
            }
            _ => Err(AppError::invalid(
                "user",
                "a grant is given to one user or to one group",
                "send `user` (email or id) or `group` (name or id), and not both",
            )),
        }
    }

    async fn user_by_email_or_id(&self, field: &str, user: &str) -> AppResult<User> {
        let user = user.trim();
        let found = match user.parse::<UserId>() {
            Ok(id) => self.store.user(self.tenant(), id).await?,
            Err(_) => self.store.user_by_email(self.tenant(), user).await?,
        };
        found.ok_or_else(|| {
            AppError::invalid(field, format!("there is no user `{user}`"), "send the email they log in with")
        })
    }

    /// `None`: they are not there any more.
    async fn grantee_name(&self, grantee: Grantee) -> AppResult<Option<String>> {
        match grantee {
            Grantee::User(id) => Ok(self.access.email(id).await?),
            Grantee::Group(id) => match self.access.group(id).await {
                Ok(group) => Ok(Some(group.name)),
                Err(steward_access::AccessError::Store(StoreError::NotFound(_))) => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }
}

/// What of a level a role lets somebody do.
fn reachable(role: Role, kind: ResourceKind, level: Option<AccessLevel>) -> Option<AccessLevel> {
    match (role, kind) {
        (Role::Viewer, ResourceKind::Collection | ResourceKind::Credential) => None,
        (Role::Viewer, _) => level.map(|_| AccessLevel::Use),
        _ => level,
    }
}

/// What somebody would need for more.
fn missing(user: &User, kind: ResourceKind, level: Option<AccessLevel>) -> Option<String> {
    if user.is_disabled() {
        return Some("they are disabled; an administrator can enable them".to_owned());
    }
    let next = match level {
        None => AccessLevel::Use,
        Some(AccessLevel::Use) => AccessLevel::Edit,
        Some(AccessLevel::Edit) => AccessLevel::Share,
        Some(AccessLevel::Share) => return None,
    };
    let looks = !matches!(kind, ResourceKind::Collection | ResourceKind::Credential);
    if user.role == Role::Viewer && (next > AccessLevel::Use || !looks) {
        return Some("the role viewer looks only; for more they need the role developer".to_owned());
    }
    Some(format!("the grant `{}`, for them or a group of theirs", next.as_str()))
}
