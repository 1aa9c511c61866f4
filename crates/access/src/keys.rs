//! API keys of users and virtual keys: created, shown once, kept as hashes.

use steward_core::hash::sha256;
use steward_core::ports::{LoginError, UserChange, VirtualKey};
use steward_core::spending::key_problem;
use steward_core::{AgentId, ConnectionId, KeyId, Timestamp, UserId};

use super::identity::{Identity, PREFIX, VIRTUAL};
use super::tenants::marked;
use super::{Access, AccessError, secrets, unavailable};

impl Access {
    pub async fn new_api_key(&self, email: &str) -> Result<String, AccessError> {
        let found = self.users.user_by_email(self.tenant, &email.to_lowercase()).await?;
        let Some(user) = found else {
            return Err(AccessError::invalid("email", format!("there is no user {email}")));
        };
        self.make_api_key(user.id).await
    }

    pub async fn make_api_key(&self, user: UserId) -> Result<String, AccessError> {
        let key = format!("{PREFIX}{}", marked(self.tenant, &secrets::hexadecimal(24)));
        self.set_api_key(user, Some(sha256(key.as_bytes()))).await?;
        Ok(key)
    }

    pub async fn remove_api_key(&self, user: UserId) -> Result<(), AccessError> {
        self.set_api_key(user, None).await
    }

    async fn set_api_key(&self, user: UserId, hash: Option<String>) -> Result<(), AccessError> {
        let change = UserChange { api_key_hash: Some(hash), ..UserChange::default() };
        self.users.change_user(self.tenant, user, &change).await?;
        Ok(())
    }
}

/// How many characters of a key are not kept in plain: all that is secret but 6.
const HIDDEN: usize = 42;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewKey {
    pub name: String,
    /// Empty: all.
    pub connections: Vec<ConnectionId>,
    /// `None`: none, an empty list: all.
    pub agents: Option<Vec<AgentId>>,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
    pub expires_at: Option<Timestamp>,
}

impl Access {
    /// Creates a virtual key for a user and returns its secret, which is not kept.
    pub async fn make_virtual_key(&self, user: UserId, new: NewKey) -> Result<(VirtualKey, String), AccessError> {
        let now = self.clock.now();
        let secret = format!("{VIRTUAL}{}", marked(self.tenant, &secrets::hexadecimal(24)));
        let key = VirtualKey {
            id: KeyId(self.ids.next()),
            name: new.name.trim().to_owned(),
            user,
            prefix: secret.chars().take(secret.len().saturating_sub(HIDDEN)).collect(),
            connections: new.connections,
            agents: new.agents,
            requests_per_minute: new.requests_per_minute,
            tokens_per_minute: new.tokens_per_minute,
            created_at: now,
            expires_at: new.expires_at,
            revoked_at: None,
        };
        if let Some(problem) = key_problem(&key, now) {
            return Err(AccessError::invalid(problem.field, problem.to_string()));
        }
        let hash = sha256(secret.as_bytes());
        self.keys.save_key(self.tenant, &key, Some(&hash)).await?;
        Ok((key, secret))
    }

    /// The identity of a virtual key, which is good as long as its user and may do what the user may.
    pub(crate) async fn by_virtual_key(&self, hash: &str, now: Timestamp) -> Result<Identity, LoginError> {
        let key = self.keys.key_by_hash(self.tenant, hash, now).await.map_err(unavailable)?.ok_or(LoginError::Token)?;
        let user = self.users.user(self.tenant, key.user).await.map_err(unavailable)?;
        self.identity(user, None, Some(key)).await
    }
}
