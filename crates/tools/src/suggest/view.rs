//! What proposals are made from: the files of the workspace, and the time.

use super::extract::path::{self, Entry, PathMatch};
use super::lexicon::lexicon;
use jiff::civil::DateTime;
use std::path::{Path, PathBuf};
use steward_core::ports::ToolScope;
use steward_sandbox::files::{FileLimits, Workspace};

/// Entries looked at; in a larger workspace those nearest to its top.
const MOST_ENTRIES: usize = 3000;
/// Folders below the workspace that are looked into.
const DEEPEST: usize = 6;
/// Bytes of a file that are read to count its lines.
const MOST_BYTES: u64 = 8 << 20;

/// The workspace and the time, as seen when a proposal is asked for.
#[derive(Debug, Clone)]
pub struct View {
    /// Files and folders, hidden ones and links left out, folders before what is in them.
    pub entries: Vec<Entry>,
    /// Now, local.
    pub now: DateTime,
    /// The workspace itself.
    pub workspace: PathBuf,
}

impl View {
    /// Looks. A workspace that can't be read has no entries.
    pub fn look(scope: &ToolScope) -> Self {
        Self { entries: entries(&scope.workspace), now: local(scope), workspace: scope.workspace.clone() }
    }

    /// A folder, whenever it is.
    pub fn of(folder: &str) -> Self {
        let workspace = PathBuf::from(folder);
        Self { entries: entries(&workspace), now: DateTime::default(), workspace }
    }

    /// Entries that the request names, best first.
    pub fn named(&self, request: &str) -> Vec<PathMatch> {
        path::matches(request, &self.entries, &lexicon().paths)
    }

    /// The file that the request names best.
    pub fn file(&self, request: &str) -> Option<PathMatch> {
        self.named(request).into_iter().find(|found| !found.folder)
    }

    /// The folder that the request names best.
    pub fn folder(&self, request: &str) -> Option<PathMatch> {
        self.named(request).into_iter().find(|found| found.folder)
    }

    /// Whether there is an entry of this path.
    pub fn has(&self, path: &str) -> bool {
        self.entries.iter().any(|entry| entry.path == path)
    }

    /// Lines of a file, if it is text of a moderate size.
    pub fn count_lines(&self, path: &str) -> Option<u64> {
        let bytes = confined(&self.workspace, MOST_BYTES)?.read(path).ok()?;
        let ends = bytes.split(|byte| *byte == b'\n').count();
        let open = usize::from(bytes.last() == Some(&b'\n') || bytes.is_empty());
        u64::try_from(ends - open).ok()
    }
}

/// The workspace for reading files of at most `most` bytes, which the kernel keeps inside of it.
pub(crate) fn confined(workspace: &Path, most: u64) -> Option<Workspace> {
    Workspace::open(workspace, FileLimits { read_bytes: most, ..FileLimits::default() }).ok()
}

/// Local time of the scope.
fn local(scope: &ToolScope) -> DateTime {
    let minutes = i64::from(scope.utc_offset_minutes);
    let millis = scope.now.0.saturating_add(minutes * 60_000);
    jiff::Timestamp::from_millisecond(millis)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).datetime())
        .unwrap_or_default()
}

fn entries(workspace: &Path) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut queue = std::collections::VecDeque::from([(String::new(), 0usize)]);
    while let Some((folder, depth)) = queue.pop_front() {
        let Ok(listing) = std::fs::read_dir(workspace.join(&folder)) else {
            continue;
        };
        let mut here: Vec<Entry> = listing
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let kind = entry.file_type().ok()?;
                let plain = kind.is_dir() || kind.is_file();
                (plain && !name.starts_with('.')).then(|| Entry {
                    path: if folder.is_empty() { name } else { format!("{folder}/{name}") },
                    folder: kind.is_dir(),
                })
            })
            .collect();
        here.sort_by(|a, b| a.path.cmp(&b.path));
        for entry in &here {
            if entry.folder && depth < DEEPEST {
                queue.push_back((entry.path.clone(), depth + 1));
            }
        }
        found.extend(here);
        if found.len() >= MOST_ENTRIES {
            found.truncate(MOST_ENTRIES);
            break;
        }
    }
    found
}

/// A scope without files, on Saturday 2026-11-21 at 9 in the morning.
#[cfg(test)]
pub(crate) fn tests_scope() -> ToolScope {
    ToolScope {
        tenant: steward_core::TenantId::DEFAULT,
        run: None,
        agent: steward_core::AgentId(uuid::Uuid::nil()),
        conversation: None,
        workspace: PathBuf::from("/nonexistent"),
        folder: String::new(),
        now: steward_core::Timestamp(1_795_248_000_000),
        utc_offset_minutes: 60,
        timeout_ms: 1000,
        user: None,
        skill: None,
        stop: std::sync::Arc::default(),
    }
}
