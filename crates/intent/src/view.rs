//! What proposals are made from: the files of the workspace, and the time.

use crate::lexicon::lexicon;
use crate::read::path::{self, PathMatch, is_rows};
use jiff::civil::DateTime;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::ports::{Entry, FileDraft, FileQuestion, ToolScope, WorkspaceReader};
use steward_core::tables::Schema;

/// Bytes of a file that are read to count its lines.
const MOST_BYTES: u64 = 8 << 20;
const TOLD: usize = 8;
/// Extensions of files that can be asked about, the most informative first.
const TELLING: &[&str] = &["csv", "tsv", "db", "sqlite", "sqlite3", "log", "md", "txt", "json"];

#[derive(Clone)]
pub struct View {
    /// Folders before their contents.
    pub entries: Vec<Entry>,
    /// Local time.
    pub now: DateTime,
    workspace: PathBuf,
    reader: Arc<dyn WorkspaceReader>,
}

impl View {
    /// A workspace that can't be read has no entries.
    pub async fn look(reader: &Arc<dyn WorkspaceReader>, scope: &ToolScope) -> Self {
        let (reader, workspace) = (Arc::clone(reader), scope.workspace.clone());
        let mut view = Self { entries: Vec::new(), now: local(scope), workspace, reader };
        view.entries = view.blocking(|view| view.reader.entries(&view.workspace)).await.unwrap_or_default();
        view
    }

    #[cfg(test)]
    pub(crate) fn of_files(paths: &[&str]) -> Self {
        let entries = paths.iter().map(|path| Entry { path: (*path).to_owned(), folder: false }).collect();
        let now = jiff::civil::date(2026, 1, 1).at(9, 0, 0, 0);
        Self { entries, now, workspace: PathBuf::new(), reader: Arc::new(tests::NoReader) }
    }

    /// Runs blocking work; `None` if it panics.
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Self) -> T + Send + 'static) -> Option<T> {
        let view = self.clone();
        tokio::task::spawn_blocking(move || work(&view)).await.ok()
    }

    /// Best first.
    pub fn named(&self, request: &str) -> Vec<PathMatch> {
        path::matches(request, &self.entries, &lexicon().paths)
    }

    pub fn file(&self, request: &str) -> Option<PathMatch> {
        self.named(request).into_iter().find(|found| !found.folder)
    }

    pub fn folder(&self, request: &str) -> Option<PathMatch> {
        self.named(request).into_iter().find(|found| found.folder)
    }

    pub fn has(&self, path: &str) -> bool {
        self.entries.iter().any(|entry| entry.path == path)
    }

    /// Paths of all that can be queried like a table: databases, and files of rows.
    pub fn sources(&self) -> Vec<String> {
        let rows = self.entries.iter().filter(|entry| !entry.folder && is_rows(&entry.path));
        let mut found = self.reader.databases(&self.workspace, &self.entries);
        found.extend(rows.map(|entry| entry.path.clone()));
        found
    }

    /// Blocks.
    pub fn read(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        self.reader.read(&self.workspace, path, most)
    }

    /// `None` unless it is text of a moderate size. Blocks.
    pub fn count_lines(&self, path: &str) -> Option<u64> {
        let bytes = self.read(path, MOST_BYTES)?;
        let ends = bytes.split(|byte| *byte == b'\n').count();
        let open = usize::from(bytes.last() == Some(&b'\n') || bytes.is_empty());
        u64::try_from(ends - open).ok()
    }

    /// The tables of a database or file of rows.
    pub async fn schema(&self, path: String) -> Option<Schema> {
        self.blocking(move |view| view.reader.schema(&view.workspace, &path)).await?
    }

    /// What a question asks of a database or file of rows.
    pub async fn draft(&self, path: String, question: FileQuestion) -> Option<FileDraft> {
        self.blocking(move |view| view.reader.draft(&view.workspace, &path, &question)).await?
    }

    /// The first rows of a query that was drafted before.
    pub async fn first_rows(&self, path: String, query: Value, count: u32) -> Option<FileDraft> {
        self.blocking(move |view| view.reader.first_rows(&view.workspace, &path, &query, count)).await?
    }

    /// As `2024-01-31`.
    pub fn today(&self) -> String {
        self.now.date().to_string()
    }

    pub fn reader(&self) -> &dyn WorkspaceReader {
        self.reader.as_ref()
    }
}

/// The time where the user is.
pub fn local(scope: &ToolScope) -> DateTime {
    let minutes = i64::from(scope.utc_offset_minutes);
    let millis = scope.now.0.saturating_add(minutes * 60_000);
    jiff::Timestamp::from_millisecond(millis)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).datetime())
        .unwrap_or_default()
}

/// Files to list, those that can be asked about first.
pub fn telling(entries: &[Entry]) -> Vec<String> {
    let rank = |ending: &str| TELLING.iter().position(|known| *known == ending);
    let mut found: Vec<(usize, &str)> = entries
        .iter()
        .filter(|entry| !entry.folder)
        .map(|entry| {
            let ending = entry.extension();
            (rank(&ending).unwrap_or(TELLING.len()), entry.path.as_str())
        })
        .collect();
    found.sort_unstable();
    let mut told: Vec<&str> = Vec::new();
    // One of each kind, then the others.
    for again in [false, true] {
        let mut last = usize::MAX;
        for (rank, path) in &found {
            if (again || *rank != last) && !told.contains(path) && told.len() < TOLD {
                told.push(path);
            }
            last = *rank;
        }
    }
    told.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Entry, FileDraft, FileQuestion, Schema, Value, WorkspaceReader};
    use std::path::Path;

    /// A workspace of which only the names of files are known.
    pub struct NoReader;

    impl WorkspaceReader for NoReader {
        fn entries(&self, _: &Path) -> Vec<Entry> {
            Vec::new()
        }
        fn read(&self, _: &Path, _: &str, _: u64) -> Option<Vec<u8>> {
            None
        }
        fn databases(&self, _: &Path, _: &[Entry]) -> Vec<String> {
            Vec::new()
        }
        fn schema(&self, _: &Path, _: &str) -> Option<Schema> {
            None
        }
        fn draft(&self, _: &Path, _: &str, _: &FileQuestion) -> Option<FileDraft> {
            None
        }
        fn first_rows(&self, _: &Path, _: &str, _: &Value, _: u32) -> Option<FileDraft> {
            None
        }
        fn runs(&self, _: &str) -> bool {
            false
        }
        fn split_command(&self, _: &str) -> Option<Vec<String>> {
            None
        }
    }
}
