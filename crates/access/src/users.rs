//! Users: the first administrator, since there is no default password, users behind programs, and what administrators
//! change of others.

use serde_json::Value;
use steward_core::UserId;
use steward_core::hash::sha256;
use steward_core::ports::{Page, Role, StoreError, User, UserChange, UserFilter};

use super::sessions::{LogIn, OpenSession};
use super::{Access, AccessError, secrets};

const SETUP_TOKEN: &str = "auth.setup_token_hash";
const HAS_ADMIN: &str = "auth.has_admin";
/// Longest name, characters.
const MAX_NAME: usize = 100;

/// The user that programs of this machine's owner share: the command line, and whatever uses the key in its file.
pub const LOCAL_USER: &str = "local@steward";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstStart {
    Ready,
    /// The administrator of the environment was created.
    Made {
        email: String,
    },
    /// An administrator can be created with this token, once.
    Token(String),
}

impl Access {
    /// Called at each start. While there is no administrator, creates that of the environment or a new one-time token.
    pub async fn first_start(&self, admin: Option<(&str, &str)>) -> Result<FirstStart, AccessError> {
        if !self.needs_set_up().await? {
            return Ok(FirstStart::Ready);
        }
        if let Some((email, password)) = admin {
            let user = self.make_user(email, None, Some(password), Role::Admin).await?;
            return Ok(FirstStart::Made { email: user.email });
        }
        let token = secrets::hexadecimal(24);
        let hash = Value::String(sha256(token.as_bytes()));
        self.settings.set_setting(self.tenant, SETUP_TOKEN, &hash).await?;
        Ok(FirstStart::Token(token))
    }

    pub async fn needs_set_up(&self) -> Result<bool, AccessError> {
        let marker = self.settings.setting(self.tenant, HAS_ADMIN).await?;
        Ok(marker != Some(Value::Bool(true)))
    }

    /// Creates the first administrator and logs them in; uses the token up.
    pub async fn set_up(&self, token: &str, name: Option<&str>, login: LogIn<'_>) -> Result<OpenSession, AccessError> {
        let user = {
            // One at a time, since a token makes one administrator.
            let _setting_up = self.setting_up.lock().await;
            let kept = self.settings.setting(self.tenant, SETUP_TOKEN).await?;
            let kept = kept.as_ref().and_then(Value::as_str).unwrap_or_default();
            let fits = secrets::same(kept, &sha256(token.as_bytes()));
            if kept.is_empty() || !fits || !self.needs_set_up().await? {
                return Err(AccessError::SetupToken);
            }
            let user = self.make_user(login.email, name, Some(login.password), Role::Admin).await?;
            self.settings.set_setting(self.tenant, SETUP_TOKEN, &Value::Null).await?;
            user
        };
        Ok(self.open(&user, login.label).await?)
    }

    /// Creates a user for programs on this machine, without a password, if there is none yet.
    pub async fn service_user(&self, email: &str, name: &str) -> Result<(), AccessError> {
        if self.users.user_by_email(self.tenant, email).await?.is_none() {
            self.make_user(email, Some(name), None, Role::Operator).await?;
        }
        Ok(())
    }

    /// By email, those after `after`.
    pub async fn users(&self, filter: &UserFilter, after: Option<&str>, limit: u32) -> Result<Page<User>, AccessError> {
        Ok(self.users.users(self.tenant, filter, after, limit).await?)
    }

    pub async fn user(&self, user: UserId) -> Result<User, AccessError> {
        let found = self.users.user(self.tenant, user).await?;
        Ok(found.ok_or_else(|| StoreError::NotFound(format!("user {user}")))?)
    }

    /// Name, role, and whether they are disabled, which ends all their sessions and lets no key of theirs in.
    pub async fn change_user(&self, user: UserId, change: UserChange) -> Result<User, AccessError> {
        let name = change.name.as_deref().map(required_name).transpose()?;
        let change = UserChange { name: name.map(str::to_owned), ..change };
        let user = self.users.change_user(self.tenant, user, &change).await?;
        self.note_administrator(&user).await?;
        Ok(user)
    }

    /// Gives somebody the role that another program says; the last administrator keeps theirs.
    pub(crate) async fn give_role(&self, user: User, role: Role) -> Result<User, AccessError> {
        if user.role == role {
            return Ok(user);
        }
        match self.change_user(user.id, UserChange { role: Some(role), ..UserChange::default() }).await {
            Ok(user) => {
                tracing::info!(user = %user.id, role = role.as_str(), "the role of a user follows their groups");
                Ok(user)
            }
            Err(AccessError::LastAdministrator) => {
                tracing::warn!(user = %user.id, "the last administrator keeps the role, whatever their groups say");
                Ok(user)
            }
            Err(error) => Err(error),
        }
    }

    /// [`StoreError::Conflict`] if they are active.
    pub async fn remove_user(&self, user: UserId) -> Result<(), AccessError> {
        Ok(self.users.remove_user(self.tenant, user).await?)
    }

    async fn make_user(
        &self,
        email: &str,
        name: Option<&str>,
        password: Option<&str>,
        role: Role,
    ) -> Result<User, AccessError> {
        let mut user = self.new_user(email, name, role)?;
        if let Some(password) = password {
            user.password_hash = Some(self.hash(password).await?);
        }
        self.create_user(&user).await?;
        self.note_administrator(&user).await?;
        Ok(user)
    }

    /// A user who is not stored yet. Without a name, they get the first part of the email.
    pub(crate) fn new_user(&self, email: &str, name: Option<&str>, role: Role) -> Result<User, AccessError> {
        let email = email_address(email)?;
        let name = match name.map(checked_name).transpose()?.flatten() {
            Some(name) => name,
            None => email.split('@').next().unwrap_or(&email),
        };
        Ok(User::new(UserId(self.ids.next()), email.as_str(), name, role, self.clock.now()))
    }

    pub(crate) async fn create_user(&self, user: &User) -> Result<(), AccessError> {
        match self.users.create_user(self.tenant, user).await {
            Err(StoreError::Conflict(_)) => Err(AccessError::EmailTaken(user.email.clone())),
            done => Ok(done?),
        }
    }

    /// The set-up is over once somebody can log in as an administrator.
    pub(crate) async fn note_administrator(&self, user: &User) -> Result<(), AccessError> {
        let can_administer = user.role == Role::Admin && user.password_hash.is_some() && !user.is_disabled();
        if can_administer && self.needs_set_up().await? {
            self.settings.set_setting(self.tenant, HAS_ADMIN, &Value::Bool(true)).await?;
        }
        Ok(())
    }
}

/// A name without the blanks around it; `None` if nothing is left.
pub(crate) fn checked_name(name: &str) -> Result<Option<&str>, AccessError> {
    let name = name.trim();
    if name.chars().count() > MAX_NAME {
        return Err(AccessError::invalid(
            "name",
            format!("the name is too long; choose at most {MAX_NAME} characters"),
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(AccessError::invalid("name", "the name has more than one line; choose one on one line"));
    }
    Ok(Some(name).filter(|name| !name.is_empty()))
}

fn required_name(name: &str) -> Result<&str, AccessError> {
    checked_name(name)?
        .ok_or_else(|| AccessError::invalid("name", format!("the name is empty; choose 1 to {MAX_NAME} characters")))
}

/// The email in lower case; an error if it is none.
pub(crate) fn email_address(text: &str) -> Result<String, AccessError> {
    let email = text.trim().to_lowercase();
    let plausible = email.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && !host.is_empty()
            && !host.contains('@')
            && !email.contains(|c: char| c.is_whitespace() || c.is_control())
    });
    if plausible && email.len() <= 254 {
        return Ok(email);
    }
    let shown: String = email.chars().take(80).collect();
    Err(AccessError::invalid("email", format!("`{shown}` is not an email address")))
}
