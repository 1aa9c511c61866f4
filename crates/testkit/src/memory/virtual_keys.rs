use super::Memory;
use async_trait::async_trait;
use steward_core::ports::{Page, StoreError, StoreResult, VirtualKey, VirtualKeys};
use steward_core::{KeyId, TenantId, Timestamp, UserId};

#[derive(Debug)]
pub(super) struct Kept {
    key: VirtualKey,
    hash: String,
}

#[async_trait]
impl VirtualKeys for Memory {
    async fn save_key(&self, _: TenantId, key: &VirtualKey, secret_hash: Option<&str>) -> StoreResult<()> {
        let mut tables = self.tables()?;
        match (secret_hash, tables.virtual_keys.get_mut(&key.id.0)) {
            (None, Some(kept)) => {
                kept.key = VirtualKey {
                    user: kept.key.user,
                    prefix: kept.key.prefix.clone(),
                    created_at: kept.key.created_at,
                    revoked_at: kept.key.revoked_at,
                    ..key.clone()
                };
            }
            (Some(hash), None) => {
                let kept = Kept { key: key.clone(), hash: hash.to_owned() };
                tables.virtual_keys.insert(key.id.0, kept);
            }
            (None, None) => return Err(unknown(key.id)),
            (Some(_), Some(_)) => {
                return Err(StoreError::Conflict(format!("key {} exists already", key.id)));
            }
        }
        Ok(())
    }

    async fn key_by_hash(&self, _: TenantId, hash: &str, now: Timestamp) -> StoreResult<Option<VirtualKey>> {
        let tables = self.tables()?;
        let found = tables.virtual_keys.values().find(|kept| {
            kept.hash == hash && kept.key.revoked_at.is_none() && kept.key.expires_at.is_none_or(|at| at > now)
        });
        Ok(found.map(|kept| kept.key.clone()))
    }

    async fn keys(
        &self,
        _: TenantId,
        user: Option<UserId>,
        after: Option<KeyId>,
        limit: u32,
    ) -> StoreResult<Page<VirtualKey>> {
        let tables = self.tables()?;
        let mut items: Vec<VirtualKey> = tables
            .virtual_keys
            .values()
            .rev()
            .map(|kept| kept.key.clone())
            .filter(|key| user.is_none_or(|user| key.user == user))
            .filter(|key| after.is_none_or(|after| key.id.0 < after.0))
            .collect();
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Ok(Page { items, more })
    }

    async fn key(&self, _: TenantId, id: KeyId) -> StoreResult<VirtualKey> {
        let tables = self.tables()?;
        let found = tables.virtual_keys.get(&id.0);
        found.map(|kept| kept.key.clone()).ok_or_else(|| unknown(id))
    }

    async fn revoke_key(&self, _: TenantId, id: KeyId, at: Timestamp) -> StoreResult<()> {
        let mut tables = self.tables()?;
        let kept = tables.virtual_keys.get_mut(&id.0);
        let kept = kept.ok_or_else(|| unknown(id))?;
        kept.key.revoked_at.get_or_insert(at);
        Ok(())
    }
}

fn unknown(id: KeyId) -> StoreError {
    StoreError::NotFound(format!("key {id}"))
}
