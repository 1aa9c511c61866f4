//! What lies in a data folder, and what of it a backup holds.

use super::error::BackupError;
use crate::dto::backups::LeftOut;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};
use steward_tools::{HostEntry, HostPath, HostPathError, HostPolicy, HostRules};

/// Where a copy of the database lies while a backup is made.
pub const STAGING: &str = "backup-copy";
pub const DATABASE: &str = "steward.db";
const TENANTS: &str = "tenants";
const AGENTS: &str = "agent-databases";
const DOCUMENTS: &str = "documents";
const BLOBS: &str = "blobs";
const WORKSPACE: &str = "workspace";
/// Begins the name of a file that was taken away while it was wanted still.
const TAKEN: &str = "incoming-gone-";
const ASIDE: &str = ".aside";
/// Most names that are told of what isn't in a backup.
const MAX_LEFT_OUT: usize = 200;

/// What becomes of a file of the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Copied as it is at one moment.
    Database,
    /// A private database of an agent, copied between two calls.
    AgentDatabase,
    File,
    /// In a workspace: people and agents change it meanwhile.
    Workspace,
    /// A key, or something that may hold secrets: only in a sealed backup.
    Secret,
    /// Made again, or of no use in another place.
    No,
    /// Not in a backup, though it can't be made again.
    Told(&'static str),
}

/// `path`: in the data folder. A tenant's folder has the same as that of the installation.
pub fn kept(path: &str) -> Kept {
    let parts: Vec<&str> = path.split('/').collect();
    let (parts, of_tenant) = match parts.as_slice() {
        [TENANTS, id, rest @ ..] if is_id(id) && !rest.is_empty() => (rest, true),
        rest => (rest, false),
    };
    match parts {
        [DATABASE] if !of_tenant => Kept::Database,
        [AGENTS, _, name] if is_database(name) => Kept::AgentDatabase,
        [AGENTS, ..] if path.ends_with(".before") => Kept::Told("what takes back an agent's last change of tables"),
        [BLOBS, .., name] if is_hash(name) => Kept::File,
        [DOCUMENTS, _, name] if is_hash(name) => Kept::File,
        ["calendars", _, ..] | ["ssh_known_hosts.json" | "prices.json"] => Kept::File,
        [WORKSPACE, _, ..] => Kept::Workspace,
        [AGENTS | BLOBS | DOCUMENTS | "index" | "index-of-models" | "backups" | "run" | STAGING, ..]
        | ["steward.db-wal" | "steward.db-shm" | "steward.lock" | "serve.json"] => Kept::No,
        [name] if Path::new(name).extension() == Some(OsStr::new("new")) => Kept::No,
        _ => Kept::Secret,
    }
}

fn is_id(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_database(name: &str) -> bool {
    Path::new(name).extension() == Some(OsStr::new("db"))
}

/// Whether a path in a backup stays in the folder that it is restored to.
pub fn is_plain_path(path: &str) -> bool {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    plain && !path.is_empty() && !path.contains('\0') && path.split('/').all(|part| !part.is_empty() && part != ".")
}

/// A file that a backup holds.
pub struct FoundFile<'f> {
    /// As it is called in the backup.
    pub path: String,
    pub kept: Kept,
    pub folder: &'f HostPath,
    pub name: &'f OsStr,
    pub bytes: u64,
}

impl FoundFile<'_> {
    /// Opens it without following links. `None`: it has gone.
    pub fn open(&self) -> Result<Option<(std::fs::File, u32)>, BackupError> {
        let opened = self.folder.enter(self.name).and_then(|file| file.open_file());
        let file = match opened {
            Ok(file) => file,
            Err(HostPathError::Unreadable { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            // A folder or a link has come into its place.
            Err(HostPathError::Kind(_) | HostPathError::Link(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mode = file.metadata().map_err(|error| BackupError::Read(self.path.clone(), error))?.mode();
        Ok(Some((file, mode & 0o777)))
    }
}

/// What isn't in a backup, and whether keys are.
#[derive(Default)]
pub struct LeftOuts {
    pub sealed: bool,
    pub named: Vec<LeftOut>,
}

impl LeftOuts {
    fn tell(&mut self, path: String, why: &str) {
        if self.named.len() < MAX_LEFT_OUT {
            self.named.push(LeftOut { path, why: why.to_owned() });
        } else if self.named.len() == MAX_LEFT_OUT {
            self.named.push(LeftOut { path: "…".to_owned(), why: "there is more of it".to_owned() });
        }
    }
}

/// Calls `each` with all files that a backup of this folder holds but the databases, folder after folder.
pub fn walk(
    data_dir: &Path,
    left_out: &mut LeftOuts,
    each: &mut dyn FnMut(FoundFile<'_>) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let unreadable = |error| BackupError::Read(data_dir.display().to_string(), error);
    let root = data_dir.canonicalize().map_err(unreadable)?;
    // Nothing is forbidden here; it keeps links from leading elsewhere.
    let folder = HostPolicy::new(HostRules::default()).open(&root)?;
    walk_in(&folder, "", left_out, each)
}

fn walk_in(
    folder: &HostPath,
    path: &str,
    left_out: &mut LeftOuts,
    each: &mut dyn FnMut(FoundFile<'_>) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let mut entries: Vec<_> = folder.entries()?.collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    tell_links(folder, path, left_out);
    for entry in &entries {
        let Some(name) = entry.name.to_str() else {
            left_out.tell(format!("{path}{}", entry.name.to_string_lossy()), "its name is no text");
            continue;
        };
        let full = format!("{path}{name}");
        if entry.is_folder {
            let known = full == TENANTS || kept(&format!("{full}/-")) != Kept::No || has_files(&full);
            // What has gone meanwhile is not in the backup.
            if known && let Ok(below) = folder.enter(&entry.name) {
                walk_in(&below, &format!("{full}/"), left_out, each)?;
            }
            continue;
        }
        let (full, kept) = match kept(&full) {
            Kept::No => match put_back(path, name, &entries) {
                Some(full) => (full, Kept::File),
                None => continue,
            },
            // Its copy goes in. Opening it here would drop this process's locks on it.
            Kept::Database => continue,
            Kept::Told(why) => {
                left_out.tell(full, why);
                continue;
            }
            Kept::Secret if !left_out.sealed => {
                left_out.tell(full, "it may hold secrets, and only a backup with a passphrase has these");
                continue;
            }
            kept => (full, kept),
        };
        each(FoundFile { path: full, kept, folder, name: &entry.name, bytes: entry.bytes })?;
    }
    Ok(())
}

/// Folders in which only some names count.
fn has_files(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let parts = match parts.as_slice() {
        [TENANTS, id, rest @ ..] if is_id(id) => rest,
        rest => rest,
    };
    matches!(parts, [] | [AGENTS | BLOBS | DOCUMENTS, ..])
}

/// The name under which a file is wanted that was taken away after the copy of the database was made. One that was in its
/// place a moment before may be in the backup twice, with the same content.
fn put_back(path: &str, name: &str, entries: &[HostEntry]) -> Option<String> {
    let is_there = |hash: &str| entries.iter().any(|entry| entry.name == hash);
    if let Some(hash) = name.strip_suffix(ASIDE).filter(|hash| is_hash(hash)) {
        return (path.contains(BLOBS) && !is_there(hash)).then(|| format!("{path}{hash}"));
    }
    let hash = name.strip_prefix(TAKEN).filter(|hash| is_hash(hash))?;
    path.trim_end_matches('/').ends_with(DOCUMENTS).then(|| format!("{path}{}/{hash}", &hash[..2]))
}

/// Links in workspaces are people's own; they could lead anywhere in another place.
fn tell_links(folder: &HostPath, path: &str, left_out: &mut LeftOuts) {
    if kept(&format!("{path}-")) != Kept::Workspace {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder.path()) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_dir() && !kind.is_file()) {
            left_out.tell(format!("{path}{}", entry.file_name().to_string_lossy()), "it is a link or a device");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, is_plain_path, kept};

    #[test]
    fn every_kind_of_file_of_a_data_folder_has_its_place() {
        let hash = "a1".repeat(32);
        let tenant = "tenants/0199f2a4-0000-7000-8000-000000000001";
        for (path, expect) in [
            ("steward.db".to_owned(), Kept::Database),
            ("steward.db-wal".to_owned(), Kept::No),
            (format!("{tenant}/steward.db"), Kept::Secret),
            (format!("blobs/a1/a1/{hash}"), Kept::File),
            ("blobs/a1/a1/.partialx".to_owned(), Kept::No),
            (format!("documents/a1/{hash}"), Kept::File),
            ("documents/looked-at.json".to_owned(), Kept::No),
            (format!("{tenant}/documents/a1/{hash}"), Kept::File),
            ("agent-databases/x/shared.db".to_owned(), Kept::AgentDatabase),
            ("agent-databases/x/shared.db-journal".to_owned(), Kept::No),
            ("calendars/u.ics".to_owned(), Kept::File),
            ("workspace/a/b.txt".to_owned(), Kept::Workspace),
            (format!("{tenant}/workspace/a.txt"), Kept::Workspace),
            ("index/meta.json".to_owned(), Kept::No),
            ("backups/steward-schema-1.0.db".to_owned(), Kept::No),
            ("vault.key".to_owned(), Kept::Secret),
            ("vault.new".to_owned(), Kept::No),
            ("mail.toml".to_owned(), Kept::Secret),
            ("mcp/notes/state".to_owned(), Kept::Secret),
            ("something".to_owned(), Kept::Secret),
        ] {
            assert_eq!(kept(&path), expect, "{path}");
        }
        assert!(matches!(kept("agent-databases/x/shared.db.before"), Kept::Told(_)));
    }

    #[test]
    fn a_path_stays_in_its_folder() {
        for (path, expect) in [
            ("blobs/a", true),
            ("a b/ü", true),
            ("", false),
            ("/etc/passwd", false),
            ("../x", false),
            ("a/../b", false),
            ("a//b", false),
            ("./a", false),
            ("a/.", false),
            ("a/", false),
            ("a\0b", false),
        ] {
            assert_eq!(is_plain_path(path), expect, "{path:?}");
        }
    }
}
