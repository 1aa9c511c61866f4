//! How many bytes each user and the organisation may keep on the disk: files sent into the workspace, and documents.

use crate::app::{App, AppError, AppResult, ErrorKind};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use steward_core::UserId;
use steward_core::locks::lock;
use steward_core::upload::UploadedBytes;

/// The settings, MB.
const OF_USER: &str = "STORAGE_PER_USER_MB";
const OF_ORGANISATION: &str = "STORAGE_PER_ORGANISATION_MB";
const MB: u64 = 1_000_000;
/// Rows of files that are compared with the workspace at a time.
const PAGE: u32 = 500;

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
                "delete documents or sent files (GET /api/files/uploads lists them), or have an administrator raise {}",
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

impl App {
    /// A place for an upload of the user, which may have `length` bytes if that is known.
    pub(crate) async fn begin_counting(&self, user: UserId, length: Option<u64>) -> AppResult<UploadPlace> {
        self.require_disk_room()?;
        let place = self.counting(user).await?;
        let fits = |place: &UploadPlace| {
            let accounts = lock(&self.uploads.0);
            let of = |quota: &Quota| accounts.get(&quota.counted).copied().unwrap_or_default();
            place.quotas.iter().try_for_each(|quota| quota.check(of(quota), length.unwrap_or(1)))
        };
        if fits(&place).is_ok() {
            return Ok(place);
        }
        drop(place);
        // Files may have been removed in the workspace since.
        self.forget_removed_uploads().await?;
        let place = self.counting(user).await?;
        fits(&place)?;
        Ok(place)
    }

    async fn counting(&self, user: UserId) -> AppResult<UploadPlace> {
        let counted = [Counted::User(user), Counted::Organisation];
        // Before the rows are read: what is kept meanwhile counts twice rather than not at all.
        let kept = {
            let mut accounts = lock(&self.uploads.0);
            counted.map(|counted| {
                let account = accounts.entry(counted).or_default();
                account.open += 1;
                account.kept
            })
        };
        let quota = |at: usize| Quota { counted: counted[at], most: u64::MAX, used: 0, kept: kept[at] };
        let mut place = UploadPlace { ledger: Arc::clone(&self.uploads), quotas: [quota(0), quota(1)], bytes: 0 };
        let UploadedBytes { of_user, of_organisation } = self.store.uploaded_bytes(self.tenant(), user).await?;
        for (quota, used) in place.quotas.iter_mut().zip([of_user, of_organisation]) {
            quota.used = used;
            let most = self.config.number(quota.counted.setting());
            quota.most = most.map_or(u64::MAX / 2, |mb| mb.saturating_mul(MB));
        }
        Ok(place)
    }

    /// Forgets rows whose files are gone.
    async fn forget_removed_uploads(&self) -> AppResult<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.store.uploads(self.tenant(), None, after.as_deref(), PAGE).await?;
            let paths: Vec<String> = page.items.into_iter().map(|file| file.path).collect();
            after = paths.last().cloned();
            let workspace = self.workspace.clone();
            let gone = move |path: &String| !Path::new(&workspace).join(path).is_file();
            let gone = tokio::task::spawn_blocking(move || paths.into_iter().filter(gone).collect::<Vec<_>>());
            let gone = gone.await.map_err(|_| AppError::unavailable("the workspace could not be looked at"))?;
            for path in gone {
                self.store.forget_upload(self.tenant(), &path).await?;
            }
            if !page.more {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Counted, Quota, UploadLedger, UploadPlace};
    use crate::app::ErrorKind;
    use std::sync::Arc;
    use steward_core::UserId;
    use steward_core::locks::lock;
    use uuid::Uuid;

    fn begin(ledger: &Arc<UploadLedger>, number: u128, used: u64) -> UploadPlace {
        let mut accounts = lock(&ledger.0);
        let counted = [Counted::User(UserId(Uuid::from_u128(number))), Counted::Organisation];
        let quotas = counted.map(|counted| {
            let account = accounts.entry(counted).or_default();
            account.open += 1;
            let most = if counted == Counted::Organisation { 150 } else { 100 };
            Quota { counted, most, used, kept: account.kept }
        });
        UploadPlace { ledger: Arc::clone(ledger), quotas, bytes: 0 }
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
