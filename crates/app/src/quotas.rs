//! How many bytes each user and the organisation may keep on the disk: files sent into the workspace, and documents.

use crate::config::Configuration;
use crate::error::{AppError, AppResult, ErrorKind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use steward_core::UserId;
use steward_core::locks::lock;
use steward_core::upload::UploadedBytes;

/// The settings, MB.
const OF_USER: &str = "STORAGE_PER_USER_MB";
const OF_ORGANISATION: &str = "STORAGE_PER_ORGANISATION_MB";
const MB: u64 = 1_000_000;

/// Whose bytes are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Counted {
    User(UserId),
    Organisation,
}

impl Counted {
    fn named(self) -> &'static str {
        match self {
            Self::User(_) => "you",
            Self::Organisation => "your organisation",
        }
    }

    const fn setting(self) -> &'static str {
        match self {
            Self::User(_) => OF_USER,
            Self::Organisation => OF_ORGANISATION,
        }
    }
}

/// Bytes that are being received, which no row tells of yet.
#[derive(Debug, Default)]
pub struct UploadLedger(Mutex<HashMap<Counted, Account>>);

#[derive(Debug, Clone, Copy, Default)]
struct Account {
    coming: u64,
    /// Of uploads that have ended well, since the start.
    kept: u64,
    /// How many are under way.
    open: u64,
}

/// A quota as it was when an upload began.
#[derive(Debug, Clone, Copy)]
struct Quota {
    counted: Counted,
    most: u64,
    used: u64,
    /// [`Account::kept`] at that time.
    kept: u64,
}

impl Quota {
    fn check(&self, account: Account, more: u64) -> AppResult<()> {
        let used = self.used + (account.kept - self.kept) + account.coming;
        if used + more <= self.most {
            return Ok(());
        }
        let (who, used, most) = (self.counted.named(), used / MB, self.most / MB);
        Err(AppError::new(
            ErrorKind::StorageFull,
            format!("{who} may keep {most} MB of files and documents here, of which {used} MB are in use"),
            format!(
                "delete documents or sent files (Files in the studio and `steward files` list them), or have an administrator raise {}",
                self.counted.setting()
            ),
        )
        .code("quota_exceeded"))
    }
}

/// What an upload takes of its user's and the organisation's quota; given back unless it is kept.
#[derive(Debug)]
pub(crate) struct UploadPlace {
    ledger: Arc<UploadLedger>,
    quotas: [Quota; 2],
    bytes: u64,
}

impl UploadPlace {
    /// Opened before the rows of `user` are read: what is kept meanwhile counts twice rather than not at all.
    pub fn open(ledger: &Arc<UploadLedger>, user: UserId) -> Self {
        let mut accounts = lock(&ledger.0);
        let quotas = [Counted::User(user), Counted::Organisation].map(|counted| {
            let account = accounts.entry(counted).or_default();
            account.open += 1;
            Quota { counted, most: 0, used: 0, kept: account.kept }
        });
        Self { ledger: Arc::clone(ledger), quotas, bytes: 0 }
    }

    /// What rows tell, and how much may be kept.
    pub fn set_used(&mut self, used: UploadedBytes, config: &Configuration) {
        for (quota, used) in self.quotas.iter_mut().zip([used.of_user, used.of_organisation]) {
            quota.used = used;
            let most = config.number(quota.counted.setting());
            quota.most = most.map_or(u64::MAX / 2, |mb| mb.saturating_mul(MB));
        }
    }

    /// Whether so many bytes would fit, which are not taken yet.
    pub fn check(&self, bytes: u64) -> AppResult<()> {
        let accounts = lock(&self.ledger.0);
        let of = |quota: &Quota| accounts.get(&quota.counted).copied().unwrap_or_default();
        self.quotas.iter().try_for_each(|quota| quota.check(of(quota), bytes))
    }

    /// Takes so many more bytes.
    pub fn take(&mut self, bytes: u64) -> AppResult<()> {
        let mut accounts = lock(&self.ledger.0);
        for quota in &self.quotas {
            quota.check(accounts.get(&quota.counted).copied().unwrap_or_default(), bytes)?;
        }
        for quota in &self.quotas {
            accounts.entry(quota.counted).or_default().coming += bytes;
        }
        drop(accounts);
        self.bytes += bytes;
        Ok(())
    }

    /// A row tells of them from now on.
    pub fn keep(mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut accounts = lock(&self.ledger.0);
        for quota in &self.quotas {
            let account = accounts.entry(quota.counted).or_default();
            account.coming -= bytes;
            account.kept += bytes;
        }
    }
}

impl Drop for UploadPlace {
    fn drop(&mut self) {
        let mut accounts = lock(&self.ledger.0);
        for quota in &self.quotas {
            let Some(account) = accounts.get_mut(&quota.counted) else { continue };
            account.coming -= self.bytes;
            account.open -= 1;
            if account.open == 0 {
                accounts.remove(&quota.counted);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{UploadLedger, UploadPlace};
    use crate::error::ErrorKind;
    use std::sync::Arc;
    use steward_core::UserId;
    use steward_core::locks::lock;
    use uuid::Uuid;

    fn begin(ledger: &Arc<UploadLedger>, number: u128, used: u64) -> UploadPlace {
        let mut place = UploadPlace::open(ledger, UserId(Uuid::from_u128(number)));
        for (quota, most) in place.quotas.iter_mut().zip([100, 150]) {
            (quota.used, quota.most) = (used, most);
        }
        place
    }

    #[test]
    fn uploads_at_the_same_time_count_together() {
        let ledger = Arc::default();
        let (mut one, mut other, mut of_another) = (begin(&ledger, 1, 0), begin(&ledger, 1, 0), begin(&ledger, 2, 0));
        one.take(60).unwrap();
        assert_eq!(other.take(50).unwrap_err().kind, ErrorKind::StorageFull);
        other.take(40).unwrap();
        assert_eq!(of_another.take(60).unwrap_err().detail.code, Some("quota_exceeded"));
        of_another.take(50).unwrap();
        // The other began before a row told of this one.
        one.keep();
        assert!(other.take(1).is_err());
        drop(other);
        let mut later = begin(&ledger, 1, 60);
        later.take(40).unwrap();
        drop((later, of_another));
        assert!(lock(&ledger.0).is_empty(), "nothing is kept of who has ended");
    }
}
