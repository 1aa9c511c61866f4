//! A folder of CSV, TSV, JSON and Parquet files as a database that is only read: each file is a table, read anew once one of them
//! changes.

use super::DatasourceError;
use super::idle::{Stamp, of_files};
use crate::sql::table_files::{FileContent, JSON_ENDINGS, table_of};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use steward_sandbox::files::{FileLimits, Workspace};
use steward_sandbox::sql::{Guard, Policy, TableFile, begins_as_json_rows};

const ENDINGS: [&str; 3] = ["csv", "tsv", "parquet"];
/// Files that hold rows too, and are not read as tables.
const OTHERS: [&str; 5] = ["xlsx", "xls", "xlsm", "ods", "tab"];
/// Files of a folder that are tables.
const MOST: usize = 200;
/// Bytes of all of them: they are held in memory.
const LARGEST: u64 = 256 << 20;
/// Bytes by which a file is known as one of rows.
const BEGINNING: u64 = 4096;

#[derive(Debug, Clone)]
pub struct Folder {
    workspace: PathBuf,
    path: PathBuf,
    /// As the datasource names it.
    name: String,
}

impl Folder {
    /// A folder of the workspace; `.` is the workspace itself.
    pub fn find(name: &str, workspace: &Path) -> Result<Self, DatasourceError> {
        let failed = |why: String| DatasourceError::Settings(format!("the folder {name} can't be read: {why}"));
        let relative = Path::new(name);
        if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(failed("give a path inside of the workspace".to_owned()));
        }
        let root = workspace.canonicalize().map_err(|error| failed(error.to_string()))?;
        let path = root.join(relative).canonicalize().map_err(|error| failed(error.to_string()))?;
        if !path.starts_with(&root) {
            return Err(failed("it leads out of the workspace".to_owned()));
        }
        if !path.is_dir() {
            return Err(failed("it is no folder".to_owned()));
        }
        Ok(Self { workspace: root, path, name: name.to_owned() })
    }

    /// JSON only where it begins as rows do: settings and the like lie among files of rows.
    fn files(&self, workspace: &Workspace) -> Vec<PathBuf> {
        let mut files = self.files_with(&ENDINGS);
        files.extend(self.files_with(&JSON_ENDINGS).into_iter().filter(|path| self.holds_rows(path, workspace)));
        files.sort();
        files
    }

    /// Whether a file of JSON begins as a list of objects does, or as lines of objects.
    fn holds_rows(&self, path: &Path, workspace: &Workspace) -> bool {
        let Ok(file) = workspace.open_read(&self.name_of(path)) else { return false };
        let mut begin = Vec::new();
        if file.take(BEGINNING).read_to_end(&mut begin).is_err() {
            return false;
        }
        let FileContent::Json(begin) = FileContent::of("x.json", begin) else { return false };
        let is_object = begin.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        // A file of one object is no list of them, unless its name says that each line is one.
        begins_as_json_rows(&begin) && (!is_object || ending_of(path).is_some_and(|ending| ending != "json"))
    }

    /// As the workspace names a file of it.
    fn name_of(&self, path: &Path) -> String {
        format!("{}/{}", self.name, path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// A program may put a link in the place of a file or a folder meanwhile: none that leads out is followed.
    fn reader(&self) -> Result<Workspace, DatasourceError> {
        let limits = FileLimits { read_bytes: LARGEST, ..FileLimits::default() };
        Workspace::open(&self.workspace, limits).map_err(|error| self.failed(&error.to_string()))
    }

    fn failed(&self, why: &str) -> DatasourceError {
        DatasourceError::Settings(format!("the folder {}: {why}", self.name))
    }

    /// What lies there and is no table, each with the reason.
    pub fn left_out(&self) -> Vec<String> {
        let of = |kind: &str, ending: &str| match (kind, ending) {
            ("link", _) => Some("a link may lead anywhere; put the file itself there"),
            ("folder", _) => Some("a folder inside of the folder; add it as a datasource of its own"),
            (_, "xlsx" | "xls" | "xlsm" | "ods") => {
                Some("a spreadsheet is no table here; save each of its sheets as CSV")
            }
            (_, "json") => Some("it is no list of objects; if each line is one, rename it to .jsonl"),
            (_, "jsonl" | "ndjson") => Some("its lines are no objects; save its rows as CSV"),
            (_, "tab") => Some("rename it to .tsv"),
            _ => None,
        };
        let reader = self.reader().ok();
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut all: Vec<String> = entries
            .filter_map(|entry| {
                let (path, found) = (entry.path(), entry.file_type().ok()?);
                let name = entry.file_name().to_string_lossy().into_owned();
                let ending = ending_of(&path).unwrap_or_default();
                let is_json = JSON_ENDINGS.contains(&ending.as_str());
                if is_json && found.is_file() && reader.as_ref().is_some_and(|reader| self.holds_rows(&path, reader)) {
                    return None;
                }
                let holds_rows = is_json || ENDINGS.contains(&ending.as_str()) || OTHERS.contains(&ending.as_str());
                let kind = match () {
                    () if found.is_dir() && has_tables(&path) => "folder",
                    () if found.is_symlink() && holds_rows => "link",
                    () if found.is_file() && holds_rows => "file",
                    () => return None,
                };
                let why = of(kind, &ending)?;
                Some(format!("`{name}`: {why}"))
            })
            .collect();
        all.sort();
        all
    }

    /// By name. Links are left out: they may lead anywhere.
    fn files_with(&self, endings: &[&str]) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .filter(|path| ending_of(path).is_some_and(|ending| endings.contains(&ending.as_str())))
            .collect();
        files.sort();
        files
    }

    pub fn stamp(&self) -> Option<Stamp> {
        let mut all = self.files_with(&ENDINGS);
        all.extend(self.files_with(&JSON_ENDINGS));
        of_files(&all)
    }

    /// Reads all files. Blocks.
    pub fn open(&self, policy: Policy) -> Result<Guard, DatasourceError> {
        let workspace = self.reader()?;
        let files = self.files(&workspace);
        let failed = |why: String| self.failed(&why);
        let others: Vec<String> = self
            .files_with(&OTHERS)
            .iter()
            .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
            .collect();
        if files.is_empty() && !others.is_empty() {
            let names = others.join(", ");
            return Err(failed(format!(
                "it has no CSV, TSV, JSON or Parquet files of rows; save these as CSV: {names}"
            )));
        }
        if files.is_empty() {
            return Err(failed("it has no CSV, TSV, JSON or Parquet files of rows; put some there".to_owned()));
        }
        if !others.is_empty() {
            tracing::warn!(
                folder = self.name,
                files = others.join(", "),
                "these files are no tables: save them as CSV"
            );
        }
        if files.len() > MOST {
            return Err(failed(format!("it has {} files, and {MOST} can be tables; divide it", files.len())));
        }
        let size: u64 = files.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum();
        if size > LARGEST {
            return Err(failed(format!(
                "its files have {} MB, and {} MB can be held; put them into a database",
                size >> 20,
                LARGEST >> 20
            )));
        }
        let mut contents = Vec::with_capacity(files.len());
        for path in &files {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = workspace.read(&self.name_of(path)).map_err(|error| failed(error.to_string()))?;
            let content = FileContent::of(&name, bytes);
            contents.push((name, content));
        }
        let tables: Vec<TableFile<'_>> = contents.iter().map(|(name, content)| table_of(name, content)).collect();
        Ok(Guard::of_tables(&tables, policy)?)
    }
}

fn ending_of(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

/// Whether files of a folder would be tables.
fn has_tables(folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| ending_of(&entry.path()).is_some_and(|ending| ENDINGS.contains(&ending.as_str())))
}
