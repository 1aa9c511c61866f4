//! Makes a backup, beside all other work: the database as it is at one moment, then the files that it refers to, of which
//! none is removed meanwhile.

use super::container::{BackupWriter, FORMAT, Head, SealedHead};
use super::contents::{DATABASE, FoundFile, Kept, LeftOuts, STAGING, walk};
use super::error::BackupError;
use super::manifest::{Entry, Manifest, Totals};
use super::progress::{Progress, Stage};
use crate::dto::backups::LeftOut;
use std::fs::{DirBuilder, File};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use steward_access::BackupKey;
use steward_core::Timestamp;
use steward_store::Store;
use steward_tools::HostNewFile;
use steward_tools::own_database::OwnDatabases;

/// Stays free on the disk of the backup, and on that of the data while a copy of the database lies there, bytes.
const SPARE: u64 = 64 << 20;
/// Of the buffer in front of the file, bytes.
const BUFFER: usize = 256 << 10;
const TENANT_PARTS: usize = 2;

/// A backup that is to be made.
pub struct Job {
    pub store: Arc<Store>,
    pub data_dir: PathBuf,
    pub target: HostNewFile,
    pub key: Option<BackupKey>,
    /// Without what is counted here.
    pub manifest: Manifest,
    pub workspaces: bool,
    pub program: String,
    pub at: Timestamp,
}

pub struct Made {
    pub bytes: u64,
    pub totals: Totals,
    pub left_out: Vec<LeftOut>,
}

/// What lies beside the data for the time of a backup; removed when it is dropped.
struct Staging(PathBuf);

impl Staging {
    /// What a killed backup left is removed first.
    fn open(data_dir: &Path) -> Result<Self, BackupError> {
        let path = data_dir.join(STAGING);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(BackupError::Write(error)),
            _ => {}
        }
        DirBuilder::new().mode(0o700).create(&path).map_err(BackupError::Write)?;
        Ok(Self(path))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "the copy of the database is left until the next backup");
        }
    }
}

impl Job {
    pub async fn run(self, progress: Progress) -> Result<Made, BackupError> {
        let pause = self.store.pause_removals();
        let (data_dir, opening) = (self.data_dir.clone(), self.data_dir.clone());
        let staging = blocking(move || {
            require_room(free_space(&data_dir)?, database_size(&data_dir))?;
            Staging::open(&opening)
        })
        .await?;
        let copy = staging.0.join(DATABASE);
        let told = progress.clone();
        // Pages are told in kilobytes of the usual size.
        let copied = move |done, total| told.tell(Stage::Database, done * 4096, total * 4096);
        let copied = self.store.copy_database(&copy, Box::new(copied)).await;
        copied.map_err(|error| if progress.is_stopped() { BackupError::Stopped } else { error.into() })?;
        fail::fail_point!("backup.copied", |_| Err(BackupError::Stopped));
        let made = blocking(move || self.write(&staging, &progress)).await;
        drop(pause);
        made
    }

    fn write(mut self, staging: &Staging, progress: &Progress) -> Result<Made, BackupError> {
        let copy = staging.0.join(DATABASE);
        self.manifest.database_bytes = size_of(&copy)?;
        let mut left_out = LeftOuts { sealed: self.key.is_some(), named: Vec::new() };
        let (mut bytes, workspaces) = (self.manifest.database_bytes, self.workspaces);
        walk(&self.data_dir, &mut left_out, &mut |found| {
            if workspaces || found.kept != Kept::Workspace {
                bytes += found.bytes;
            }
            Ok(())
        })?;
        if !workspaces {
            let why = "workspaces were to be left out".to_owned();
            left_out.named.push(LeftOut { path: "workspace".to_owned(), why });
        }
        require_room(self.target.free_space().map_err(BackupError::Write)?, bytes)?;
        self.manifest.bytes = bytes;
        self.manifest.keys = self.key.is_some();
        self.manifest.left_out.clone_from(&left_out.named);
        let head = Head {
            format: FORMAT,
            program: self.program,
            made_at: self.at.0,
            sealed: self.key.as_ref().map(SealedHead::of),
        };
        let out = BufWriter::with_capacity(BUFFER, self.target.file().try_clone().map_err(BackupError::Write)?);
        let writer = BackupWriter::begin(out, self.key, &head, &self.manifest).map_err(BackupError::Write)?;
        let mut files = Files { writer, data_dir: &self.data_dir, staging, progress, done: 0, total: bytes };
        let database = File::open(&copy).map_err(|error| BackupError::Read(DATABASE.to_owned(), error))?;
        files.add(&Entry { path: DATABASE.to_owned(), mode: None }, database)?;
        // It takes as much room as the database itself.
        std::fs::remove_file(&copy).map_err(BackupError::Write)?;
        fail::fail_point!("backup.database", |_| Err(BackupError::Stopped));
        walk(&self.data_dir, &mut LeftOuts { sealed: left_out.sealed, named: Vec::new() }, &mut |found| {
            if found.kept == Kept::Workspace && !workspaces { Ok(()) } else { files.add_found(&found) }
        })?;
        let (mut out, totals) = files.writer.end().map_err(BackupError::Write)?;
        out.flush().map_err(BackupError::Write)?;
        drop(out);
        fail::fail_point!("backup.written", |_| Err(BackupError::Stopped));
        let bytes = self.target.file().metadata().map_err(BackupError::Write)?.len();
        self.target.keep()?;
        fail::fail_point!("backup.kept", |_| Err(BackupError::Stopped));
        Ok(Made { bytes, totals, left_out: left_out.named })
    }
}

/// Where files go, one after the other.
struct Files<'w> {
    writer: BackupWriter<BufWriter<File>>,
    data_dir: &'w Path,
    staging: &'w Staging,
    progress: &'w Progress,
    done: u64,
    total: u64,
}

impl Files<'_> {
    fn add(&mut self, entry: &Entry, file: File) -> Result<(), BackupError> {
        let (progress, done, total) = (self.progress, &mut self.done, self.total);
        self.writer.file(entry, file, |bytes| {
            *done += bytes;
            progress.tell(Stage::Files, *done, total.max(*done))
        })
    }

    fn add_found(&mut self, found: &FoundFile<'_>) -> Result<(), BackupError> {
        if found.kept == Kept::AgentDatabase {
            return self.add_database(found);
        }
        let Some((file, mode)) = found.open()? else { return Ok(()) };
        let mode = (found.kept == Kept::Workspace).then_some(mode);
        self.add(&Entry { path: found.path.clone(), mode }, file)
    }

    fn add_database(&mut self, found: &FoundFile<'_>) -> Result<(), BackupError> {
        let copy = self.staging.0.join("agent.db");
        // As the tenant's own parts call it, so that they wait for each other.
        let parts: Vec<&str> = found.path.splitn(TENANT_PARTS + 1, '/').collect();
        let (folder, path) = match parts.as_slice() {
            ["tenants", id, rest] => (self.data_dir.join("tenants").join(id), (*rest).to_owned()),
            _ => (self.data_dir.to_owned(), found.path.clone()),
        };
        let failed = |error: String| BackupError::Read(found.path.clone(), std::io::Error::other(error));
        let copied = OwnDatabases::copy_file(&folder, Path::new(&path), &copy).map_err(|e| failed(e.to_string()))?;
        if !copied {
            return Ok(());
        }
        let file = File::open(&copy).map_err(|error| BackupError::Read(found.path.clone(), error))?;
        self.add(&Entry { path: found.path.clone(), mode: None }, file)
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(BackupError::CutOff))
}

pub(super) fn require_room(free: u64, needed: u64) -> Result<(), BackupError> {
    const MB: u64 = 1_000_000;
    let needed = needed.saturating_add(SPARE);
    if free >= needed {
        return Ok(());
    }
    Err(BackupError::NoRoom { needed: needed.div_ceil(MB), free: free / MB })
}

/// Bytes that are free where a folder is.
pub(super) fn free_space(folder: &Path) -> Result<u64, BackupError> {
    let found = rustix::fs::statvfs(folder).map_err(|errno| BackupError::Write(errno.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

fn database_size(data_dir: &Path) -> u64 {
    // Not opened: to close another handle would drop the locks of this process on it.
    data_dir.join(DATABASE).metadata().map_or(0, |found| found.len())
}

fn size_of(path: &Path) -> Result<u64, BackupError> {
    Ok(path.metadata().map_err(|error| BackupError::Read(path.display().to_string(), error))?.len())
}
