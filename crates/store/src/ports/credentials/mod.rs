//! The vault's rows: sealed bytes, what may be shown of them, and their uses.

mod rows;
mod uses;

use crate::store::Store;
use async_trait::async_trait;
use steward_core::credential::CredentialUse;
use steward_core::ports::{CredentialRows, Page, SealedCredential, StoreError, StoreResult};
use steward_core::{CredentialId, TenantId, Timestamp};

#[async_trait]
impl CredentialRows for Store {
    async fn save_credential(&self, tenant: TenantId, row: &SealedCredential) -> StoreResult<()> {
        self.write((tenant, row.clone()), |(tenant, row), tx| Box::pin(rows::save(tx, *tenant, row))).await
    }

    async fn credential_row(&self, tenant: TenantId, id: CredentialId) -> StoreResult<SealedCredential> {
        self.read((tenant, id), |(tenant, id), tx| Box::pin(rows::one(tx, *tenant, *id))).await
    }

    async fn credential_rows(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<SealedCredential>> {
        self.read((tenant, after.map(str::to_owned), limit), |(tenant, after, limit), tx| {
            Box::pin(rows::page(tx, *tenant, after.as_deref(), *limit))
        })
        .await
    }

    async fn credential_keys(&self) -> StoreResult<Vec<String>> {
        self.read((), |(), tx| Box::pin(rows::keys(tx))).await
    }

    async fn reseal(&self, tenant: TenantId, from: &str, rows: &[SealedCredential]) -> StoreResult<()> {
        self.write((tenant, from.to_owned(), rows.to_vec()), |(tenant, from, rows), tx| {
            Box::pin(rows::reseal(tx, *tenant, from, rows))
        })
        .await
    }

    async fn remove_credential(&self, tenant: TenantId, id: CredentialId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(rows::remove(tx, *tenant, *id))).await
    }

    async fn credential_used(&self, tenant: TenantId, used: &CredentialUse) -> StoreResult<()> {
        self.write((tenant, used.clone()), |(tenant, used), tx| Box::pin(uses::add(tx, *tenant, used))).await
    }

    async fn credential_uses(
        &self,
        tenant: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> StoreResult<Page<CredentialUse>> {
        self.read((tenant, id, before, limit), |(tenant, id, before, limit), tx| {
            Box::pin(uses::page(tx, *tenant, *id, *before, *limit))
        })
        .await
    }
}

fn unknown(id: CredentialId) -> StoreError {
    StoreError::NotFound(format!("credential {id}"))
}
