use crate::error::{ToolsError, refused};
use crate::files::blocking;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fchmod, fstat, open as open_fd, openat2};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::string::FromUtf8Error;
use std::sync::Arc;
use steward_core::hash;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{ToolOutput, Undo};
use steward_sandbox::files::{FileLimits, FilesError, Node, Present, PutBack, Tree, Workspace};

const MAX_ENTRIES: usize = 5_000;
const MAX_BYTES: u64 = 64 << 20;
/// Most files and folders whose times of change are compared where the content is too much to keep.
const MAX_STAMPS: usize = 200_000;
/// Most changed paths that a failure names.
const MAX_NAMED: usize = 10;
/// Content up to this many bytes is kept in the record itself.
const INLINE_BYTES: usize = 1 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum PriorEntry {
    Absent,
    Folder {
        mode: u32,
    },
    Link {
        target: String,
    },
    Text {
        mode: u32,
        text: String,
        /// The first of its names, where this was another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        same_as: Option<String>,
    },
    Blob {
        mode: u32,
        hash: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        same_as: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum EntryState {
    Absent,
    Folder { mode: u32 },
    Link { target: String },
    File { mode: u32, sha256: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct Change {
    path: String,
    before: PriorEntry,
    after: EntryState,
}

/// How a workspace was before a program ran.
pub(crate) struct Captured {
    /// With all content, for taking changes back; an error says why it could not be kept.
    tree: Result<Tree, String>,
    /// When each file changed last, as the kernel counts. `None`: there are too many.
    stamps: Option<Stamps>,
}

/// By path: the time of the last change of anything about it, and its number.
pub(crate) type Stamps = BTreeMap<String, (i64, i64, u64)>;

/// What a program has changed.
pub(crate) struct Changed {
    pub undo: Undo,
    /// Files and links that are new or different, as the comparison shows; `.` where there are too many to compare.
    pub writes: Vec<String>,
}

pub(crate) async fn capture(scope: &ToolScope) -> Result<Captured, ToolsError> {
    let root = scope.workspace.clone();
    blocking(move || Ok(Captured { stamps: read_stamps(&root), tree: read_tree(&root) })).await
}

/// Whether changes of a program can be taken back.
pub(crate) async fn can_be_undone(scope: &ToolScope) -> bool {
    let root = scope.workspace.clone();
    matches!(blocking(move || Ok(read_tree(&root).is_ok())).await, Ok(true))
}

/// The changes since `before`, with the undo record of `tool`.
pub(crate) async fn changes_since(
    mut before: Captured,
    tool: &str,
    scope: &ToolScope,
    blobs: &Arc<dyn Blobs>,
) -> Result<Changed, ToolsError> {
    if geteuid().is_root() {
        let root = scope.workspace.clone();
        before = blocking(move || {
            open_to_readers(&root, &before);
            Ok(before)
        })
        .await?;
    }
    let after = capture(scope).await?;
    let reason = match (before.tree, after.tree) {
        (Ok(before), Ok(after)) => {
            let changes = diff_trees(before, &after, blobs).await?;
            let there =
                changes.iter().filter(|one| matches!(one.after, EntryState::File { .. } | EntryState::Link { .. }));
            let writes = there.map(|change| change.path.clone()).collect();
            return Ok(Changed { undo: Undo::Snapshot { tool: tool.to_owned(), snapshot: json!(changes) }, writes });
        }
        (Err(reason), _) | (Ok(_), Err(reason)) => reason,
    };
    Ok(Changed { undo: Undo::Impossible { reason }, writes: new_stamps(before.stamps, after.stamps) })
}

/// When each file of the workspace changed last, for [`written_since`].
pub(crate) async fn stamps(scope: &ToolScope) -> Result<Option<Stamps>, ToolsError> {
    let root = scope.workspace.clone();
    blocking(move || Ok(read_stamps(&root))).await
}

/// The files and links that are new or different since `before`, where nothing is to be taken back.
pub(crate) async fn written_since(before: Option<Stamps>, scope: &ToolScope) -> Result<Vec<String>, ToolsError> {
    Ok(new_stamps(before, stamps(scope).await?))
}

fn new_stamps(before: Option<Stamps>, after: Option<Stamps>) -> Vec<String> {
    let (Some(before), Some(after)) = (before, after) else {
        return vec![".".to_owned()];
    };
    let mut new: Vec<String> =
        after.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp)).map(|(path, _)| tellable(path)).collect();
    new.dedup();
    new
}

/// The path, or of one that is no text the folder whose name is.
fn tellable(path: &str) -> String {
    let Some(at) = path.find(char::REPLACEMENT_CHARACTER) else { return path.to_owned() };
    path[..at].rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned()
}

fn read_stamps(root: &Path) -> Option<Stamps> {
    let mut found = Stamps::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        // What goes away meanwhile was not written.
        let Ok(listing) = std::fs::read_dir(&folder) else { continue };
        for entry in listing.flatten() {
            let path = entry.path();
            match entry.metadata() {
                Ok(stat) if stat.is_dir() => folders.push(path),
                Ok(stat) => {
                    let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    found.insert(path, (stat.ctime(), stat.ctime_nsec(), stat.ino()));
                }
                Err(_) => {}
            }
            if found.len() + folders.len() > MAX_STAMPS {
                return None;
            }
        }
    }
    Some(found)
}

/// Lets everybody read what a program made. Where this program is root, those that only look run as somebody else, and
/// archives give their files to their owner alone.
fn open_to_readers(root: &Path, before: &Captured) {
    let (Some(stamps), Ok(tree), Some(now)) = (&before.stamps, &before.tree, read_stamps(root)) else { return };
    let mut opened = BTreeSet::new();
    for (path, _) in now.iter().filter(|(path, stamp)| stamps.get(*path) != Some(stamp)) {
        let below = Path::new(path).ancestors().filter_map(|path| path.to_str());
        opened.extend(below.filter(|path| !path.is_empty() && !matches!(tree.get(*path), Some(Node::Folder { .. }))));
    }
    let Ok(root) = open_fd(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else { return };
    for path in opened {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let Ok(file) = openat2(&root, path, flags, Mode::empty(), beneath) else { continue };
        let Ok(found) = fstat(&file) else { continue };
        let readable = match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => 0o055,
            FileType::RegularFile if found.st_nlink == 1 => 0o044,
            _ => continue,
        };
        // A file that stays closed is told by the command that can't read it.
        let _ = fchmod(&file, Mode::from_raw_mode(found.st_mode) | Mode::from_raw_mode(readable));
    }
}

fn recorded_changes(undo: &Undo) -> impl Iterator<Item = &Value> {
    let changes = match undo {
        Undo::Snapshot { snapshot, .. } => snapshot.as_array(),
        Undo::Impossible { .. } => None,
    };
    changes.into_iter().flatten()
}

/// What a program that failed says, and what it has left behind. That stays until somebody takes it back:
/// others work in the workspace too, and nothing tells their changes from the program's.
pub(crate) fn failed_output(why: String, data: Value, undo: Undo) -> ToolOutput {
    let changed: Vec<&str> = recorded_changes(&undo).filter_map(|change| change["path"].as_str()).collect();
    let left = match (&undo, changed.len()) {
        (Undo::Impossible { reason }, _) => {
            format!("it may have changed files before that, which can't be undone: {reason}")
        }
        (Undo::Snapshot { .. }, 0) => return ToolOutput { failed: true, ..ToolOutput::text(why) },
        (Undo::Snapshot { .. }, count) => {
            let named = changed[..count.min(MAX_NAMED)].join(", ");
            let more = if count > MAX_NAMED { format!(" and {} more", count - MAX_NAMED) } else { String::new() };
            format!("changed meanwhile and not put back: {named}{more}")
        }
    };
    ToolOutput { data: Some(data), undo: Some(undo), failed: true, ..ToolOutput::text(format!("{why}\n[{left}]")) }
}

/// Reads a workspace; an error says why it can't be recorded.
fn read_tree(root: &Path) -> Result<Tree, String> {
    open(root).map_err(|error| format!("the workspace could not be kept: {error}"))?.tree(MAX_ENTRIES, MAX_BYTES)
}

fn open(root: &Path) -> Result<Workspace, FilesError> {
    Workspace::open(root, FileLimits::default())
}

fn entry_state(entry: Option<&Node>) -> EntryState {
    match entry {
        None => EntryState::Absent,
        Some(Node::Folder { mode }) => EntryState::Folder { mode: *mode },
        Some(Node::Link { target }) => EntryState::Link { target: target.clone() },
        Some(Node::File { mode, bytes, .. }) => EntryState::File { mode: *mode, sha256: hash::sha256(bytes) },
    }
}

async fn diff_trees(mut before: Tree, after: &Tree, blobs: &Arc<dyn Blobs>) -> Result<Vec<Change>, ToolsError> {
    let paths: BTreeSet<String> = before.keys().chain(after.keys()).cloned().collect();
    let mut changes = Vec::new();
    for path in paths {
        let old = before.remove(&path);
        let new = after.get(&path);
        if old.as_ref() == new {
            continue;
        }
        let kept = match old {
            None => PriorEntry::Absent,
            Some(Node::Folder { mode }) => PriorEntry::Folder { mode },
            Some(Node::Link { target }) => PriorEntry::Link { target },
            Some(Node::File { mode, bytes, same_as }) => match String::from_utf8(bytes) {
                Ok(text) if text.len() <= INLINE_BYTES => PriorEntry::Text { mode, text, same_as },
                other => {
                    let bytes = other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
                    let hash = blobs.put(bytes).await?;
                    PriorEntry::Blob { mode, hash, same_as }
                }
            },
        };
        changes.push(Change { after: entry_state(new), before: kept, path });
    }
    Ok(changes)
}

/// Restores all changed paths, unless something has changed since.
pub(crate) async fn restore(snapshot: &Value, scope: &ToolScope, blobs: &Arc<dyn Blobs>) -> Result<String, ToolsError> {
    let changes: Vec<Change> = crate::facts::snapshot(snapshot)?;
    let mut wanted = Vec::new();
    for change in changes {
        let entry = match change.before {
            PriorEntry::Absent => None,
            PriorEntry::Folder { mode } => Some(Node::Folder { mode }),
            PriorEntry::Link { target } => Some(Node::Link { target }),
            PriorEntry::Text { mode, text, same_as } => Some(Node::File { mode, bytes: text.into_bytes(), same_as }),
            PriorEntry::Blob { mode, hash, same_as } => {
                Some(Node::File { mode, bytes: blobs.get(&hash).await?, same_as })
            }
        };
        wanted.push((change.path, entry, change.after));
    }
    let root = scope.workspace.clone();
    blocking(move || {
        let now = read_tree(&root).map_err(ToolsError::NoUndo)?;
        for (path, _, after) in &wanted {
            if entry_state(now.get(path)) != *after {
                return Err(ToolsError::ChangedSince {
                    what: path.clone(),
                    hint: "compare it with the run's trace and change it by hand",
                });
            }
        }
        let wanted: Vec<PutBack> = wanted
            .into_iter()
            .map(|(path, node, after)| PutBack {
                path,
                node,
                present: match after {
                    EntryState::Absent => Present::Nothing,
                    EntryState::Folder { .. } => Present::Folder,
                    EntryState::Link { .. } | EntryState::File { .. } => Present::Other,
                },
            })
            .collect();
        let partly = |error: &dyn std::fmt::Display| refused!("not all could be put back: {error}");
        let workspace = open(&root).map_err(|error| partly(&error))?;
        workspace.put_back(&wanted).map_err(|error| partly(&error))?;
        Ok(match wanted.as_slice() {
            [] => "nothing had changed".to_owned(),
            [one] => format!("put back {} as it was before", one.path),
            many => format!("put back {} files and folders as they were before", many.len()),
        })
    })
    .await
}
