//! People whom another program vouches for: found again, linked to their account here, or given one.

use steward_core::ports::Role;
use steward_core::ports::{ExternalAccount, ExternalGroups, LoginError, StoreError, User};
use steward_core::sign_on::{Admission, is_named};

use super::directory::{DistinguishedName, same_value};
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
    /// The role that the groups give: a directory's by where they are, or by their own name; a name that looks like a place is
    /// one. What a provider calls a group is its name as it stands, whatever it looks like.
    fn role(&self, admission: &Admission) -> Result<Role, NotAdmitted> {
        let role = if self.source == DIRECTORY_SOURCE {
            let places = self.places();
            admission.role(|wanted| match DistinguishedName::parse(wanted) {
                Some(wanted) => places.iter().any(|(_, place)| place.as_ref() == Some(&wanted)),
                None => places.iter().any(|(text, place)| {
                    let own = place.as_ref().and_then(DistinguishedName::name);
                    same_value(own.unwrap_or(text), wanted)
                }),
            })
        } else {
            admission.role(is_named(&self.groups))
        };
        role.ok_or_else(|| NotAdmitted::NoRole(self.group_names()))
    }

    /// The groups as people know them.
    fn group_names(&self) -> Vec<String> {
        if self.source != DIRECTORY_SOURCE {
            return self.groups.clone();
        }
        let name = |(text, place): (&str, Option<DistinguishedName>)| {
            place.as_ref().and_then(DistinguishedName::name).unwrap_or(text).to_owned()
        };
        self.places().into_iter().map(name).collect()
    }

    fn places(&self) -> Vec<(&str, Option<DistinguishedName>)> {
        self.groups.iter().map(|group| (group.as_str(), DistinguishedName::parse(group))).collect()
    }
}

/// Whose account somebody enters with.
pub(crate) enum Account {
    Known(User),
    /// The one with their email, by their first login.
    Linked(User),
    /// It is made.
    New,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAdmitted {
    #[error("no group of theirs has a role, and there is no default role; they are in: {}", shown_groups(.0))]
    NoRole(Vec<String>),
    #[error("their email is of no domain that is admitted")]
    EmailDomain,
    #[error("their account here is disabled")]
    Disabled,
    #[error(
        "they have no account here, and none is made for them: there is no email of theirs, or accounts aren't made"
    )]
    NoAccount,
    #[error("another user has their email, and they aren't linked by it")]
    EmailTaken,
    #[error(transparent)]
    Unavailable(#[from] LoginError),
}

/// The first twenty.
fn shown_groups(groups: &[String]) -> String {
    let more = groups.len().saturating_sub(20);
    let mut all = groups.iter().take(20).map(|group| format!("`{group}`")).collect::<Vec<_>>();
    all.extend((more > 0).then(|| format!("{more} more")));
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
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
        let (role, account) = self.find_account(profile, admission).await?;
        let user = match account {
            Account::Known(user) => user,
            Account::Linked(user) => self.link(profile, user).await?,
            Account::New => self.link(profile, self.make_account(profile, role).await?).await?,
        };
        let user = if admission.roles.is_empty() { user } else { self.give_role(user, role).await? };
        self.after_external_login(user, profile).await
    }

    /// As whom and as what somebody would enter. Changes nothing.
    pub(crate) async fn find_account(
        &self,
        profile: &ExternalProfile,
        admission: &Admission,
    ) -> Result<(Role, Account), NotAdmitted> {
        let role = profile.role(admission)?;
        let email = profile.email.as_deref();
        if !admission.email_domains.is_empty() && !email.is_some_and(|email| admission.takes_email(email)) {
            return Err(NotAdmitted::EmailDomain);
        }
        let known = self.external.external_user(self.tenant, &profile.issuer, &profile.subject).await?;
        let account = match known {
            Some(id) => Account::Known(self.users.user(self.tenant, id).await?.ok_or(NotAdmitted::NoAccount)?),
            None => self.account_by_email(email.ok_or(NotAdmitted::NoAccount)?, admission).await?,
        };
        match &account {
            Account::Known(user) | Account::Linked(user) if user.is_disabled() => Err(NotAdmitted::Disabled),
            _ => Ok((role, account)),
        }
    }

    async fn account_by_email(&self, email: &str, admission: &Admission) -> Result<Account, NotAdmitted> {
        match self.users.user_by_email(self.tenant, email).await? {
            // It stands for this machine's owner, whatever a provider says.
            Some(user) if user.email == LOCAL_USER => Err(NotAdmitted::EmailTaken),
            Some(user) if admission.link_by_email => Ok(Account::Linked(user)),
            Some(_) => Err(NotAdmitted::EmailTaken),
            None if admission.provision => Ok(Account::New),
            None => Err(NotAdmitted::NoAccount),
        }
    }

    /// What follows from what the provider said, before the session begins.
    async fn after_external_login(&self, user: User, profile: &ExternalProfile) -> Result<User, NotAdmitted> {
        let groups = ExternalGroups { source: profile.source.clone(), names: profile.group_names() };
        self.sync_memberships(user.id, &groups).await?;
        tracing::debug!(user = %user.id, source = profile.source, groups = profile.groups.len(), "external login");
        Ok(user)
    }

    async fn make_account(&self, profile: &ExternalProfile, role: Role) -> Result<User, NotAdmitted> {
        let email = profile.email.as_deref().ok_or(NotAdmitted::NoAccount)?;
        let name = profile.name.as_deref().map(|name| name.chars().take(100).collect::<String>());
        let name = name.as_deref().filter(|name| !name.chars().any(char::is_control));
        let user = self.new_user(email, name, role)?;
        match self.create_user(&user).await {
            Err(AccessError::EmailTaken(_)) => return Err(NotAdmitted::EmailTaken),
            done => done?,
        }
        tracing::info!(user = %user.id, source = profile.source, "a user was made at their first login");
        Ok(user)
    }

    async fn link(&self, profile: &ExternalProfile, user: User) -> Result<User, NotAdmitted> {
        let account = ExternalAccount {
            issuer: profile.issuer.clone(),
            subject: profile.subject.clone(),
            user: user.id,
            linked_at: self.clock.now(),
        };
        match self.external.link_external(self.tenant, &account).await {
            // Two first logins at the same time; the other one linked them.
            Err(StoreError::Conflict(_)) => {
                let linked = self.external.external_user(self.tenant, &profile.issuer, &profile.subject).await?;
                if linked == Some(user.id) { Ok(user) } else { Err(NotAdmitted::EmailTaken) }
            }
            done => Ok(done.map(|()| user)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DIRECTORY_SOURCE, ExternalProfile};
    use serde_json::json;
    use steward_core::ports::Role;
    use steward_core::sign_on::Admission;

    fn of(source: &str, groups: &[&str]) -> ExternalProfile {
        ExternalProfile {
            source: source.to_owned(),
            issuer: String::new(),
            subject: String::new(),
            email: None,
            name: None,
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
        }
    }

    fn role(profile: &ExternalProfile, group: &str) -> Result<Role, String> {
        let admission = json!({"roles": [{"group": group, "role": "operator"}], "default_role": null});
        let admission: Admission = serde_json::from_value(admission).expect("an admission");
        profile.role(&admission).map_err(|refused| refused.to_string())
    }

    #[test]
    fn only_a_directory_says_where_its_groups_are() {
        let groups = ["cn=ops,ou=people", "staff"];
        let (directory, provider) = (of(DIRECTORY_SOURCE, &groups), of("sso", &groups));
        assert_eq!(directory.group_names(), ["ops", "staff"]);
        assert_eq!(provider.group_names(), groups);
        for (group, by_directory, by_provider) in [
            ("Ops", true, false),
            ("CN = ops, OU = People", true, false),
            ("cn=OPS,ou=people", true, true),
            ("STAFF", true, true),
            ("people", false, false),
        ] {
            let found = (role(&directory, group).is_ok(), role(&provider, group).is_ok());
            assert_eq!(found, (by_directory, by_provider), "{group}");
        }
    }

    #[test]
    fn a_group_of_a_directory_is_found_however_its_name_is_written() {
        let directory = of(DIRECTORY_SOURCE, &["cn=Stewards\\2C North (Ops),ou=groups,dc=example,dc=org"]);
        for group in [
            "Stewards, North (Ops)",
            "stewards,  north (ops)",
            "cn=Stewards\\, North (Ops),ou=groups,dc=example,dc=org",
            "CN=stewards\\2c north (ops), OU=Groups, DC=Example, DC=Org",
            "commonName=\"Stewards, North (Ops)\",ou=groups,dc=example,dc=org",
        ] {
            assert_eq!(role(&directory, group), Ok(Role::Operator), "{group}");
        }
        let why = role(&directory, "cn=Stewards,ou=groups,dc=example,dc=org").expect_err("another group");
        assert!(why.contains("no group of theirs has a role") && why.contains("`Stewards, North (Ops)`"), "{why}");
        // A name that looks like the place of another group gives nothing.
        let posing = of(DIRECTORY_SOURCE, &["cn=cn\\3Dops\\2Cdc\\3Dexample,ou=mine,dc=example"]);
        assert!(role(&posing, "cn=ops,dc=example").is_err());
    }
}
