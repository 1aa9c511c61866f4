//! Users, logins, settings, virtual keys, credentials and idempotency keys in memory, by the rules of the store's
//! ports. The store is proved by its own tests; this is for tests of what uses it.

mod credentials;
mod idempotency;
mod sessions;
mod users;
mod virtual_keys;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use steward_core::UserId;
use steward_core::ports::{LoginSession, StoreError, User};

/// A few tables of a single tenant.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    users: HashMap<UserId, User>,
    sessions: Vec<LoginSession>,
    settings: BTreeMap<String, serde_json::Value>,
    keys: HashMap<(String, String), idempotency::Kept>,
    virtual_keys: BTreeMap<uuid::Uuid, virtual_keys::Kept>,
    credentials: Vec<steward_core::ports::SealedCredential>,
    credential_uses: Vec<steward_core::credential::CredentialUse>,
    broken: bool,
}

impl Memory {
    /// `true`: from now on every call fails as if the database were gone; `false` ends that.
    pub fn break_down(&self, broken: bool) {
        self.lock().broken = broken;
    }

    pub fn set_role(&self, email: &str, role: &str) {
        let mut tables = self.lock();
        for user in tables.users.values_mut().filter(|user| user.email == email) {
            role.clone_into(&mut user.role);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tables(&self) -> Result<MutexGuard<'_, Tables>, StoreError> {
        let tables = self.lock();
        if tables.broken {
            return Err(StoreError::Backend("it was told to fail".to_owned()));
        }
        Ok(tables)
    }
}
