use super::Memory;
use async_trait::async_trait;
use std::collections::BTreeSet;
use steward_core::credential::CredentialUse;
use steward_core::ports::{CredentialRows, Page, SealedCredential, StoreError, StoreResult};
use steward_core::{CredentialId, TenantId, Timestamp};

#[async_trait]
impl CredentialRows for Memory {
    async fn save_credential(&self, _: TenantId, row: &SealedCredential) -> StoreResult<()> {
        let mut tables = self.tables()?;
        let new = &row.credential;
        for old in &tables.credentials {
            if old.key_id != row.key_id {
                return Err(StoreError::Conflict("sealed with another key".to_owned()));
            }
            if old.credential.name == new.name && old.credential.id != new.id {
                return Err(StoreError::Conflict(format!("the name {:?}", new.name)));
            }
        }
        let mut row = row.clone();
        let mut kept = tables.credentials.iter_mut();
        if let Some(old) = kept.find(|old| old.credential.id == row.credential.id) {
            row.credential.used_at = old.credential.used_at;
            *old = row;
        } else {
            tables.credentials.push(row);
        }
        Ok(())
    }

    async fn credential_row(&self, _: TenantId, id: CredentialId) -> StoreResult<SealedCredential> {
        let tables = self.tables()?;
        let mut rows = tables.credentials.iter();
        let found = rows.find(|row| row.credential.id == id).cloned();
        found.ok_or_else(|| StoreError::NotFound(format!("credential {id}")))
    }

    async fn credential_rows(
        &self,
        _: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<SealedCredential>> {
        let mut rows = self.tables()?.credentials.clone();
        rows.retain(|row| after.is_none_or(|after| row.credential.name.as_str() > after));
        rows.sort_by(|a, b| a.credential.name.cmp(&b.credential.name));
        let limit = if limit == 0 { 100 } else { limit as usize };
        let more = rows.len() > limit;
        rows.truncate(limit);
        Ok(Page { items: rows, more })
    }

    async fn credential_keys(&self) -> StoreResult<Vec<String>> {
        let tables = self.tables()?;
        let keys: BTreeSet<_> = tables.credentials.iter().map(|row| &row.key_id).collect();
        Ok(keys.into_iter().cloned().collect())
    }

    async fn reseal(&self, _: TenantId, from: &str, rows: &[SealedCredential]) -> StoreResult<()> {
        let mut tables = self.tables()?;
        let mut kept = tables.credentials.clone();
        let mut found = BTreeSet::new();
        for new in rows {
            let mut there = kept.iter_mut();
            let old = there.find(|old| {
                old.credential.id == new.credential.id
                    && old.credential.changed_at == new.credential.changed_at
                    && old.key_id == from
            });
            if let Some(old) = old {
                old.key_id.clone_from(&new.key_id);
                old.sealed.clone_from(&new.sealed);
                found.insert(new.credential.id);
            }
        }
        if found.len() != kept.len() || rows.len() != kept.len() {
            return Err(StoreError::Conflict("changed meanwhile".to_owned()));
        }
        tables.credentials = kept;
        Ok(())
    }

    async fn remove_credential(&self, _: TenantId, id: CredentialId) -> StoreResult<()> {
        let mut tables = self.tables()?;
        let before = tables.credentials.len();
        tables.credentials.retain(|row| row.credential.id != id);
        if tables.credentials.len() == before {
            return Err(StoreError::NotFound(format!("credential {id}")));
        }
        Ok(())
    }

    async fn credential_used(&self, _: TenantId, used: &CredentialUse) -> StoreResult<()> {
        let mut tables = self.tables()?;
        let mut rows = tables.credentials.iter_mut();
        let Some(row) = rows.find(|row| row.credential.id == used.credential) else {
            return Err(StoreError::NotFound(format!("credential {}", used.credential)));
        };
        row.credential.used_at = row.credential.used_at.max(Some(used.at));
        tables.credential_uses.push(used.clone());
        Ok(())
    }

    async fn credential_uses(
        &self,
        _: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> StoreResult<Page<CredentialUse>> {
        let mut uses = self.tables()?.credential_uses.clone();
        uses.retain(|one| one.credential == id && before.is_none_or(|before| one.at < before));
        uses.reverse();
        let limit = if limit == 0 { 100 } else { limit as usize };
        let more = uses.len() > limit;
        uses.truncate(limit);
        Ok(Page { items: uses, more })
    }
}
