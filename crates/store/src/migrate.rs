//! The schema and its versions. One list for both engines.

use crate::tx::{Tx, args};
use serde::{Deserialize, Serialize};
use steward_core::hash::sha256;
use steward_core::ports::{StoreError, StoreResult};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

/// All steps that this program knows, in order.
pub(crate) const ALL: &[Migration] = &[Migration { version: 1, name: "first", sql: FIRST }];

pub(crate) const FIRST: &str = include_str!("../migrations/0001_first.sql");

pub const SCHEMA_VERSION: i64 = ALL[ALL.len() - 1].version;

/// What a database says of itself: the steps that made it, the hash of each one's text, and which program ran it.
const SCHEMA_TABLE: &str = "create table steward_schema (
    version bigint primary key, name text not null, hash text not null, program text not null)";

/// The version of this program.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Any number that other programs on the same server are unlikely to lock.
const ADVISORY_LOCK: i64 = 0x5374_6577_6172_6401;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Empty,
    /// This version of our schema, older than or as new as ours.
    Version(i64),
}

impl Migration {
    /// Of the step's text: a step that was edited since a database was made is another one.
    fn hash(&self) -> String {
        sha256(self.sql.as_bytes())
    }
}

/// A step that made the schema, and the hash of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaStep {
    pub version: i64,
    pub name: String,
    pub hash: String,
}

/// The steps of this program, in order.
pub fn schema_steps() -> Vec<SchemaStep> {
    let step = |step: &Migration| SchemaStep { version: step.version, name: step.name.to_owned(), hash: step.hash() };
    ALL.iter().map(step).collect()
}

/// Looks without changing anything. A newer schema, a foreign SQLite file, and a database whose steps are not those of
/// this program are errors.
pub(crate) async fn inspect(tx: &mut Tx<'_>, list: &[Migration]) -> StoreResult<Found> {
    let tables = match tx {
        Tx::Sqlite(_) => "select name from sqlite_master where type = 'table'",
        Tx::Postgres(_) => "select to_regclass('steward_schema')::text where to_regclass('steward_schema') is not null",
    };
    let mut ours = false;
    let mut others = 0;
    for row in tx.rows(tables, args![]).await? {
        match row.text(0)?.as_str() {
            "steward_schema" => ours = true,
            name if name.starts_with("sqlite_") => {}
            _ => others += 1,
        }
    }
    if !ours && others > 0 {
        return Err(StoreError::Corrupt("the file is a database of another program".to_owned()));
    }
    if !ours {
        return Ok(Found::Empty);
    }
    let row = tx.row("select coalesce(max(version), 0) from steward_schema", args![]).await?;
    let found = row.map_or(Ok(0), |row| row.int(0))?;
    let known = list.last().map_or(0, |last| last.version);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    check_steps(tx, list).await?;
    Ok(Found::Version(found))
}

/// A database that says nothing of its steps is of a program before 0.1.0-dev, whose first step was edited in place.
async fn check_steps(tx: &mut Tx<'_>, list: &[Migration]) -> StoreResult<()> {
    let column = match tx {
        Tx::Sqlite(_) => "select name from pragma_table_info('steward_schema') where name = 'hash'",
        Tx::Postgres(_) => {
            "select attname::text from pg_attribute
             where attrelid = to_regclass('steward_schema') and attname = 'hash' and not attisdropped"
        }
    };
    let differs = |written_by: String, step: String| StoreError::OtherSchema { written_by, step };
    if tx.row(column, args![]).await?.is_none() {
        return Err(differs("a development version without a number".to_owned(), "first".to_owned()));
    }
    for row in tx.rows("select version, name, hash, program from steward_schema order by version", args![]).await? {
        let (version, name) = (row.int(0)?, row.text(1)?);
        let known = list.iter().find(|step| step.version == version);
        if known.is_none_or(|step| step.hash() != row.text(2).unwrap_or_default()) {
            return Err(differs(format!("steward {}", row.text(3)?), name));
        }
    }
    Ok(())
}

/// Brings the schema up to date, inside a transaction of the caller.
pub(crate) async fn apply(tx: &mut Tx<'_>, list: &[Migration]) -> StoreResult<()> {
    if matches!(tx, Tx::Postgres(_)) {
        // Two nodes may start at once: the second one waits, and finds the work done.
        tx.rows("select pg_advisory_xact_lock($1)::text", args![ADVISORY_LOCK]).await?;
    }
    let from = match inspect(tx, list).await? {
        Found::Empty => {
            tx.script(SCHEMA_TABLE).await?;
            0
        }
        Found::Version(version) => version,
    };
    for step in list.iter().filter(|step| step.version > from) {
        tx.script(step.sql).await?;
        let sql = "insert into steward_schema (version, name, hash, program) values ($1, $2, $3, $4)";
        tx.execute(sql, args![step.version, step.name, step.hash(), PROGRAM]).await?;
        tracing::info!(version = step.version, name = step.name, "schema migrated");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ALL, Migration};
    use crate::{Store, StoreConfig};
    use async_trait::async_trait;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use steward_core::TenantId;
    use steward_core::ports::{BlobError, Blobs, Settings, StoreError};
    use tempfile::TempDir;

    struct NoBlobs;

    #[async_trait]
    impl Blobs for NoBlobs {
        async fn put(&self, _: Vec<u8>) -> Result<String, BlobError> {
            Err(BlobError::Missing("none are kept".to_owned()))
        }

        async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError> {
            Err(BlobError::Missing(hash.to_owned()))
        }
    }

    const KNOWN: i64 = ALL[ALL.len() - 1].version;
    const NEXT: &[Migration] = &extended(Migration {
        version: KNOWN + 1,
        name: "next",
        sql: "create table extra (tenant_id uuid not null); drop table settings;",
    });
    const BROKEN: &[Migration] =
        &extended(Migration { version: KNOWN + 1, name: "broken", sql: "drop table settings; create nonsense;" });

    const EDITED: &[Migration] = &extended(Migration {
        version: KNOWN + 1,
        name: "next",
        sql: "create table extra (tenant_id uuid not null, note text); drop table settings;",
    });

    const fn extended(by: Migration) -> [Migration; ALL.len() + 1] {
        let mut list = [by; ALL.len() + 1];
        let mut at = 0;
        while at < ALL.len() {
            list[at] = ALL[at];
            at += 1;
        }
        list
    }

    #[test]
    fn versions_follow_each_other() {
        let versions = ALL.iter().map(|step| step.version);
        assert!(versions.eq(1..=i64::try_from(ALL.len()).unwrap()));
    }

    async fn open(dir: &TempDir, list: &'static [Migration]) -> Result<Store, StoreError> {
        Store::open_with(StoreConfig::sqlite(dir.path()), Arc::new(NoBlobs), list).await
    }

    fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let mut files: Vec<_> = files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
        files.sort();
        files
    }

    fn copies(dir: &TempDir) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(dir.path().join("backups"));
        folder.map_or_else(|_| Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
    }

    #[tokio::test]
    async fn an_older_database_is_copied_before_it_is_migrated() {
        let dir = TempDir::new().unwrap();
        let value = serde_json::json!("dear");
        let store = open(&dir, ALL).await.unwrap();
        store.set_setting(TenantId::DEFAULT, "s", &value).await.unwrap();
        drop(store);
        drop(open(&dir, ALL).await.unwrap());
        assert!(copies(&dir).is_empty(), "nothing was migrated");

        drop(open(&dir, NEXT).await.unwrap());
        let copies = copies(&dir);
        assert_eq!(copies.len(), 1);
        let refused = open(&dir, ALL).await.err();
        assert!(matches!(
            refused,
            Some(StoreError::Newer { found, known: KNOWN }) if found == KNOWN + 1
        ));

        // The copy is a whole database that the older program can go on with.
        let other = TempDir::new().unwrap();
        std::fs::copy(&copies[0], other.path().join("steward.db")).unwrap();
        let store = open(&other, ALL).await.unwrap();
        let kept = store.setting(TenantId::DEFAULT, "s").await.unwrap();
        assert_eq!(kept, Some(value));
    }

    #[tokio::test]
    async fn a_database_whose_step_was_edited_since_is_refused() {
        let dir = TempDir::new().unwrap();
        drop(open(&dir, NEXT).await.unwrap());
        let before = contents(dir.path());
        let refused = open(&dir, EDITED).await.err().unwrap();
        let StoreError::OtherSchema { written_by, step } = &refused else { panic!("{refused:?}") };
        assert_eq!((written_by.as_str(), step.as_str()), (concat!("steward ", env!("CARGO_PKG_VERSION")), "next"));
        assert!(refused.to_string().contains("STEWARD_DATA"), "{refused}");
        assert_eq!(contents(dir.path()), before);
        drop(open(&dir, NEXT).await.unwrap());
    }

    #[tokio::test]
    async fn a_migration_that_fails_changes_nothing() {
        let dir = TempDir::new().unwrap();
        drop(open(&dir, ALL).await.unwrap());
        assert!(matches!(open(&dir, BROKEN).await, Err(StoreError::Backend(_))));
        let store = open(&dir, ALL).await.unwrap();
        let none = store.setting(TenantId::DEFAULT, "s").await.unwrap();
        assert_eq!(none, None);
    }
}
