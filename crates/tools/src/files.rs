//! Files of the workspace, all through [`steward_sandbox::files::Workspace`], which the kernel keeps inside the folder.

mod grep;
mod list;
mod read;
mod snapshot;
mod text_form;
mod write;

pub use grep::Grep;
pub use list::List;
pub use read::Read;
pub(crate) use snapshot::{restore, save_file};
pub use write::Write;
pub(crate) use write::WriteArgs;

use crate::error::{ToolsError, refused};
use crate::handler::Context;
use std::path::Path;
use steward_core::ports::ToolScope;
use steward_sandbox::files::{Entry, EntryKind, FileLimits, Workspace};

/// Largest file that is read or written whole.
const MAX_FILE_BYTES: u64 = 8 << 20;

pub(crate) fn open_workspace(scope: &ToolScope) -> Result<Workspace, ToolsError> {
    let limits = FileLimits { read_bytes: MAX_FILE_BYTES, write_bytes: MAX_FILE_BYTES, ..FileLimits::default() };
    Ok(Workspace::open(&scope.workspace, limits)?)
}

/// The workspace, confined by the kernel, for reading files of at most `most` bytes.
pub(crate) fn confined(workspace: &Path, most: u64) -> Option<Workspace> {
    Workspace::open(workspace, FileLimits { read_bytes: most, ..FileLimits::default() }).ok()
}

/// Opens a regular file of the workspace for a person to read, confined as for an agent. Blocking.
pub fn open_file(workspace: &str, path: &str) -> Result<std::fs::File, ToolsError> {
    Ok(Workspace::open(workspace, FileLimits::default())?.open_read(path)?)
}

/// The path of a file of the workspace, as [`remove_file`] and all that keeps paths spell it. Blocking.
pub fn file_path(workspace: &str, path: &str) -> Result<String, ToolsError> {
    let resolved = Workspace::open(workspace, FileLimits::default())?.resolve(path)?;
    let text = resolved.as_path().to_str();
    Ok(text.ok_or_else(|| refused!("the name of {path} is no text"))?.to_owned())
}

/// Removes a file of the workspace, confined as for an agent; folders are refused. Blocking.
pub fn remove_file(workspace: &str, path: &str) -> Result<(), ToolsError> {
    // Nothing is kept of it for an undo.
    let limits = FileLimits { read_bytes: 0, ..FileLimits::default() };
    Workspace::open(workspace, limits)?.remove(path)?;
    Ok(())
}

/// A folder relative to the workspace; empty for the workspace itself. Blocking.
pub(crate) fn resolve_folder(scope: &ToolScope, path: &str) -> Result<String, ToolsError> {
    let workspace = open_workspace(scope)?;
    let relative = workspace.resolve(path)?;
    workspace.list(path)?;
    let text = relative.as_path().to_str();
    Ok(text.ok_or_else(|| refused!("the name of {path} is no text"))?.to_owned())
}

/// A whole text file of the workspace, from which all errors of this call come from now on. Blocking.
pub(crate) fn read_text(scope: &ToolScope, path: &str) -> Result<String, ToolsError> {
    let bytes = open_workspace(scope)?.read(path)?;
    scope.consulted.file(path);
    String::from_utf8(bytes).map_err(|_| refused!("{path} is no text in UTF-8; convert it first"))
}

/// The folder or file from which to search, relative to the workspace; `.` for the workspace itself.
fn resolve_base(workspace: &Workspace, path: &str) -> Result<String, ToolsError> {
    let base = workspace.resolve(path)?;
    Ok(match base.as_path().to_string_lossy() {
        path if path.is_empty() => ".".to_owned(),
        path => path.into_owned(),
    })
}

fn default_path() -> String {
    ".".to_owned()
}

/// Runs blocking `work` on its own thread; a panic in it continues in the caller.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolsError> + Send + 'static,
) -> Result<T, ToolsError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(ToolsError::refused("the program is shutting down; nothing was done")),
    }
}

const ENTRIES: usize = 50_000;

#[derive(Debug, Default, Clone, Copy)]
struct WalkSummary {
    /// Names beginning with a dot, which are skipped.
    pub hidden: usize,
    /// Whether there were more entries than are read.
    pub more: bool,
}

/// Calls `visit` with the path relative to the workspace and the entry, in order of names, `depth` levels deep (1: the
/// folder's own entries). Names beginning with a dot are skipped.
fn walk(
    workspace: &Workspace,
    folder: &str,
    depth: usize,
    context: &Context,
    visit: &mut dyn FnMut(&str, &Entry) -> Result<(), ToolsError>,
) -> Result<WalkSummary, ToolsError> {
    let mut walked = WalkSummary::default();
    let mut seen = 0;
    let mut pending = vec![(folder.to_owned(), depth, true)];
    while let Some((at, left, first)) = pending.pop() {
        context.check()?;
        let (entries, more) = match workspace.list(&at) {
            Ok(listed) => listed,
            Err(error) if first => return Err(error.into()),
            // A folder that can't be read, or vanished meanwhile, doesn't end the search.
            Err(_) => continue,
        };
        walked.more |= more;
        let mut below = Vec::new();
        for entry in &entries {
            if entry.name.starts_with('.') {
                walked.hidden += 1;
                continue;
            }
            seen += 1;
            if seen > ENTRIES {
                walked.more = true;
                return Ok(walked);
            }
            let path = join(&at, &entry.name);
            visit(&path, entry)?;
            if entry.kind == EntryKind::Folder && left > 1 {
                below.push((path, left - 1, false));
            }
        }
        below.reverse();
        pending.append(&mut below);
    }
    Ok(walked)
}

fn join(folder: &str, name: &str) -> String {
    match folder.trim_end_matches('/') {
        "" | "." => name.to_owned(),
        folder => format!("{}/{name}", folder.trim_start_matches("./")),
    }
}

const EXAMINED_BYTES: usize = 8192;

/// First bytes of common binary formats, their names, and what to do instead of reading them.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (b"SQLite format 3\0", "a SQLite database", "ask it with the tool `sql`"),
    (b"%PDF-", "a PDF document", "it can't be read as text"),
    (b"PK\x03\x04", "a ZIP archive or office document", "it can't be read as text"),
    (b"\x1f\x8b", "a gzip archive", "it can't be read as text"),
    (b"\x89PNG", "a PNG image", "it can't be read as text"),
    (b"\xff\xd8\xff", "a JPEG image", "it can't be read as text"),
    (b"GIF8", "a GIF image", "it can't be read as text"),
    (b"\x7fELF", "a program", "it can't be read as text"),
    (b"\xff\xfe", "text in UTF-16", "convert it to UTF-8 first"),
    (b"\xfe\xff", "text in UTF-16", "convert it to UTF-8 first"),
];

/// What a binary file is, and a hint; `None` for text.
fn binary_kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let known = MAGIC.iter().find(|(magic, _, _)| head.starts_with(magic));
    if let Some((_, what, hint)) = known {
        return Some((what, hint));
    }
    head.contains(&0)
        .then_some(("a binary file", "it can't be read as text; `terminal` with `file` or `stat` tells more"))
}

fn human_size(bytes: u64) -> String {
    const UNITS: &[&str] = &["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::{binary_kind, human_size};

    #[test]
    fn text_is_text_and_formats_are_named() {
        assert!(binary_kind("Grüße\n".as_bytes()).is_none());
        assert!(binary_kind(b"").is_none());
        assert!(binary_kind(b"SQLite format 3\0...").is_some_and(|(_, hint)| hint.contains("sql")));
        assert!(binary_kind(b"ab\0c").is_some());
    }

    #[test]
    fn sizes() {
        assert_eq!(human_size(999), "999 B");
        assert_eq!(human_size(1000), "1.0 kB");
        assert_eq!(human_size(598_016), "598.0 kB");
        assert_eq!(human_size(1_550_000), "1.5 MB");
        assert_eq!(human_size(3_000_000_000), "3.0 GB");
    }
}
