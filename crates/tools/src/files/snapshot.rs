use crate::error::ToolsError;
use crate::facts;
use crate::files;
use crate::handler::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Read as _;
use std::sync::Arc;
use steward_core::hash;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{Receipt, Undo};
use steward_sandbox::files::{Before, FilesError, Workspace, Written};

/// Content up to this many bytes is kept in the event itself; more goes to the blob store.
const INLINE_BYTES: usize = 16 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Snapshot {
    path: String,
    before: PriorContent,
    /// `None`: the file did not exist.
    was: Option<FileState>,
    after: FileState,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum PriorContent {
    Absent,
    Text { text: String, mode: u32 },
    Hex { hex: String, mode: u32 },
    Blob { hash: String, mode: u32 },
    Size { size: u64 },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    pub size: u64,
    pub sha256: String,
}

impl FileState {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { size: bytes.len() as u64, sha256: hash::sha256(bytes) }
    }

    pub(super) fn is_prefix_of(&self, bytes: &[u8]) -> bool {
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        bytes.get(..size).is_some_and(|head| Self::of(head) == *self)
    }
}

pub(super) fn prior_state(before: &Before) -> Option<FileState> {
    match before {
        Before::File { bytes, .. } => Some(FileState::of(bytes)),
        _ => None,
    }
}

/// The undo record of a change of `path`; `was` is its state before, of which `before` may hold only a part. Large
/// content is kept in `blobs`.
pub(super) async fn undo_record(
    tool: &str,
    path: String,
    (before, was): (Before, Option<FileState>),
    after: FileState,
    blobs: &Arc<dyn Blobs>,
) -> Result<Undo, ToolsError> {
    let before = match before {
        Before::Absent => PriorContent::Absent,
        Before::Size { size } => PriorContent::Size { size },
        Before::File { bytes, mode } if bytes.len() > INLINE_BYTES => {
            PriorContent::Blob { hash: blobs.put(bytes).await?, mode }
        }
        Before::File { bytes, mode } => match String::from_utf8(bytes) {
            Ok(text) => PriorContent::Text { text, mode },
            Err(error) => PriorContent::Hex { hex: hex::encode(error.into_bytes()), mode },
        },
        Before::TooLarge { size, .. } => {
            return Ok(Undo::Impossible { reason: format!("{path} was too large to keep ({size} bytes)") });
        }
    };
    let snapshot = Snapshot { path, before, was, after };
    Ok(Undo::Snapshot { tool: tool.to_owned(), snapshot: json!(snapshot) })
}

/// A path as the workspace gave it out, to be named again. Blanks around what a model writes are dropped; those at the
/// ends of a real path are of its names.
pub(super) fn exactly(path: &str) -> Cow<'_, str> {
    if path.trim() == path { Cow::Borrowed(path) } else { Cow::Owned(format!("./{path}/.")) }
}

/// The whole file, however large; `None` if it is not there.
pub(super) fn read_all(workspace: &Workspace, path: &str) -> Result<Option<Vec<u8>>, ToolsError> {
    let mut bytes = Vec::new();
    let read = workspace.open_read(&exactly(path)).and_then(|mut file| {
        file.read_to_end(&mut bytes).map_err(|source| FilesError::Io { path: path.to_owned(), source })
    });
    match read {
        Ok(_) => Ok(Some(bytes)),
        Err(FilesError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Restores the file from `snapshot`, unless it has changed since.
pub(crate) async fn restore(snapshot: &Value, scope: &ToolScope, blobs: &Arc<dyn Blobs>) -> Result<String, ToolsError> {
    let Snapshot { path, before, was, after } = facts::snapshot(snapshot)?;
    let before = match before {
        PriorContent::Absent => Before::Absent,
        PriorContent::Size { size } => Before::Size { size },
        PriorContent::Text { text, mode } => Before::File { bytes: text.into_bytes(), mode },
        PriorContent::Hex { hex, mode } => Before::File {
            bytes: hex::decode(hex).map_err(|error| ToolsError::NoUndo(format!("the snapshot is damaged: {error}")))?,
            mode,
        },
        PriorContent::Blob { hash, mode } => Before::File { bytes: blobs.get(&hash).await?, mode },
    };
    let scope = scope.clone();
    files::blocking(move || {
        let workspace = files::open_workspace(&scope)?;
        let now = read_all(&workspace, &path)?.as_deref().map(FileState::of);
        if now == was {
            return Ok(format!("{path} is as it was before already"));
        }
        if now.as_ref() != Some(&after) {
            return Err(ToolsError::ChangedSince {
                what: path,
                hint: "compare it with the run's trace and change it by hand",
            });
        }
        workspace.restore(&exactly(&path), &before)?;
        Ok(match before {
            Before::Absent => format!("removed {path}, which was not there before"),
            _ => format!("restored {path} as it was before"),
        })
    })
    .await
}

pub(crate) struct SavedFile {
    pub path: String,
    sha256: String,
    pub undo: Undo,
}

impl SavedFile {
    pub fn receipt(&self, action: &str) -> Receipt {
        Receipt::new(action, self.path.clone(), Some(format!("sha256:{}", self.sha256)))
    }
}

/// Has `write` replace or create a file; `tool` is the one that undoes it.
pub(crate) async fn save_file(
    tool: &str,
    context: &Context,
    blobs: &Arc<dyn Blobs>,
    write: impl FnOnce(&Workspace) -> Result<Written, ToolsError> + Send + 'static,
) -> Result<SavedFile, ToolsError> {
    let context = context.clone();
    let (path, before, after) = files::blocking(move || {
        let workspace = files::open_workspace(&context.scope)?;
        context.check()?;
        let Written { path, before, .. } = write(&workspace)?;
        let path = path.display().to_string();
        let after = workspace.read(&exactly(&path))?;
        Ok((path, before, FileState::of(&after)))
    })
    .await?;
    let (was, sha256) = (prior_state(&before), after.sha256.clone());
    let undo = undo_record(tool, path.clone(), (before, was), after, blobs).await?;
    Ok(SavedFile { path, sha256, undo })
}
