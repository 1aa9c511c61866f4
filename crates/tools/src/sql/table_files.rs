use bytes::Bytes;
use std::path::Path;
use steward_core::provenance::Consulted;
use steward_sandbox::files::{EntryKind, FileLimits, Workspace};
use steward_sandbox::sql::{Guard, Policy, TableContent, TableFile};
use steward_sandbox::text::decode;

/// Files that hold JSON, which may be rows.
pub(crate) const JSON_ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];
const BYTES: u64 = 64 << 20;
const FILES: usize = 50;

fn ends_in(path: &str, endings: &[&str]) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|found| endings.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

fn is_table(path: &str) -> bool {
    ends_in(path, &["csv", "tsv", "tab", "psv", "parquet"])
}

/// The table of a file whose name is `path`.
pub(crate) fn table_of<'t>(path: &'t str, content: &'t FileContent) -> TableFile<'t> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
    let content = match content {
        FileContent::Text(text) => TableContent::Text(text),
        FileContent::Json(text) => TableContent::Json(text),
        FileContent::Parquet(bytes) => TableContent::Parquet(bytes.clone()),
    };
    TableFile { source: path, name, content }
}

/// What a file of rows holds.
pub(crate) enum FileContent {
    Text(String),
    Json(String),
    Parquet(Bytes),
}

impl FileContent {
    pub fn of(path: &str, bytes: Vec<u8>) -> Self {
        if ends_in(path, &["parquet"]) {
            return Self::Parquet(bytes.into());
        }
        let text = decode(bytes.clone()).map(|found| found.text);
        let text = text.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned());
        if ends_in(path, &JSON_ENDINGS) { Self::Json(text) } else { Self::Text(text) }
    }
}

/// The files that `database` names if they are files of rows: one, several separated by commas, or a folder.
pub(super) fn named(workspace: &Path, database: &str) -> Result<Option<Vec<String>>, String> {
    let files = reader(workspace)?;
    let exists = |path: &str| files.exists(path).unwrap_or(false);
    let parts: Vec<&str> = if exists(database) {
        vec![database.trim()]
    } else {
        database.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
    };
    let mut found = Vec::new();
    let mut others = Vec::new();
    for part in parts {
        if is_table(part) {
            found.push(part.to_owned());
        } else if let Ok((entries, _)) = files.list(part) {
            let inside = entries.iter().filter(|entry| entry.kind == EntryKind::File && is_table(&entry.name));
            let before = found.len();
            found.extend(inside.map(|entry| format!("{}/{}", part.trim_end_matches('/'), entry.name)));
            if found.len() == before {
                return Err(format!(
                    "the folder `{part}` holds no CSV, TSV or Parquet file; name a database, or such files"
                ));
            }
        } else {
            others.push(part);
        }
    }
    match (found.len(), others.as_slice()) {
        (0, _) => Ok(None),
        (1..=FILES, []) => Ok(Some(found)),
        (_, [other, ..]) => Err(format!(
            "`{other}` is no CSV, TSV or Parquet file, and a database can't be asked together with such files; ask it by itself"
        )),
        (count, []) => Err(format!("{count} files are too many for one query; name at most {FILES}")),
    }
}

fn reader(workspace: &Path) -> Result<Workspace, String> {
    let limits = FileLimits { read_bytes: BYTES, ..FileLimits::default() };
    Workspace::open(workspace, limits).map_err(|error| error.to_string())
}

pub(super) fn open(workspace: &Path, paths: &[String], policy: Policy, consulted: &Consulted) -> Result<Guard, String> {
    let files = reader(workspace)?;
    let mut contents = Vec::new();
    let mut left = BYTES;
    for path in paths {
        let bytes = files.read(path).map_err(|error| error.to_string())?;
        consulted.file(path);
        left = left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| format!("the files hold more than {} MB together; name fewer", BYTES >> 20))?;
        contents.push(FileContent::of(path, bytes));
    }
    let tables: Vec<TableFile<'_>> =
        paths.iter().zip(&contents).map(|(path, content)| table_of(path, content)).collect();
    Guard::of_tables(&tables, policy).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::databases::open;
    use serde_json::{Value, json};
    use steward_core::provenance::Consulted;
    use steward_sandbox::sql::{Guard, Policy};

    fn bench(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let at = dir.path().join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, bytes).unwrap();
        }
        dir
    }

    fn ask(dir: &tempfile::TempDir, database: &str, sql: &str) -> Result<Value, String> {
        let guard: Guard = open(dir.path(), database, Policy::default(), &Consulted::default())?;
        guard.query(sql).map(|rows| json!(rows.rows)).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_tables_alone_together_and_by_folder() {
        let dir = bench(&[
            ("data/orders-2024.csv", b"id,customer,total\n1,7,12.50\n2,8,0.25\n"),
            ("data/customers.tsv", b"id\tname\n7\tAnn\n8\tBo\n"),
            ("a, b.csv", b"x\n1\n"),
            ("latin.csv", b"name\nM\xfcller\n"),
            ("utf16.csv", b"\xff\xfen\0\n\x005\0\n\0"),
            ("sep.csv", b"sep=;\r\nplz;ort;betrag\r\n01067;Dresden;1.234,50\r\n04103;Leipzig;88,00\r\n"),
            ("jis.csv", b"name;n\n\x89\xef\x8b\x63\x82\xcd\x97\x88\x8f\x54\x82\xc5\x82\xb7;1\n"),
            ("x.db", b"SQLite format 3\0"),
            ("empty/readme.md", b""),
        ]);
        assert_eq!(ask(&dir, "data/orders-2024.csv", "SELECT sum(total) FROM orders_2024"), Ok(json!([[12.75]])));
        let joined = "SELECT name, total FROM orders_2024 o JOIN customers c ON c.id = o.customer ORDER BY 1";
        for database in ["data/orders-2024.csv, data/customers.tsv", "data", "./data/"] {
            assert_eq!(ask(&dir, database, joined), Ok(json!([["Ann", 12.5], ["Bo", 0.25]])), "{database}");
        }
        assert_eq!(ask(&dir, "a, b.csv", "SELECT x FROM a__b"), Ok(json!([[1]])));
        assert_eq!(ask(&dir, "latin.csv", "SELECT name FROM latin"), Ok(json!([["Müller"]])));
        assert_eq!(ask(&dir, "utf16.csv", "SELECT n FROM utf16"), Ok(json!([[5]])));
        let sums = "SELECT ort, betrag, (SELECT sum(betrag) FROM sep) FROM sep WHERE plz = '01067'";
        assert_eq!(ask(&dir, "sep.csv", sums), Ok(json!([["Dresden", 1234.5, 1322.5]])));
        assert_eq!(ask(&dir, "jis.csv", "SELECT name FROM jis"), Ok(json!([["会議は来週です"]])));
        for (database, why) in [
            ("missing.csv", "missing.csv"),
            ("../x.csv", "x.csv"),
            ("empty", "holds no CSV"),
            ("x.db, data/customers.tsv", "ask it by itself"),
            ("empty/readme.md", "no SQLite database, and no CSV"),
        ] {
            let refused = ask(&dir, database, "SELECT 1").unwrap_err();
            assert!(refused.contains(why), "{database}: {refused}");
        }
    }
}
