use super::access::Role;
use super::store_result::{Page, StoreError, StoreResult};
use crate::{TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// Lower case.
    pub email: String,
    pub name: String,
    pub role: Role,
    /// Argon2id, PHC format; `None`: no password login.
    pub password_hash: Option<String>,
    /// SHA-256 of the API key, hexadecimal.
    pub api_key_hash: Option<String>,
    pub created_at: Timestamp,
    /// Since then nothing of theirs opens anything. `None`: they are not disabled.
    pub disabled_at: Option<Timestamp>,
    /// `None`: never.
    pub last_login_at: Option<Timestamp>,
    /// One that was not accepted yet; it may have expired.
    pub invitation: Option<Invitation>,
}

impl User {
    /// Somebody without password, key or invitation.
    pub fn new(
        id: UserId,
        email: impl Into<String>,
        name: impl Into<String>,
        role: Role,
        created_at: Timestamp,
    ) -> Self {
        Self {
            id,
            email: email.into(),
            name: name.into(),
            role,
            password_hash: None,
            api_key_hash: None,
            created_at,
            disabled_at: None,
            last_login_at: None,
            invitation: None,
        }
    }

    pub fn state(&self) -> UserState {
        if self.disabled_at.is_some() {
            UserState::Disabled
        } else if self.password_hash.is_none() && self.invitation.is_some() {
            UserState::Invited
        } else {
            UserState::Active
        }
    }

    pub fn is_disabled(&self) -> bool {
        self.disabled_at.is_some()
    }
}

/// The right to choose a password, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// SHA-256 of the token, hexadecimal.
    pub token_hash: String,
    pub expires_at: Timestamp,
}

/// Whether somebody can use the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum UserState {
    /// They can log in.
    Active,
    /// They have not chosen a password yet.
    Invited,
    /// Neither login nor keys of theirs open anything.
    Disabled,
}

impl UserState {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserFilter {
    /// Case-insensitive text of the email or name.
    pub text: Option<String>,
    pub role: Option<Role>,
    pub state: Option<UserState>,
}

/// What is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserChange {
    /// One that another has is a conflict.
    pub email: Option<String>,
    pub name: Option<String>,
    pub role: Option<Role>,
    /// `Some(None)`: enables them. A second disabling keeps the time of the first. Both end all sessions.
    pub disabled_at: Option<Option<Timestamp>>,
    pub password_hash: Option<String>,
    /// `Some(None)`: ends the key.
    pub api_key_hash: Option<Option<String>>,
    /// Takes the place of the one before.
    pub invitation: Option<Invitation>,
}

impl UserChange {
    /// Whether it leaves an administrator who can log in without the role or without access.
    pub fn ends_administrator(&self) -> bool {
        self.role.is_some_and(|role| role != Role::Admin) || matches!(self.disabled_at, Some(Some(_)))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum UserChangeError {
    /// After it nobody could administer the installation.
    #[error("this is the last active administrator")]
    LastAdministrator,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[async_trait]
pub trait Users: Send + Sync {
    /// An email or key that another has is a conflict.
    async fn create_user(&self, tenant: TenantId, user: &User) -> StoreResult<()>;
    /// Changes a user in one transaction and returns them as they are then.
    async fn change_user(&self, tenant: TenantId, id: UserId, change: &UserChange) -> Result<User, UserChangeError>;
    /// Sets the password of the user with this invitation, uses it up and ends their sessions. `None`: there is no such
    /// invitation, it has expired by `now`, or its user is disabled. Of several at a time, one succeeds.
    async fn accept_invitation(
        &self,
        tenant: TenantId,
        token_hash: &str,
        password_hash: &str,
        name: Option<&str>,
        now: Timestamp,
    ) -> StoreResult<Option<User>>;
    async fn note_login(&self, tenant: TenantId, id: UserId, at: Timestamp) -> StoreResult<()>;
    /// Removes somebody who is disabled or invited, with their sessions, keys and budgets; their runs stay.
    /// [`StoreError::Conflict`]: they are active.
    async fn remove_user(&self, tenant: TenantId, id: UserId) -> StoreResult<()>;
    async fn user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<User>>;
    async fn user_by_email(&self, tenant: TenantId, email: &str) -> StoreResult<Option<User>>;
    async fn user_by_api_key(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<User>>;
    async fn user_by_invitation(&self, tenant: TenantId, token_hash: &str) -> StoreResult<Option<User>>;
    /// By email, those after `after`.
    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<User>>;
    /// A number that has changed when a change of a user, a key, a right or an agent is acknowledged, so that what was
    /// looked up before can be used until then. `None`: others may change them too, so nothing can be.
    fn identities(&self) -> Option<u64> {
        None
    }
}

/// A login that can be prolonged: one per browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSession {
    pub id: uuid::Uuid,
    pub user: UserId,
    /// SHA-256 of the refresh token in force, hexadecimal.
    pub token_hash: String,
    /// That of the one before; it shows theft, but for a moment after a rotation.
    pub previous_hash: Option<String>,
    pub rotated_at: Timestamp,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// What the browser calls itself.
    pub label: String,
}

#[async_trait]
pub trait LoginSessions: Send + Sync {
    async fn create_session(&self, tenant: TenantId, session: &LoginSession) -> StoreResult<()>;
    /// By a token's hash, in force or the one before.
    async fn session_by_token(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<LoginSession>>;
    /// Replaces the token if `old` is still in force; `false` if it is not.
    async fn rotate_session(
        &self,
        tenant: TenantId,
        id: uuid::Uuid,
        old: &str,
        new: &str,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreResult<bool>;
    async fn end_session(&self, tenant: TenantId, id: uuid::Uuid) -> StoreResult<()>;
    /// Ends all of a user but `keep`; returns how many.
    async fn end_sessions(&self, tenant: TenantId, user: UserId, keep: Option<uuid::Uuid>) -> StoreResult<u64>;
    /// Those of a user that have not ended by `now`, newest first.
    async fn sessions(&self, tenant: TenantId, user: UserId, now: Timestamp) -> StoreResult<Vec<LoginSession>>;
}
