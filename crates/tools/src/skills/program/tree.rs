//! All files of a workspace before and after a program ran; and putting back what it changed.

use crate::error::ToolsError;
use crate::files::blocking;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::string::FromUtf8Error;
use std::sync::Arc;
use steward_core::hash;
use steward_core::ports::{Blobs, ToolScope};

/// Most files, folders and links that are kept.
const ENTRIES: usize = 5_000;
/// Most bytes that are kept.
const BYTES: u64 = 64 << 20;
/// Content up to this many bytes stands in the record itself.
const INLINE: usize = 1 << 10;

/// What there is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Folder { mode: u32 },
    Link { target: String },
    File { mode: u32, bytes: Vec<u8> },
}

/// Entries by path, relative to the workspace.
pub(super) type Tree = BTreeMap<String, Entry>;

/// What was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kept {
    Absent,
    Folder { mode: u32 },
    Link { target: String },
    Text { mode: u32, text: String },
    Blob { mode: u32, hash: String },
}

/// What is there now, to see whether it still is when it is undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum State {
    Absent,
    Folder { mode: u32 },
    Link { target: String },
    File { mode: u32, sha256: String },
}

/// One path that a program changed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Change {
    path: String,
    before: Kept,
    after: State,
}

/// Reads a workspace; an error says why it can't be kept.
pub(super) fn read(root: &Path) -> Result<Tree, String> {
    let mut tree = Tree::new();
    let mut bytes = 0;
    folder(root, "", &mut tree, &mut bytes)?;
    Ok(tree)
}

fn folder(root: &Path, within: &str, tree: &mut Tree, bytes: &mut u64) -> Result<(), String> {
    let trouble = |error: io::Error| format!("the workspace could not be kept: {within}: {error}");
    for item in fs::read_dir(root.join(within)).map_err(trouble)? {
        let name = item.map_err(trouble)?.file_name();
        let name = name.to_str().ok_or("a file has a name that is no text")?;
        let path = if within.is_empty() {
            name.to_owned()
        } else {
            format!("{within}/{name}")
        };
        if tree.len() >= ENTRIES {
            return Err(format!("the workspace holds more than {ENTRIES} files"));
        }
        let at = root.join(&path);
        let about = fs::symlink_metadata(&at).map_err(trouble)?;
        let mode = about.permissions().mode() & 0o7777;
        let entry = if about.is_dir() {
            Entry::Folder { mode }
        } else if about.is_symlink() {
            let target = fs::read_link(&at).map_err(trouble)?;
            let target = target.to_str().ok_or("a link leads to what is no text")?;
            Entry::Link {
                target: target.to_owned(),
            }
        } else if about.is_file() {
            *bytes += about.len();
            if *bytes > BYTES {
                return Err(format!("the workspace holds more than {} MB", BYTES >> 20));
            }
            Entry::File {
                mode,
                bytes: fs::read(&at).map_err(trouble)?,
            }
        } else {
            return Err(format!("{path} is no file, folder or link"));
        };
        tree.insert(path.clone(), entry);
        if about.is_dir() {
            folder(root, &path, tree, bytes)?;
        }
    }
    Ok(())
}

fn state(entry: Option<&Entry>) -> State {
    match entry {
        None => State::Absent,
        Some(Entry::Folder { mode }) => State::Folder { mode: *mode },
        Some(Entry::Link { target }) => State::Link {
            target: target.clone(),
        },
        Some(Entry::File { mode, bytes }) => State::File {
            mode: *mode,
            sha256: hash::sha256(bytes),
        },
    }
}

/// What differs. Content of before goes to `blobs` where it is long.
pub(super) async fn changes(
    mut before: Tree,
    after: &Tree,
    blobs: &Arc<dyn Blobs>,
) -> Result<Vec<Change>, ToolsError> {
    let mut paths: Vec<String> = before.keys().chain(after.keys()).cloned().collect();
    paths.sort();
    paths.dedup();
    let mut changes = Vec::new();
    for path in paths {
        let old = before.remove(&path);
        let new = after.get(&path);
        if old.as_ref() == new {
            continue;
        }
        let kept = match old {
            None => Kept::Absent,
            Some(Entry::Folder { mode }) => Kept::Folder { mode },
            Some(Entry::Link { target }) => Kept::Link { target },
            Some(Entry::File { mode, bytes }) => match String::from_utf8(bytes) {
                Ok(text) if text.len() <= INLINE => Kept::Text { mode, text },
                other => {
                    let bytes = other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
                    let hash = blobs.put(bytes).await?;
                    Kept::Blob { mode, hash }
                }
            },
        };
        changes.push(Change {
            after: state(new),
            before: kept,
            path,
        });
    }
    Ok(changes)
}

/// Puts everything back, unless something has changed since.
pub(super) async fn restore(
    snapshot: &Value,
    scope: &ToolScope,
    blobs: &Arc<dyn Blobs>,
) -> Result<String, ToolsError> {
    let changes = Vec::<Change>::deserialize(snapshot)
        .map_err(|error| ToolsError::NoUndo(format!("the snapshot can't be read: {error}")))?;
    let mut wanted = Vec::new();
    for change in changes {
        let entry = match change.before {
            Kept::Absent => None,
            Kept::Folder { mode } => Some(Entry::Folder { mode }),
            Kept::Link { target } => Some(Entry::Link { target }),
            Kept::Text { mode, text } => Some(Entry::File {
                mode,
                bytes: text.into_bytes(),
            }),
            Kept::Blob { mode, hash } => Some(Entry::File {
                mode,
                bytes: blobs.get(&hash).await?,
            }),
        };
        wanted.push((change.path, entry, change.after));
    }
    let root = scope.workspace.clone();
    blocking(move || {
        let now = read(&root).map_err(ToolsError::NoUndo)?;
        for (path, _, after) in &wanted {
            if state(now.get(path)) != *after {
                return Err(ToolsError::ChangedSince {
                    what: path.clone(),
                    hint: "compare it with the run's trace and change it by hand",
                });
            }
        }
        put_back(&root, &wanted)
            .map_err(|error| ToolsError::Refused(format!("not all could be put back: {error}")))?;
        Ok(match wanted.len() {
            0 => "nothing had changed".to_owned(),
            1 => format!("put back {} as it was before", wanted[0].0),
            count => format!("put back {count} files and folders as they were before"),
        })
    })
    .await
}

type Wanted = (String, Option<Entry>, State);

/// Removes what is in the way, the deepest first; then makes what is missing, the outermost first;
/// and sets the modes of folders last, since one of them may forbid writing.
fn put_back(root: &Path, wanted: &[Wanted]) -> io::Result<()> {
    for (path, _, after) in wanted {
        if matches!(after, State::Folder { .. }) {
            let at = inside(root, path)?;
            fs::set_permissions(at, fs::Permissions::from_mode(0o700))?;
        }
    }
    for (path, entry, after) in wanted.iter().rev() {
        let stays = matches!(
            (entry, after),
            (Some(Entry::Folder { .. }), State::Folder { .. })
        );
        match after {
            State::Absent => {}
            State::Folder { .. } if stays => {}
            State::Folder { .. } => fs::remove_dir(inside(root, path)?)?,
            State::Link { .. } | State::File { .. } => fs::remove_file(inside(root, path)?)?,
        }
    }
    // What was not there before may have lain in a folder that is none again: it is not looked for.
    for (path, entry, after) in wanted {
        match entry {
            None => {}
            Some(Entry::Folder { .. }) if matches!(after, State::Folder { .. }) => {}
            Some(Entry::Folder { .. }) => fs::create_dir(inside(root, path)?)?,
            Some(Entry::Link { target }) => symlink(target, inside(root, path)?)?,
            Some(Entry::File { mode, bytes }) => {
                let at = inside(root, path)?;
                fs::write(&at, bytes)?;
                fs::set_permissions(at, fs::Permissions::from_mode(*mode))?;
            }
        }
    }
    for (path, entry, _) in wanted.iter().rev() {
        if let Some(Entry::Folder { mode }) = entry {
            fs::set_permissions(inside(root, path)?, fs::Permissions::from_mode(*mode))?;
        }
    }
    Ok(())
}

/// The place of a path, no folder on the way being a link: so nothing outside is ever touched.
fn inside(root: &Path, path: &str) -> io::Result<std::path::PathBuf> {
    let mut at = root.to_owned();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        if matches!(part, "" | "." | "..") {
            return Err(io::Error::other(format!(
                "{path} is no path of the workspace"
            )));
        }
        at.push(part);
        if parts.peek().is_some() && !fs::symlink_metadata(&at)?.is_dir() {
            return Err(io::Error::other(format!(
                "{} is no folder any more",
                at.display()
            )));
        }
    }
    Ok(at)
}
