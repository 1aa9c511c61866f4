//! The schema and its versions. One list for both engines.

use crate::tx::{Tx, args};
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

/// Any number that other programs on the same server are unlikely to lock.
const ADVISORY_LOCK: i64 = 0x5374_6577_6172_6401;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Empty,
    /// This version of our schema, older than or as new as ours.
    Version(i64),
}

/// Looks without changing anything. A newer schema and a foreign SQLite file are errors.
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
    Ok(Found::Version(found))
}

/// Brings the schema up to date, inside a transaction of the caller.
pub(crate) async fn apply(tx: &mut Tx<'_>, list: &[Migration]) -> StoreResult<()> {
    if matches!(tx, Tx::Postgres(_)) {
        // Two nodes may start at once: the second one waits, and finds the work done.
        tx.rows("select pg_advisory_xact_lock($1)::text", args![ADVISORY_LOCK]).await?;
    }
    let from = match inspect(tx, list).await? {
        Found::Empty => {
            tx.script("create table steward_schema (version bigint primary key, name text not null)").await?;
            0
        }
        Found::Version(version) => version,
    };
    for step in list.iter().filter(|step| step.version > from) {
        tx.script(step.sql).await?;
        tx.execute("insert into steward_schema (version, name) values ($1, $2)", args![step.version, step.name])
            .await?;
        tracing::info!(version = step.version, name = step.name, "schema migrated");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ALL, Migration};
    use crate::{Store, StoreConfig};
    use async_trait::async_trait;
    use std::path::PathBuf;
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
    async fn a_migration_that_fails_changes_nothing() {
        let dir = TempDir::new().unwrap();
        drop(open(&dir, ALL).await.unwrap());
        assert!(matches!(open(&dir, BROKEN).await, Err(StoreError::Backend(_))));
        let store = open(&dir, ALL).await.unwrap();
        let none = store.setting(TenantId::DEFAULT, "s").await.unwrap();
        assert_eq!(none, None);
    }
}
