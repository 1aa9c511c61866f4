//! The labels and policies over data, as they are kept and as they were last read.

use crate::settings::kept_setting;
use std::sync::{Arc, RwLock};
use std::time::Duration;
use steward_core::governance::{DATA_RULES_SETTING, DataRules};
use steward_core::locks::{read, write};
use steward_core::ports::StoreResult;
use steward_core::{TenantId, Timestamp};
use steward_store::Store;

pub(crate) async fn read_data_rules(store: &Store, tenant: TenantId) -> StoreResult<DataRules> {
    kept_setting(store, tenant, DATA_RULES_SETTING).await
}

/// How long rules are used that another node may have changed. Changes made here count at once.
const KNOWN_FOR: Duration = Duration::from_secs(1);

/// The rules over data as last read, so that requests need not wait for them.
#[derive(Debug, Default)]
pub struct DataRulesCache(RwLock<Option<Known>>);

/// Until when they are used; `None`: no text can be kept back by them.
type Known = (Timestamp, Option<Arc<DataRules>>);

impl DataRulesCache {
    pub(crate) fn forget(&self) {
        *write(&self.0) = None;
    }

    /// The rules that keep texts back, read anew if they were read too long ago; `None`: none do.
    pub(crate) async fn over_texts(
        &self,
        store: &Store,
        tenant: TenantId,
        now: Timestamp,
    ) -> StoreResult<Option<Arc<DataRules>>> {
        if let Some((until, rules)) = &*read(&self.0)
            && now < *until
        {
            return Ok(rules.clone());
        }
        let rules = read_data_rules(store, tenant).await?;
        let rules = rules.keeps_texts().then(|| Arc::new(rules));
        *write(&self.0) = Some((now.plus(KNOWN_FOR), rules.clone()));
        Ok(rules)
    }
}
