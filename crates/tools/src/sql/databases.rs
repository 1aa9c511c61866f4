use super::table_files;
use crate::files::confined;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use steward_core::ports::Entry;
use steward_core::provenance::Consulted;
use steward_sandbox::sql::{Guard, Policy};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Most files that are opened to find databases.
const LOOKED_AT: usize = 400;
/// Extensions of files that are certainly no databases.
const OTHER: &[&str] =
    &["md", "txt", "csv", "tsv", "json", "jsonl", "log", "html", "xml", "yaml", "yml", "toml", "rs", "py", "js", "ts"];

/// Relative to the workspace.
pub fn databases(workspace: &Path, entries: &[Entry]) -> Vec<String> {
    let workspace = confined(workspace, 0);
    entries
        .iter()
        .filter(|entry| !entry.folder && !OTHER.contains(&entry.extension().as_str()))
        .take(LOOKED_AT)
        .filter(|entry| workspace.as_ref().is_some_and(|root| begins_so(root.open_read(&entry.path).ok())))
        .map(|entry| entry.path.clone())
        .collect()
}

fn begins_so(file: Option<File>) -> bool {
    let mut head = [0u8; 16];
    file.is_some_and(|mut file| file.read_exact(&mut head).is_ok()) && head == *MAGIC
}

/// The files that a database is made of, as [`open`] opens them.
pub fn files_of(workspace: &Path, database: &str) -> Result<Vec<String>, String> {
    Ok(table_files::named(workspace, database)?.unwrap_or_else(|| vec![database.to_owned()]))
}

/// Opens a SQLite file, or CSV, TSV and Parquet files as the tables of one database. Each file whose content an error may
/// quote is noted in `consulted`.
pub fn open(workspace: &Path, database: &str, policy: Policy, consulted: &Consulted) -> Result<Guard, String> {
    if let Some(paths) = table_files::named(workspace, database)? {
        return table_files::open(workspace, &paths, policy, consulted);
    }
    let path = resolve(workspace, database)?;
    consulted.file(database);
    Guard::open(&path, policy).map_err(|error| error.to_string())
}

/// The real path of a database in the workspace; the error says why there is none.
pub fn resolve(workspace: &Path, database: &str) -> Result<PathBuf, String> {
    let relative = Path::new(database.trim_start_matches("./"));
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("`{database}` is no path inside the workspace; give one relative to it"));
    }
    let missing = |error: std::io::Error| format!("there is no database `{database}` in the workspace ({error})");
    let root = workspace.canonicalize().map_err(missing)?;
    let real = root.join(relative).canonicalize().map_err(missing)?;
    if !real.starts_with(&root) {
        return Err(format!("`{database}` leads out of the workspace"));
    }
    if !begins_so(File::open(&real).ok()) {
        return Err(format!("`{database}` is no SQLite database, and no CSV, TSV or Parquet file"));
    }
    Ok(real)
}
