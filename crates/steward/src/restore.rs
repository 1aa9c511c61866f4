//! `restore` and `backup verify`: a backup becomes a data folder, which is opened and checked before anybody gets it.

use crate::api_state::owner_state;
use crate::cli::{Global, Restore};
use crate::compose::{Composition, Options};
use crate::settings::Settings;
use crate::term::{Exit, Term, print_line};
use anyhow::{Context as _, anyhow, bail};
use secrecy::SecretString;
use serde_json::json;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use steward_app::{BackupError, ErasedPerson, RestoredCheck, Tenants, Unpacked, backup_is_sealed, read_erased, unpack};
use steward_cli::client::workspace;
use steward_cli::commands::backup::{PassphraseArgs, Verify};
use steward_cli::options::size;
use tempfile::TempDir;

/// What was found in a folder that a backup was unpacked into.
struct Opened {
    check: RestoredCheck,
    /// Names of credentials that no key here opens, by organisation.
    sealed_credentials: Vec<String>,
    erased: u64,
    waiting: Vec<String>,
}

/// Puts a backup into the data folder, which must be empty or absent.
pub async fn restore(global: &Global, settings: Settings, args: Restore, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.json);
    let begun = Instant::now();
    if settings.database.is_some() {
        bail!(
            "the settings name a PostgreSQL database, and backups are of the embedded one; restore PostgreSQL by `pg_restore`, or leave --database and STEWARD_DATABASE out"
        );
    }
    let target = std::path::absolute(&settings.data_dir).context("the data folder has no name")?;
    require_empty(&target)?;
    let backup = open_backup(&args.file)?;
    let passphrase = passphrase_of(&args.file, &args.passphrase, term).await?;
    let people = match &args.erasures {
        None => Vec::new(),
        Some(path) => erased_people(path, passphrase.clone(), &args.passphrase, term).await?,
    };
    let above = target.parent().context("the data folder can't be the root folder")?;
    std::fs::create_dir_all(above).with_context(|| format!("cannot make {}", above.display()))?;
    let name = target.file_name().context("the data folder has no name")?.to_string_lossy().into_owned();
    tell_remains(above, &name, term);
    // Beside it, so that it can be put in place at once; it goes again if anything is wrong.
    let building = tempfile::Builder::new().prefix(&prefix_of(&name)).tempdir_in(above);
    let building = building.with_context(|| format!("cannot make a folder in {}", above.display()))?;
    let unpacked = unpack_into(backup, building.path(), passphrase, term).await?;
    let opened = open(global, building.path(), &unpacked, &people, true, term).await?;
    if let Some(problem) = opened.check.problems().next() {
        bail!("what was restored isn't what it was: {problem}; take another copy of the backup or an older one");
    }
    fail::fail_point!("restore.checked");
    put_in_place(building, &target)?;
    fail::fail_point!("restore.placed");
    tell_restored(&unpacked, &opened, &target, begun, term);
    Ok(Exit::Done)
}

/// Restores a backup into a scratch folder, checks it and throws it away.
pub async fn verify(global: &Global, args: Verify, term: Term) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    let backup = open_backup(&args.file)?;
    let passphrase = passphrase_of(&args.file, &args.passphrase, term).await?;
    let builder = || tempfile::Builder::new().prefix("steward-verify-").to_owned();
    let scratch = match &args.scratch {
        Some(folder) => builder().tempdir_in(folder),
        None => builder().tempdir(),
    };
    let scratch = scratch.context("no scratch folder can be made; name a folder for it by --scratch DIR")?;
    let unpacked = unpack_into(backup, scratch.path(), passphrase, term).await?;
    let opened = open(global, scratch.path(), &unpacked, &[], false, term).await?;
    term.clear();
    let problems: Vec<String> = opened.check.problems().collect();
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let found = json!({
        "ok": problems.is_empty(), "made_at": unpacked.head.made_at, "program": unpacked.head.program,
        "sealed": unpacked.head.sealed.is_some(), "files": unpacked.totals.files, "bytes": unpacked.totals.bytes,
        "sha256": unpacked.totals.list, "organisations": opened.check.tenants,
        "credentials_to_enter_again": opened.sealed_credentials, "ms": ms,
    });
    term.shown(&found, || {
        if problems.is_empty() {
            let (files, bytes) = (unpacked.totals.files, size(unpacked.totals.bytes));
            print_line(format_args!("{} The backup is whole: {files} files, {bytes}.", term.mark(true)));
        }
        for one in &opened.check.tenants {
            print_line(format_args!(
                "{}: {} entries of the audit trail, {} files that rows refer to, {} kept runs replayed",
                one.slug, one.audit_entries, one.files, one.kept_runs
            ));
        }
        for problem in &problems {
            print_line(format_args!("{} {problem}", term.mark(false)));
        }
    });
    Ok(if problems.is_empty() { Exit::Done } else { Exit::Failed })
}

fn open_backup(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).with_context(|| format!("the backup {} can't be opened", path.display()))?;
    if !file.metadata()?.is_file() {
        bail!("{} is no file; name a file that `steward backup` made", path.display());
    }
    Ok(file)
}

async fn passphrase_of(path: &Path, args: &PassphraseArgs, term: Term) -> anyhow::Result<Option<SecretString>> {
    if backup_is_sealed(path).map_err(told)? { Ok(Some(args.read(term).await?)) } else { Ok(None) }
}

/// The other file may be sealed with the same passphrase, or with another one, which is asked for.
async fn erased_people(
    path: &Path,
    same: Option<SecretString>,
    args: &PassphraseArgs,
    term: Term,
) -> anyhow::Result<Vec<ErasedPerson>> {
    match read_erased(path, || same) {
        Err(BackupError::NeedsPassphrase | BackupError::WrongPassphrase) => {
            term.say(&format!("{} has a passphrase of its own.", path.display()));
            let other = args.read(term).await?;
            read_erased(path, || Some(other)).map_err(told)
        }
        read => read.map_err(told),
    }
}

async fn unpack_into(
    backup: File,
    folder: &Path,
    passphrase: Option<SecretString>,
    term: Term,
) -> anyhow::Result<Unpacked> {
    let folder = folder.to_owned();
    let mut last: Option<Instant> = None;
    let mut progress = move |done, total| {
        if last.is_none_or(|last| last.elapsed().as_millis() >= 200) {
            last = Some(Instant::now());
            term.status(&format!("unpacked: {} of {}…", size(done), size(total)));
        }
        true
    };
    let unpacked = tokio::task::spawn_blocking(move || unpack(backup, &folder, || passphrase, &mut progress));
    let unpacked = unpacked.await.map_err(|_| anyhow!("unpacking was cut off"))?;
    term.clear();
    unpacked.map_err(told)
}

/// Opens the folder as a command does, checks it, and closes it again.
async fn open(
    global: &Global,
    folder: &Path,
    unpacked: &Unpacked,
    people: &[ErasedPerson],
    restored: bool,
    term: Term,
) -> anyhow::Result<Opened> {
    let global = Global { data_dir: Some(folder.to_owned()), database: None, ..global.clone() };
    let mut settings = Settings::read(&global)?;
    settings.database = None;
    let parts = Arc::new(Composition::open(&settings, Options::default()).await?);
    let done = check(&parts, unpacked, people, restored, term).await;
    parts.close().await;
    done
}

async fn check(
    parts: &Arc<Composition>,
    unpacked: &Unpacked,
    people: &[ErasedPerson],
    restored: bool,
    term: Term,
) -> anyhow::Result<Opened> {
    let (state, _) = owner_state(parts, &workspace(None).unwrap_or_default()).await?;
    let tenants = state.tenants.clone();
    let usage = tenants.installation().usage_writer.clone();
    tenants.open_all().await?;
    let done = check_tenants(&tenants, parts, unpacked, people, restored, term).await;
    tenants.close_all().await;
    usage.close().await;
    done
}

async fn check_tenants(
    tenants: &Tenants,
    parts: &Arc<Composition>,
    unpacked: &Unpacked,
    people: &[ErasedPerson],
    restored: bool,
    term: Term,
) -> anyhow::Result<Opened> {
    let app_error = |error: steward_app::AppError| anyhow!("{}; {}", error.detail.title, error.detail.hint);
    let mut stage = |what: String| term.status(&format!("checking {what}…"));
    let check = tenants.check_restored(&unpacked.manifest, &mut stage).await.map_err(app_error)?;
    let mut sealed_credentials = Vec::new();
    if parts.shared.vault_keys.check().await.is_err() {
        sealed_credentials = tenants.credential_names().await.map_err(app_error)?;
    }
    let (erased, waiting) = tenants.erase_again(people).await.map_err(app_error)?;
    if restored {
        tenants.note_restored(unpacked, erased).await.map_err(app_error)?;
    }
    Ok(Opened { check, sealed_credentials, erased, waiting })
}

/// Refuses a folder in which anything lies, and says so first where a server works in it.
fn require_empty(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    let mut entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("the data folder {shown} can't be read")),
    };
    if let Ok(lock) = File::open(folder.join("steward.lock"))
        && matches!(lock.try_lock(), Err(TryLockError::WouldBlock))
    {
        bail!("a server or command works in the data folder {shown}; stop it, and restore into another, empty folder");
    }
    if entries.next().is_some() {
        bail!(
            "the data folder {shown} isn't empty, and nothing is written over; move it away, or choose another folder with --data-dir"
        );
    }
    Ok(())
}

/// Named so that who finds one knows what it is.
fn prefix_of(name: &str) -> String {
    format!(".{name}.restoring-")
}

/// Those of restores that were killed.
fn tell_remains(above: &Path, name: &str, term: Term) {
    let Ok(entries) = std::fs::read_dir(above) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix_of(name)) {
            let path = entry.path();
            term.warn(&format!("a restore that was interrupted has left {}; delete it", path.display()));
        }
    }
}

fn put_in_place(building: TempDir, target: &Path) -> anyhow::Result<()> {
    let shown = target.display();
    let above = target.parent().unwrap_or(Path::new("/"));
    // Over an empty folder, too; anything in it refuses this.
    std::fs::rename(building.path(), target)
        .with_context(|| format!("the restored folder can't be put at {shown}; nothing was put there"))?;
    // It has another name now.
    let _moved: PathBuf = building.keep();
    File::open(above).and_then(|above| above.sync_all()).with_context(|| format!("{shown} was written, but not safely"))
}

fn tell_restored(unpacked: &Unpacked, opened: &Opened, target: &Path, begun: Instant, term: Term) {
    term.clear();
    let (totals, manifest) = (&unpacked.totals, &unpacked.manifest);
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let found = json!({
        "data_dir": target, "made_at": unpacked.head.made_at, "files": totals.files, "bytes": totals.bytes,
        "sha256": totals.list, "keys": manifest.keys, "credentials_to_enter_again": opened.sealed_credentials,
        "erased_again": opened.erased, "erasures_waiting": opened.waiting, "left_out": manifest.left_out, "ms": ms,
    });
    term.shown(&found, || {
        let (files, bytes) = (totals.files, size(totals.bytes));
        let done = term.green(&format!("Restored into {}", target.display()));
        print_line(format_args!("{done}: {files} files, {bytes}, checked."));
        if !manifest.keys {
            print_line(format_args!(
                "Keys were left out of the backup: everybody logs in again, and `steward` makes itself a new key."
            ));
        }
        if !opened.sealed_credentials.is_empty() {
            print_line(format_args!(
                "No key opens these credentials; enter them again in the vault: {}",
                opened.sealed_credentials.join(", ")
            ));
        }
        if opened.erased > 0 {
            print_line(format_args!("{} people were erased again.", opened.erased));
        }
        for why in &opened.waiting {
            print_line(format_args!("An erasure goes on when the server runs: {why}"));
        }
        print_line(format_args!(
            "Runs that were at work go on when a server starts. See to it that the old one doesn't run any more: steward serve"
        ));
    });
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn told(error: BackupError) -> anyhow::Error {
    anyhow!("{error}; {}", error.hint())
}
