//! The labels and policies over data, as they are kept and as they were last read.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use steward_core::governance::{DATA_RULES_SETTING, DataRules};
use steward_core::ports::{Settings as _, StoreError, StoreResult};
use steward_core::{TenantId, Timestamp};
use steward_store::Store;

pub(crate) async fn read_data_rules(store: &Store, tenant: TenantId) -> StoreResult<DataRules> {
    match store.setting(tenant, DATA_RULES_SETTING).await? {
        None => Ok(DataRules::default()),
        Some(kept) => serde_json::from_value(kept)
            .map_err(|error| StoreError::Backend(format!("the setting {DATA_RULES_SETTING} is damaged: {error}"))),
    }
}

/// How long rules are used that another node may have changed. Changes made here count at once.
const KNOWN_FOR: Duration = Duration::from_secs(1);

/// The rules over data as last read, so that requests need not wait for them.
#[derive(Debug, Default)]
pub struct DataRulesCache(RwLock<Option<Known>>);

#[derive(Debug, Clone)]
pub(crate) struct Known {
    until: Timestamp,
    /// `None`: no text can be kept back by them.
    rules: Option<Arc<DataRules>>,
}

impl Known {
    pub fn from(now: Timestamp, rules: Option<Arc<DataRules>>) -> Self {
        Self { until: now.plus(KNOWN_FOR), rules }
    }

    pub fn into_rules(self) -> Option<Arc<DataRules>> {
        self.rules
    }
}

impl DataRulesCache {
    pub(crate) fn forget(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn known(&self, now: Timestamp) -> Option<Known> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|known| now < known.until).cloned()
    }

    pub(crate) fn keep(&self, known: Known) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }
}
