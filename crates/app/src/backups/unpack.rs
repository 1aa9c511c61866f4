//! Reads a backup into a folder: all of it is checked, and what isn't a backup's is refused.

use super::container::{BackupReader, Head};
use super::contents::{Kept, is_plain_path, kept};
use super::error::BackupError;
use super::make::{free_space, require_room};
use super::manifest::{Entry, ErasedPerson, Manifest, Totals};
use secrecy::SecretString;
use serde_json::from_slice;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{BufRead as _, BufReader, BufWriter, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use steward_store::schema_steps;

/// Longest line of a list of erased people, bytes.
const MAX_LINE: usize = 4096;
/// Of the buffers, bytes.
const BUFFER: usize = 256 << 10;
/// Rights that a file in a workspace gets back: never those of another user.
const MODES: u32 = 0o777;

pub struct Unpacked {
    pub head: Head,
    pub manifest: Manifest,
    pub totals: Totals,
}

/// Reads all of a backup into an empty folder. `passphrase` is asked for only where it is sealed; `progress` gets bytes
/// that are done and their number, and `false` ends it. Durable when it returns.
pub fn unpack(
    backup: File,
    target: &Path,
    passphrase: impl FnOnce() -> Option<SecretString>,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Unpacked, BackupError> {
    let input = BufReader::with_capacity(BUFFER, backup);
    let (mut reader, head, manifest) = BackupReader::open(input, passphrase)?;
    check_steps(&head, &manifest)?;
    require_room(free_space(target)?, manifest.bytes)?;
    let mut done = 0;
    while let Some(entry) = reader.next_file()? {
        let kept = kept(&entry.path);
        check_entry(&entry, kept, head.sealed.is_some())?;
        fail::fail_point!("restore.file", |_| Err(BackupError::Stopped));
        let file = create(target, &entry, kept)?;
        let mut copied = |bytes: u64| {
            done += bytes;
            progress(done, manifest.bytes.max(done))
        };
        match file {
            Some(file) => {
                let mut out = BufWriter::with_capacity(BUFFER, file);
                reader.copy(&entry, &mut out, &mut copied)?;
                let file = out.into_inner().map_err(|error| BackupError::Write(error.into_error()))?;
                if let Some(mode) = entry.mode {
                    file.set_permissions(Permissions::from_mode(mode & MODES)).map_err(BackupError::Write)?;
                }
            }
            None => reader.copy(&entry, &mut std::io::sink(), &mut copied)?,
        }
    }
    if !target.join("steward.db").is_file() {
        return Err(BackupError::Damaged { at: 0, what: "there is no database in it".to_owned() });
    }
    fail::fail_point!("restore.unpacked", |_| Err(BackupError::Stopped));
    let synced = File::open(target).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
    synced.map_err(BackupError::Write)?;
    Ok(Unpacked { head, manifest, totals: reader.totals().clone() })
}

/// Whether a passphrase is needed.
pub fn backup_is_sealed(path: &Path) -> Result<bool, BackupError> {
    let file = File::open(path).map_err(BackupError::Input)?;
    match BackupReader::open(BufReader::new(file), || None) {
        Ok(_) => Ok(false),
        Err(BackupError::NeedsPassphrase) => Ok(true),
        Err(error) => Err(error),
    }
}

/// The ids of erased people: of a newer backup, or of a file with one as JSON in each line, as `steward backup erasures`
/// prints them.
pub fn read_erased(
    path: &Path,
    passphrase: impl FnOnce() -> Option<SecretString>,
) -> Result<Vec<ErasedPerson>, BackupError> {
    let open = || File::open(path).map_err(BackupError::Input);
    match BackupReader::open(BufReader::new(open()?), passphrase) {
        Ok((_, _, manifest)) => return Ok(manifest.erased),
        Err(BackupError::NotABackup) => {}
        Err(error) => return Err(error),
    }
    let mut lines = BufReader::new(open()?);
    let (mut erased, mut line, mut at) = (Vec::new(), Vec::new(), 0);
    loop {
        line.clear();
        let mut some = std::io::Read::take(&mut lines, MAX_LINE as u64);
        if some.read_until(b'\n', &mut line).map_err(BackupError::Input)? == 0 {
            return Ok(erased);
        }
        let what = || "this is neither a backup nor a list of erased people".to_owned();
        if !line.trim_ascii().is_empty() {
            erased.push(from_slice(&line).map_err(|_| BackupError::Damaged { at, what: what() })?);
        }
        at += line.len() as u64;
    }
}

/// The steps must be those of this program; it makes the later ones itself.
fn check_steps(head: &Head, manifest: &Manifest) -> Result<(), BackupError> {
    let known = schema_steps();
    if manifest.schema.len() > known.len() {
        return Err(BackupError::Newer { program: head.program.clone() });
    }
    for (step, own) in manifest.schema.iter().zip(&known) {
        if step != own {
            return Err(BackupError::OtherSteps { step: step.name.clone(), program: head.program.clone() });
        }
    }
    Ok(())
}

fn check_entry(entry: &Entry, kept: Kept, sealed: bool) -> Result<(), BackupError> {
    let held = match kept {
        Kept::Database | Kept::AgentDatabase | Kept::File => entry.mode.is_none(),
        Kept::Workspace => true,
        Kept::Secret => sealed && entry.mode.is_none(),
        Kept::No | Kept::Told(_) => false,
    };
    if held && is_plain_path(&entry.path) { Ok(()) } else { Err(BackupError::Unknown(entry.path.clone())) }
}

/// `None`: it is there already with the same content, which is its name.
fn create(target: &Path, entry: &Entry, kept: Kept) -> Result<Option<File>, BackupError> {
    let path: PathBuf = target.join(&entry.path);
    let mut folder = target.to_owned();
    for part in Path::new(&entry.path).parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(BackupError::Write(error)),
            _ => {}
        }
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && kept == Kept::File => Ok(None),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(BackupError::Damaged { at: 0, what: format!("`{}` is in it twice", entry.path) })
        }
        Err(error) => Err(BackupError::Write(error)),
    }
}
