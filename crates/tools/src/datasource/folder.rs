//! A folder of CSV, TSV and Parquet files as a database that is only read: each file is a table, read anew once one of them changes.

use super::DatasourceError;
use super::idle::{Stamp, of_files};
use crate::sql::table_files::{FileContent, table_of};
use std::path::{Component, Path, PathBuf};
use steward_sandbox::files::{FileLimits, Workspace};
use steward_sandbox::sql::{Guard, Policy, TableFile};

const ENDINGS: [&str; 3] = ["csv", "tsv", "parquet"];
/// Files of a folder that are tables.
const MOST: usize = 200;
/// Bytes of all of them: they are held in memory.
const LARGEST: u64 = 256 << 20;

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

    /// By name. Links are left out: they may lead anywhere.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let ending = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .filter(|path| ending(path).is_some_and(|ending| ENDINGS.contains(&ending.as_str())))
            .collect();
        files.sort();
        files
    }

    pub fn stamp(&self) -> Option<Stamp> {
        of_files(&self.files())
    }

    /// Reads all files. Blocks.
    pub fn open(&self, policy: Policy) -> Result<Guard, DatasourceError> {
        let files = self.files();
        let failed = |why: String| DatasourceError::Settings(format!("the folder {}: {why}", self.name));
        if files.is_empty() {
            return Err(failed("it has no CSV, TSV or Parquet files; put some there".to_owned()));
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
        // A program may put a link in the place of a file or a folder meanwhile: none that leads out is followed.
        let limits = FileLimits { read_bytes: LARGEST, ..FileLimits::default() };
        let workspace = Workspace::open(&self.workspace, limits).map_err(|error| failed(error.to_string()))?;
        let mut contents = Vec::with_capacity(files.len());
        for path in &files {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let bytes = workspace.read(&format!("{}/{name}", self.name)).map_err(|error| failed(error.to_string()))?;
            let content = FileContent::of(&name, bytes);
            contents.push((name, content));
        }
        let tables: Vec<TableFile<'_>> = contents.iter().map(|(name, content)| table_of(name, content)).collect();
        Ok(Guard::of_tables(&tables, policy)?)
    }
}
