//! Rules and lists that are kept as JSON among the settings of a tenant.

use crate::error::AppResult;
use crate::inputs::same_version;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
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

/// Replaces rules that count their versions. `(now, read)`: the version they have, and the one that the change was made
/// from; a conflict if these differ, or if somebody else saves in between, here or on another node. `address`: where they are
/// read again.
pub(crate) async fn save_changed(
    store: &Store,
    tenant: TenantId,
    name: &str,
    rules: &impl Serialize,
    (now, read): (u64, u64),
    address: &str,
) -> AppResult<()> {
    same_version(now, read, address)?;
    if store.replace_setting(tenant, name, &json!(rules), now).await? {
        return Ok(());
    }
    same_version(now + 1, read, address)
}
