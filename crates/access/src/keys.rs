//! API keys: one per user, shown once, kept as a hash.

use crate::access::Access;
use crate::error::AccessError;
use crate::secret;
use steward_core::UserId;
use steward_core::hash::sha256;
use steward_core::ports::{StoreError, User};

/// Prefix by which people and scanners recognise a key.
pub(crate) const PREFIX: &str = "sk-steward-";

impl Access {
    /// A new API key for the user of `email`; the one before it ends.
    pub async fn new_api_key(&self, email: &str) -> Result<String, AccessError> {
        let found = self.users.user_by_email(self.tenant, &email.to_lowercase()).await?;
        let Some(user) = found else {
            return Err(AccessError::Invalid(format!("there is no user {email}")));
        };
        self.make_api_key(user.id).await
    }

    /// A new API key for a user; the one before it ends.
    pub async fn make_api_key(&self, user: UserId) -> Result<String, AccessError> {
        let key = format!("{PREFIX}{}", secret::hexadecimal(24));
        self.set_api_key(user, Some(sha256(key.as_bytes()))).await?;
        Ok(key)
    }

    /// Ends the API key of a user, if there is one.
    pub async fn remove_api_key(&self, user: UserId) -> Result<(), AccessError> {
        self.set_api_key(user, None).await
    }

    async fn set_api_key(&self, user: UserId, hash: Option<String>) -> Result<(), AccessError> {
        let _changes = self.changes.lock().await;
        let mut user = self.known_user(user).await?;
        user.api_key_hash = hash;
        Ok(self.users.save_user(self.tenant, &user).await?)
    }

    pub(crate) async fn known_user(&self, id: UserId) -> Result<User, AccessError> {
        let user = self.users.user(self.tenant, id).await?;
        Ok(user.ok_or_else(|| StoreError::NotFound(format!("user {id}")))?)
    }
}
