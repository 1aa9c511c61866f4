//! Opening the workspace, and blocking work off the async threads.

use super::snapshot::{self, State};
use crate::error::ToolsError;
use steward_core::ports::ToolScope;
use steward_sandbox::files::{FileLimits, FilesError, Workspace, Written};

/// Largest file that is read or written whole.
pub(super) const WHOLE: u64 = 8 << 20;

pub(super) fn open(scope: &ToolScope) -> Result<Workspace, ToolsError> {
    let limits = FileLimits { read_bytes: WHOLE, write_bytes: WHOLE, ..FileLimits::default() };
    Workspace::open(&scope.workspace, limits).map_err(explain)
}

/// A regular file of `workspace` for a person to read, reached as an agent reaches it. Blocking.
pub fn open_file(workspace: &str, path: &str) -> Result<std::fs::File, ToolsError> {
    Workspace::open(workspace, FileLimits::default()).and_then(|workspace| workspace.open_read(path)).map_err(explain)
}

/// A folder of the workspace, relative to it; empty for itself. Blocking.
pub(crate) fn folder(scope: &ToolScope, path: &str) -> Result<String, ToolsError> {
    let workspace = open(scope)?;
    let relative = workspace.resolve(path).map_err(explain)?;
    workspace.list(path).map_err(explain)?;
    let text = relative.as_path().to_str();
    Ok(text.ok_or_else(|| ToolsError::Refused(format!("the name of {path} is no text")))?.to_owned())
}

/// A text file of the workspace, whole. Blocking.
pub(crate) fn read_text(scope: &ToolScope, path: &str) -> Result<String, ToolsError> {
    let bytes = open(scope)?.read(path).map_err(explain)?;
    String::from_utf8(bytes).map_err(|_| ToolsError::Refused(format!("{path} is no text in UTF-8; convert it first")))
}

/// Replaces or creates a text file of the workspace; what it held, and what it holds now. Blocking.
pub(crate) fn write_text(scope: &ToolScope, path: &str, text: &str) -> Result<(Written, State), ToolsError> {
    let workspace = open(scope)?;
    let written = workspace.write_atomic(path, text.as_bytes()).map_err(explain)?;
    let after = snapshot::state(&workspace, path).map_err(explain)?;
    Ok((written, after))
}

/// A file error in our words, with what to do.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(super) fn explain(error: FilesError) -> ToolsError {
    let hint = match &error {
        FilesError::NotFound { near, .. } if near.is_empty() => "; `list` shows what there is",
        FilesError::Kind { actual: "a folder", expected: "a file", .. } => "; `list` shows what is in it",
        FilesError::Kind { actual: "a file", .. } => "; `read` shows it",
        FilesError::TooLarge { .. } => "; read a part of it with `start` and `lines`, or search it with `grep`",
        _ => "",
    };
    ToolsError::Refused(format!("{error}{hint}"))
}

/// Runs `work` where it may block; a panic in it goes on in the caller.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolsError> + Send + 'static,
) -> Result<T, ToolsError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(ToolsError::refused("the program is shutting down; nothing was done")),
    }
}
