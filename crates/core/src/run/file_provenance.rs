//! Where the files of a workspace come from: what a call read brings that into its run, what it wrote takes it along.

use crate::provenance::{MAX_ORIGIN_CHARS, Provenance};
use crate::workspace_path::in_workspace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Folder of a workspace in which uploads lie: all below it is from outside, recorded or not.
pub const UPLOADS: &str = "uploads";
/// Most entries that are kept of a workspace; beyond that, those of a folder become one of the folder itself.
pub const MAX_FILE_ENTRIES: usize = 5_000;

/// What is recorded of a file, or of all that lies in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProvenance {
    /// Its path in the workspace; empty: the workspace itself.
    pub path: String,
    pub provenance: Provenance,
}

/// Whether `path` is `folder`, or lies in it; whole names are compared.
pub fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What SQLite keeps of a database beside its file.
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];

/// What the content of these files and folders brings in. `known`: what is recorded of the workspace.
pub fn provenance_of_files(reads: &[String], workspace: &str, known: &[FileProvenance]) -> Provenance {
    let mut by_path: BTreeMap<&str, Vec<&Provenance>> = BTreeMap::new();
    for file in known {
        by_path.entry(&file.path).or_default().push(&file.provenance);
    }
    let mut found = Provenance::default();
    for path in reads.iter().filter_map(|path| in_workspace(path, workspace)) {
        let beside = BESIDE.map(|end| format!("{path}{end}"));
        let above = ancestors(&path).chain(beside.iter().map(String::as_str));
        let recorded = above.filter_map(|path| by_path.get_key_value(path));
        let below = if path.is_empty() { String::new() } else { format!("{path}/") };
        let within = by_path.range(below.as_str()..).take_while(|(path, _)| path.starts_with(&below));
        let all = recorded.chain(within).flat_map(|(file, found)| found.iter().map(move |one| (file, *one)));
        for (file, provenance) in all {
            let mut brought = provenance.clone();
            if let Some(level) = &mut brought.level
                && !level.source.contains(" (")
            {
                // One step is said, not the chain of all copies.
                let source = format!("{file} ({})", level.source);
                level.source = source.chars().take(MAX_ORIGIN_CHARS).collect();
            }
            found.join(&brought);
        }
        if is_in(&path, UPLOADS) || is_in(UPLOADS, &path) {
            found.add_origin(if is_in(&path, UPLOADS) { &path } else { UPLOADS });
        }
    }
    found
}

/// `path` and the folders above it, the workspace itself last.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| (!path.is_empty()).then(|| parent(path)))
}

/// The paths of a workspace among those that a call says it wrote; empty: all of it, where nobody can tell.
pub fn written_paths(writes: &[String], workspace: &str) -> Vec<String> {
    let mut paths: Vec<String> = writes.iter().filter_map(|path| in_workspace(path, workspace)).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// At most `most` entries: the fullest folders, the deepest first, become one entry with all that was recorded in them.
/// Nothing loses its mark, files beside it may gain one.
pub fn collapse_to_folders(mut files: Vec<FileProvenance>, most: usize) -> Vec<FileProvenance> {
    while files.len() > most.max(1) {
        let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
        for file in &files {
            *folders.entry(parent(&file.path)).or_default() += 1;
        }
        let depth = |folder: &str| if folder.is_empty() { 0 } else { folder.split('/').count() };
        let fullest =
            folders.iter().max_by_key(|(folder, count)| (!folder.is_empty(), **count > 1, **count, depth(folder)));
        let Some(folder) = fullest.map(|(folder, _)| (*folder).to_owned()) else {
            return files;
        };
        let mut whole = FileProvenance { path: folder, provenance: Provenance::default() };
        files.retain(|file| {
            let inside = is_in(&file.path, &whole.path);
            if inside {
                whole.provenance.join(&file.provenance);
            }
            !inside
        });
        files.push(whole);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::{FileProvenance, collapse_to_folders, is_in, provenance_of_files, written_paths};
    use crate::provenance::Provenance;
    use std::collections::BTreeSet;

    fn recorded(path: &str, origin: &str) -> FileProvenance {
        FileProvenance { path: path.to_owned(), provenance: Provenance::from_outside(origin) }
    }

    #[test]
    fn what_is_read_brings_its_origins_in() {
        let known = [
            recorded("notes/page.md", "https://example.org"),
            recorded("e", "uploads/evil.txt"),
            recorded("data/log.db-wal", "the log"),
            recorded("notes/odd \n", "an archive"),
        ];
        let (page, evil) = ("https://example.org", "uploads/evil.txt");
        for (path, expect) in [
            ("uploads/a b.csv", &["uploads/a b.csv"][..]),
            ("/srv/w/uploads/../uploads/x", &["uploads/x"]),
            ("uploads", &["uploads"]),
            (".", &["an archive", page, "the log", "uploads", evil]),
            ("/etc/uploads/a", &[]),
            ("uploads.md", &[]),
            ("notes/page.md", &[page]),
            ("notes/page.md/below.md", &[page]),
            ("notes", &["an archive", page]),
            ("notes/own.md", &[]),
            ("e", &[evil]),
            ("date", &[]),
            ("e.txt", &[]),
            ("data/log.db", &["the log"]),
            ("notes/odd \n", &["an archive"]),
            ("notes/odd", &[]),
        ] {
            let found = provenance_of_files(&[path.to_owned()], "/srv/w", &known);
            let expect: BTreeSet<String> = expect.iter().map(|&origin| origin.to_owned()).collect();
            assert_eq!(found.origins, expect, "{path}");
        }
    }

    #[test]
    fn what_was_written_is_told_by_the_call() {
        let writes = ["./a.md", "/w/b/../b/c", "../x", "/etc/passwd", "a.md"].map(str::to_owned);
        assert_eq!(written_paths(&writes, "/w"), ["a.md", "b/c"]);
        assert_eq!(written_paths(&[".".to_owned()], "/w"), [""]);
    }

    #[test]
    fn a_full_table_collapses_to_folders_and_loses_no_mark() {
        let mut files: Vec<FileProvenance> = (0..40).map(|n| recorded(&format!("a/b/{n}"), "x")).collect();
        files.extend((0..5).map(|n| recorded(&format!("c/{n}"), "y")));
        files.push(recorded("top.md", "z"));
        let all = files.clone();
        for most in [46, 20, 6, 3, 1] {
            let less = collapse_to_folders(files.clone(), most);
            assert!(less.len() <= most, "{most}: {less:?}");
            for file in &all {
                let mark = less.iter().find(|one| is_in(&file.path, &one.path)).map(|one| &one.provenance.origins);
                assert!(mark.is_some_and(|origins| origins.is_superset(&file.provenance.origins)), "{most} {file:?}");
            }
        }
        let less = collapse_to_folders(files, 20);
        let paths: Vec<&str> = less.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["a/b", "c/0", "c/1", "c/2", "c/3", "c/4", "top.md"]);
    }
}
