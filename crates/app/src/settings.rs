//! Rules and lists that are kept as JSON among the settings of a tenant.

use serde::de::DeserializeOwned;
use steward_core::TenantId;
use steward_core::ports::{Settings as _, StoreError, StoreResult};
use steward_store::Store;

/// What is kept under a name; the default, if nothing is.
pub(crate) async fn kept_setting<T: DeserializeOwned + Default>(
    store: &Store,
    tenant: TenantId,
    name: &str,
) -> StoreResult<T> {
    match store.setting(tenant, name).await? {
        None => Ok(T::default()),
        Some(kept) => serde_json::from_value(kept)
            .map_err(|error| StoreError::Backend(format!("the setting {name} is damaged: {error}"))),
    }
}
