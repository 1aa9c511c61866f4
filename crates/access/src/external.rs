//! People whom another program vouches for: found again, linked to their account here, or given one.

use steward_core::UserId;
use steward_core::ports::{ExternalAccount, ExternalGroups, LoginError, StoreError, User};
use steward_core::sign_on::{Admission, first_name};

use super::users::LOCAL_USER;
use super::{Access, AccessError, unavailable};

/// Source of what comes from the directory, beside the names of providers.
pub(super) const DIRECTORY_SOURCE: &str = "directory";

/// What another program says of somebody who has proved to it who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalProfile {
    /// Name of the provider, or `directory`: where the groups come from.
    pub source: String,
    pub issuer: String,
    /// Its own id of them, which stays.
    pub subject: String,
    /// One that it vouches for.
    pub email: Option<String>,
    pub name: Option<String>,
    /// As it names them.
    pub groups: Vec<String>,
}

impl ExternalProfile {
    /// The groups as roles are given by them: a directory's by where they are, or by their own name.
    fn role_groups(&self) -> Vec<String> {
        let own = self.groups.iter().filter(|_| self.source == DIRECTORY_SOURCE).filter_map(|group| first_name(group));
        self.groups.iter().cloned().chain(own.map(str::to_owned)).collect()
    }

    /// The groups as people know them. What a provider calls a group is its name as it stands, whatever it looks like.
    fn group_names(&self) -> Vec<String> {
        let name = |group: &String| match first_name(group) {
            Some(name) if self.source == DIRECTORY_SOURCE => name.to_owned(),
            _ => group.clone(),
        };
        self.groups.iter().map(name).collect()
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAdmitted {
    /// No group, no default role, another domain, or disabled.
    #[error("they are not admitted")]
    Refused,
    /// Nobody has this account, and none may be made.
    #[error("they have no account here")]
    NoAccount,
    /// A user has the email, and the settings don't link them.
    #[error("another user has their email")]
    EmailTaken,
    #[error(transparent)]
    Unavailable(#[from] LoginError),
}

impl From<StoreError> for NotAdmitted {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(unavailable(error))
    }
}

impl From<AccessError> for NotAdmitted {
    fn from(error: AccessError) -> Self {
        Self::Unavailable(LoginError::Unavailable(error.to_string()))
    }
}

impl Access {
    /// The user that `profile` is of, with the role that their groups give.
    pub(crate) async fn admit(&self, profile: &ExternalProfile, admission: &Admission) -> Result<User, NotAdmitted> {
        let role = admission.role(&profile.role_groups()).ok_or(NotAdmitted::Refused)?;
        let email = profile.email.as_deref();
        if !admission.email_domains.is_empty() && !email.is_some_and(|email| admission.takes_email(email)) {
            return Err(NotAdmitted::Refused);
        }
        let known = self.external.external_user(self.tenant, &profile.issuer, &profile.subject).await?;
        let user = match known {
            Some(id) => self.users.user(self.tenant, id).await?.ok_or(NotAdmitted::NoAccount)?,
            None => self.first_time(profile, admission).await?,
        };
        if user.is_disabled() {
            return Err(NotAdmitted::Refused);
        }
        let user = if admission.roles.is_empty() { user } else { self.give_role(user, role).await? };
        self.after_external_login(user, profile).await
    }

    /// What follows from what the provider said, before the session begins.
    async fn after_external_login(&self, user: User, profile: &ExternalProfile) -> Result<User, NotAdmitted> {
        let groups = ExternalGroups { source: profile.source.clone(), names: profile.group_names() };
        self.sync_memberships(user.id, &groups).await?;
        tracing::debug!(user = %user.id, source = profile.source, groups = profile.groups.len(), "external login");
        Ok(user)
    }

    async fn first_time(&self, profile: &ExternalProfile, admission: &Admission) -> Result<User, NotAdmitted> {
        let email = profile.email.as_deref().ok_or(NotAdmitted::NoAccount)?;
        let user = match self.users.user_by_email(self.tenant, email).await? {
            // It stands for this machine's owner, whatever a provider says.
            Some(user) if user.email == LOCAL_USER => return Err(NotAdmitted::EmailTaken),
            Some(user) if admission.link_by_email => user,
            Some(_) => return Err(NotAdmitted::EmailTaken),
            None if admission.provision => {
                let role = admission.role(&profile.role_groups()).ok_or(NotAdmitted::Refused)?;
                let name = profile.name.as_deref().map(|name| name.chars().take(100).collect::<String>());
                let name = name.as_deref().filter(|name| !name.chars().any(char::is_control));
                let user = self.new_user(email, name, role)?;
                match self.create_user(&user).await {
                    Err(AccessError::EmailTaken(_)) => return Err(NotAdmitted::EmailTaken),
                    done => done?,
                }
                tracing::info!(user = %user.id, source = profile.source, "a user was made at their first login");
                user
            }
            None => return Err(NotAdmitted::NoAccount),
        };
        self.link(profile, user.id).await?;
        Ok(user)
    }

    async fn link(&self, profile: &ExternalProfile, user: UserId) -> Result<(), NotAdmitted> {
        let account = ExternalAccount {
            issuer: profile.issuer.clone(),
            subject: profile.subject.clone(),
            user,
            linked_at: self.clock.now(),
        };
        match self.external.link_external(self.tenant, &account).await {
            // Two first logins at the same time; the other one linked them.
            Err(StoreError::Conflict(_)) => {
                let linked = self.external.external_user(self.tenant, &profile.issuer, &profile.subject).await?;
                if linked == Some(user) { Ok(()) } else { Err(NotAdmitted::EmailTaken) }
            }
            done => Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DIRECTORY_SOURCE, ExternalProfile};

    #[test]
    fn only_a_directory_says_where_its_groups_are() {
        let of = |source: &str| ExternalProfile {
            source: source.to_owned(),
            issuer: String::new(),
            subject: String::new(),
            email: None,
            name: None,
            groups: vec!["cn=ops,ou=people".to_owned(), "staff".to_owned()],
        };
        let directory = of(DIRECTORY_SOURCE);
        assert_eq!(directory.group_names(), ["ops", "staff"]);
        assert_eq!(directory.role_groups(), ["cn=ops,ou=people", "staff", "ops"]);
        let provider = of("sso");
        assert_eq!(provider.group_names(), ["cn=ops,ou=people", "staff"]);
        assert_eq!(provider.role_groups(), ["cn=ops,ou=people", "staff"]);
    }
}
