use super::Memory;
use async_trait::async_trait;
use serde_json::Value;
use steward_core::ports::{Settings, StoreError, StoreResult, User, Users};
use steward_core::{TenantId, UserId};

#[async_trait]
impl Users for Memory {
    async fn save_user(&self, _: TenantId, user: &User) -> StoreResult<()> {
        let mut tables = self.tables()?;
        let taken = tables.users.values().any(|other| other.email == user.email && other.id != user.id);
        if taken {
            let text = format!("another user has the email {}", user.email);
            return Err(StoreError::Conflict(text));
        }
        tables.users.insert(user.id, user.clone());
        Ok(())
    }

    async fn user(&self, _: TenantId, id: UserId) -> StoreResult<Option<User>> {
        Ok(self.tables()?.users.get(&id).cloned())
    }

    async fn user_by_email(&self, _: TenantId, email: &str) -> StoreResult<Option<User>> {
        let tables = self.tables()?;
        Ok(tables.users.values().find(|one| one.email == email).cloned())
    }

    async fn user_by_api_key(&self, _: TenantId, hash: &str) -> StoreResult<Option<User>> {
        let tables = self.tables()?;
        let found = |one: &&User| one.api_key_hash.as_deref() == Some(hash);
        Ok(tables.users.values().find(found).cloned())
    }

    async fn user_count(&self, _: TenantId) -> StoreResult<u64> {
        Ok(self.tables()?.users.len() as u64)
    }
}

#[async_trait]
impl Settings for Memory {
    async fn setting(&self, _: TenantId, name: &str) -> StoreResult<Option<Value>> {
        Ok(self.tables()?.settings.get(name).cloned())
    }

    async fn set_setting(&self, _: TenantId, name: &str, value: &Value) -> StoreResult<()> {
        let mut tables = self.tables()?;
        tables.settings.insert(name.to_owned(), value.clone());
        Ok(())
    }
}
