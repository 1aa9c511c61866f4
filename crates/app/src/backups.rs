//! Backups of the whole installation: all tenants, since they share the database. `steward restore` and `steward backup
//! verify` read them without a server, by [`unpack`] and [`Tenants::check_restored`].

mod check;
mod container;
mod contents;
mod error;
mod make;
mod manifest;
mod progress;
mod unpack;

pub use check::{RestoredCheck, TenantCheck};
pub use container::Head as BackupHead;
pub use error::BackupError;
pub use manifest::{ErasedPerson, Manifest as BackupManifest};
pub use unpack::{Unpacked, backup_is_sealed, read_erased, unpack};

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::dto::backups::{BackupFailure, BackupInput, BackupProgress, BackupRecord, BackupReport, BackupStage};
use crate::dto::retention::Erasure;
use crate::erasure::ERASURES_SETTING;
use crate::settings::kept_setting;
use crate::tenants::Tenants;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use make::{Job, Made};
use manifest::{Manifest, ManifestTenant};
use progress::Progress;
use secrecy::SecretString;
use serde_json::json;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;
use steward_access::{BackupKey, SHORTEST_BACKUP_PASSPHRASE};
use steward_core::audit::{AuditEntry, AuditResult};
use steward_core::credential::CredentialUse;
use steward_core::ports::{Settings as _, StoreResult};
use steward_core::{TenantId, Timestamp, UserId};
use steward_store::schema_steps;
use steward_tools::{HostNewFile, HostPolicy};
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{Mutex, MutexGuard};

/// The last backups.
const MADE_SETTING: &str = "backups.made";
/// How many of them are known.
const MAX_RECORDS: usize = 50;
/// Ends the name of every backup, so that none can be taken for a file that a program of the machine reads.
const EXTENSION: &str = "backup";
/// Field of a credential of several.
const SECRET_FIELD: &str = "password";
const BEHIND: usize = 16;

/// Held while a backup is made.
static MAKING: Mutex<()> = Mutex::const_new(());

impl Tenants {
    /// Makes a backup, piece by piece; the last item has the report, or why there is none. Who goes away stops it.
    pub async fn back_up(&self, caller: &Caller, input: BackupInput) -> AppResult<BoxStream<'static, BackupProgress>> {
        authorize(caller, Action::Administer, Resource::Backups)?;
        let home = self.installation().clone();
        if !home.store.is_embedded() {
            return Err(on_postgres());
        }
        let Ok(making) = MAKING.try_lock() else {
            let hint = "wait for its end; `steward backup list` shows it then";
            return Err(AppError::conflict("backup_at_work", "another backup is being made", hint));
        };
        let passphrase = home.backup_passphrase(&input).await?;
        let path = PathBuf::from(input.path.trim());
        let target = self.open_target(&path).await?;
        let key = match passphrase {
            None => None,
            Some(passphrase) => {
                let made = tokio::task::spawn_blocking(move || BackupKey::make(&passphrase)).await;
                Some(made.ok().flatten().ok_or_else(too_short)?)
            }
        };
        let entry = home.audit_entry_of(caller, "backups.create").on(path.display().to_string());
        let entry = entry.with("sealed", key.is_some()).with("workspaces", input.workspaces);
        home.record_audit(&entry).await?;
        let job = Job {
            store: home.store.clone(),
            data_dir: PathBuf::from(&home.facts.data_dir),
            manifest: self.manifest().await?,
            target,
            key,
            workspaces: input.workspaces,
            program: home.facts.version.clone(),
            at: home.now(),
        };
        let (told, progress) = channel(BEHIND);
        let ended = home.audit_entry_of(caller, "backups.created").on(path.display().to_string());
        let apps = self.all();
        tokio::spawn(home.carry_out_backup(job, path, (ended, apps), told, making));
        let lines = stream::unfold(progress, async |mut progress| {
            let line = progress.recv().await?;
            Some((line, progress))
        });
        Ok(lines.boxed())
    }

    /// The last ones, the newest first.
    pub async fn backups(&self, caller: &Caller) -> AppResult<Vec<BackupRecord>> {
        authorize(caller, Action::Administer, Resource::Backups)?;
        let mut all = self.installation().backup_records().await?;
        all.reverse();
        Ok(all)
    }

    /// Ids of all who were erased, for a restore of an older backup.
    pub async fn erased_people(&self, caller: &Caller) -> AppResult<Vec<ErasedPerson>> {
        authorize(caller, Action::Administer, Resource::Backups)?;
        Ok(self.erased().await?)
    }

    async fn erased(&self) -> StoreResult<Vec<ErasedPerson>> {
        let store = &self.installation().store;
        let mut erased = Vec::new();
        for tenant in self.prepare().await? {
            let asked: Vec<Erasure> = kept_setting(store, tenant.id, ERASURES_SETTING).await?;
            erased.extend(asked.iter().map(|one| ErasedPerson {
                tenant: tenant.id,
                user: UserId(one.user_id),
                asked_at: Timestamp(one.asked_at),
            }));
        }
        Ok(erased)
    }

    /// As far as it is known before the database is copied.
    async fn manifest(&self) -> AppResult<Manifest> {
        let home = self.installation();
        let mut tenants = Vec::new();
        for row in self.prepare().await? {
            // What is acknowledged is in the chain that the copy has.
            crate::audit::seal_audit(&home.store, row.id).await?;
            let audit = home.store.audit_ends(row.id).await?.head;
            tenants.push(ManifestTenant { id: row.id, slug: row.slug, audit });
        }
        Ok(Manifest { schema: schema_steps(), tenants, erased: self.erased().await?, ..Manifest::default() })
    }

    /// The file that a backup is written to. It can't lie where agents or the program itself read.
    async fn open_target(&self, path: &Path) -> AppResult<HostNewFile> {
        let home = self.installation();
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(AppError::invalid("path", "this is no name of a file", "give an absolute path on the server"));
        };
        if path.extension() != Some(OsStr::new(EXTENSION)) {
            let title = format!("the name of a backup ends with `.{EXTENSION}`");
            return Err(AppError::invalid("path", title, format!("name it `{}.{EXTENSION}`", path.display())));
        }
        let mut apart = vec![PathBuf::from(&home.facts.data_dir)];
        apart.extend(self.all().iter().map(|app| PathBuf::from(app.workspace.copy())));
        let (places, folder, name) = (home.documents.places.clone(), folder.to_owned(), name.to_owned());
        let found = tokio::task::spawn_blocking(move || create_target(&places, &folder, &name, &apart)).await;
        found.map_err(|_| AppError::unavailable("the path could not be looked at"))?
    }
}

fn create_target(places: &HostPolicy, folder: &Path, name: &OsStr, apart: &[PathBuf]) -> AppResult<HostNewFile> {
    let shown = folder.to_string_lossy();
    let folder = places.resolve(&shown).map_err(BackupError::from)?;
    let apart = apart.iter().filter_map(|one| one.canonicalize().ok());
    if let Some(held) = apart.into_iter().find(|one| folder.path().starts_with(one)) {
        let title = format!("a backup can't lie in {}, which agents or Steward itself read", held.display());
        return Err(AppError::invalid("path", title, "choose a folder outside of the data folder and workspaces"));
    }
    Ok(folder.create(name).map_err(BackupError::from)?)
}

impl App {
    async fn carry_out_backup(
        self,
        job: Job,
        path: PathBuf,
        (entry, apps): (AuditEntry, Vec<App>),
        told: Sender<BackupProgress>,
        making: MutexGuard<'static, ()>,
    ) {
        let (begun, sealed) = (Instant::now(), job.key.is_some());
        let made = job.run(Progress::new(told.clone())).await;
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        for app in apps {
            app.documents.forget_taken_away().await;
        }
        let path = path.display().to_string();
        let error = made.as_ref().err().map(ToString::to_string);
        let bytes = made.as_ref().map_or(0, |made| made.bytes);
        let record = BackupRecord { at: self.now(), path: path.clone(), bytes, sealed, ms, error: error.clone() };
        let entry = match &error {
            None => entry.with("bytes", bytes).with("ms", ms),
            Some(error) => entry.ended(AuditResult::Failed).with("error", error.as_str()),
        };
        let noted = self.note_backup(record).await;
        for failed in [noted.err(), self.record_audit(&entry).await.err()].into_iter().flatten() {
            tracing::error!(error = %failed, "a backup could not be written down");
        }
        match &error {
            None => tracing::info!(path, bytes, ms, "a backup was made"),
            Some(error) => tracing::error!(path, error, "a backup failed"),
        }
        drop(making);
        let mut last = BackupProgress::of(BackupStage::Files, 0, 0);
        match made {
            Ok(Made { bytes, totals, left_out }) => {
                last = BackupProgress::of(BackupStage::Files, totals.bytes, totals.bytes);
                let (files, content_bytes, sha256) = (totals.files, totals.bytes, totals.list);
                last.report = Some(BackupReport { path, bytes, files, content_bytes, sha256, sealed, ms, left_out });
            }
            Err(error) => last.failure = Some(BackupFailure { title: error.to_string(), hint: error.hint() }),
        }
        // They may have gone.
        let _heard = told.send(last).await;
    }

    async fn note_backup(&self, record: BackupRecord) -> AppResult<()> {
        let mut all = self.backup_records().await?;
        all.push(record);
        let from = all.len().saturating_sub(MAX_RECORDS);
        Ok(self.store.set_setting(TenantId::DEFAULT, MADE_SETTING, &json!(all[from..])).await?)
    }

    /// The newest last.
    pub(crate) async fn backup_records(&self) -> StoreResult<Vec<BackupRecord>> {
        kept_setting(&self.store, TenantId::DEFAULT, MADE_SETTING).await
    }

    async fn backup_passphrase(&self, input: &BackupInput) -> AppResult<Option<SecretString>> {
        let given = match (&input.passphrase, input.passphrase_credential) {
            (None, None) => return Ok(None),
            (Some(given), None) => SecretString::from(given.clone()),
            (None, Some(id)) => {
                let used =
                    CredentialUse { credential: id, run: None, agent: None, tool: "backup".into(), at: self.now() };
                let mut fields = self.vault.open(self.tenant(), id, used).await?.fields;
                let only = if fields.len() == 1 { fields.pop_first().map(|(_, value)| value) } else { None };
                only.or_else(|| fields.remove(SECRET_FIELD)).ok_or_else(|| {
                    let title = "this credential has no single secret, and no field `password`";
                    AppError::invalid("passphrase_credential", title, "name one that is a password or a token")
                })?
            }
            _ => {
                let hint = "send `passphrase` or `passphrase_credential`";
                return Err(AppError::invalid("passphrase", "there are two passphrases", hint));
            }
        };
        Ok(Some(given))
    }
}

fn too_short() -> AppError {
    let title = format!("the passphrase is shorter than {SHORTEST_BACKUP_PASSPHRASE} characters");
    AppError::invalid("passphrase", title, "choose a longer one, such as several words, and keep it elsewhere")
}

fn on_postgres() -> AppError {
    let hint = "make the database's backup with `pg_dump --format=custom`, and copy `blobs`, `documents`, \
                `agent-databases`, `calendars`, `tenants`, `vault.key` and `signing.key` of the data folder after it; \
                docs/backup.md says how, and how to put them back";
    AppError::new(ErrorKind::Conflict, "the database is on PostgreSQL, which has backups of its own", hint)
        .code("postgresql")
}
