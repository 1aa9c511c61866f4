//! Creates users: the first administrator, since there is no default password, and users behind programs.

use serde_json::Value;
use steward_core::UserId;
use steward_core::hash::sha256;
use steward_core::ports::{Role, User};

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
            let _changes = self.changes.lock().await;
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

    async fn make_user(
        &self,
        email: &str,
        name: Option<&str>,
        password: Option<&str>,
        role: Role,
    ) -> Result<User, AccessError> {
        let email = email_address(email)?;
        let name = match name.map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) if name.chars().count() > MAX_NAME => {
                return Err(AccessError::Invalid(format!(
                    "the name is too long; choose at most {MAX_NAME} characters"
                )));
            }
            Some(name) => name,
            None => email.split('@').next().unwrap_or(&email),
        };
        let password_hash = match password {
            Some(password) => Some(self.hash(password).await?),
            None => None,
        };
        let user = User {
            id: UserId(self.ids.next()),
            name: name.to_owned(),
            email,
            role: role.as_str().to_owned(),
            password_hash,
            api_key_hash: None,
            created_at: self.clock.now(),
        };
        self.users.save_user(self.tenant, &user).await?;
        if role == Role::Admin {
            self.settings.set_setting(self.tenant, HAS_ADMIN, &Value::Bool(true)).await?;
        }
        Ok(user)
    }
}

/// The email in lower case; an error if it is none.
fn email_address(text: &str) -> Result<String, AccessError> {
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
    Err(AccessError::Invalid(format!("`{shown}` is not an email address")))
}
