use crate::error::{ToolsError, refused};
use crate::files::blocking;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::string::FromUtf8Error;
use std::sync::Arc;
use steward_core::hash;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{ToolOutput, Undo};
use steward_sandbox::files::{FileLimits, FilesError, Node, Present, PutBack, Tree, Workspace};

const MAX_ENTRIES: usize = 5_000;
const MAX_BYTES: u64 = 64 << 20;
/// Most changed paths that a failure names.
const MAX_NAMED: usize = 10;
/// Content up to this many bytes is kept in the record itself.
const INLINE_BYTES: usize = 1 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum PriorEntry {
    Absent,
    Folder { mode: u32 },
    Link { target: String },
    Text { mode: u32, text: String },
    Blob { mode: u32, hash: String },
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

pub(crate) async fn capture(scope: &ToolScope) -> Result<Result<Tree, String>, ToolsError> {
    let root = scope.workspace.clone();
    blocking(move || Ok(read_tree(&root))).await
}

/// The changes since `before`, as the undo record of `tool`.
pub(crate) async fn undo_record(
    before: Result<Tree, String>,
    tool: &str,
    scope: &ToolScope,
    blobs: &Arc<dyn Blobs>,
) -> Result<Undo, ToolsError> {
    let after = match &before {
        Ok(_) => capture(scope).await?,
        Err(reason) => Err(reason.clone()),
    };
    let (before, after) = match (before, after) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(reason), _) | (_, Err(reason)) => return Ok(Undo::Impossible { reason }),
    };
    let changes = diff_trees(before, &after, blobs).await?;
    Ok(Undo::Snapshot { tool: tool.to_owned(), snapshot: json!(changes) })
}

fn recorded_changes(undo: &Undo) -> impl Iterator<Item = &Value> {
    let changes = match undo {
        Undo::Snapshot { snapshot, .. } => snapshot.as_array(),
        Undo::Impossible { .. } => None,
    };
    changes.into_iter().flatten()
}

/// The files and links of an undo record that are there after the change; the log keeps where they came from.
pub(crate) fn written_paths(undo: &Undo) -> Vec<&str> {
    recorded_changes(undo)
        .filter(|change| matches!(change["after"]["kind"].as_str(), Some("file" | "link")))
        .filter_map(|change| change["path"].as_str())
        .collect()
}

/// What a program that failed has left behind; an error if that is nothing. It stays until somebody takes it back:
/// others work in the workspace too, and nothing tells their changes from the program's.
pub(crate) fn failed_output(why: String, data: Value, undo: Undo) -> Result<ToolOutput, ToolsError> {
    let changed: Vec<&str> = recorded_changes(&undo).filter_map(|change| change["path"].as_str()).collect();
    let left = match (&undo, changed.len()) {
        (Undo::Impossible { reason }, _) => {
            format!("it may have changed files before that, which can't be undone: {reason}")
        }
        (Undo::Snapshot { .. }, 0) => return Err(ToolsError::Refused(why)),
        (Undo::Snapshot { .. }, count) => {
            let named = changed[..count.min(MAX_NAMED)].join(", ");
            let more = if count > MAX_NAMED { format!(" and {} more", count - MAX_NAMED) } else { String::new() };
            format!("changed meanwhile and not put back: {named}{more}")
        }
    };
    Ok(ToolOutput { data: Some(data), undo: Some(undo), failed: true, ..ToolOutput::text(format!("{why}\n[{left}]")) })
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
        Some(Node::File { mode, bytes }) => EntryState::File { mode: *mode, sha256: hash::sha256(bytes) },
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
            Some(Node::File { mode, bytes }) => match String::from_utf8(bytes) {
                Ok(text) if text.len() <= INLINE_BYTES => PriorEntry::Text { mode, text },
                other => {
                    let bytes = other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
                    let hash = blobs.put(bytes).await?;
                    PriorEntry::Blob { mode, hash }
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
            PriorEntry::Text { mode, text } => Some(Node::File { mode, bytes: text.into_bytes() }),
            PriorEntry::Blob { mode, hash } => Some(Node::File { mode, bytes: blobs.get(&hash).await? }),
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
