//! Rules and lists that are kept as JSON among the settings of a tenant.

use crate::error::AppError;
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

/// Refuses a change of rules that was made from another version (`read`) than they have `now`. `address`: where they are
/// read again.
pub(crate) fn same_version(now: u64, read: u64, address: &str) -> Result<(), AppError> {
    if now == read {
        return Ok(());
    }
    Err(AppError::conflict(
        "changed_meanwhile",
        format!("the rules have changed since version {read}; they are at {now}"),
        format!("read them again with GET {address}, and change those"),
    ))
}
