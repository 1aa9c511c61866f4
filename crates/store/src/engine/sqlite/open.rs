//! Opening a SQLite database: nothing is changed before it is known to be ours and not newer.

use super::look::refuse_others;
use crate::codec::fold;
use crate::engine::ready;
use crate::error;
use crate::lock::{DirLock, lock};
use crate::migrate::{self, Found, Migration};
use crate::names;
use crate::tx::{Tx, args};
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::{StoreError, StoreResult};

/// 3.51.3: older ones can corrupt a WAL.
const OLDEST_SQLITE: i32 = 3_051_003;
/// Pages in the WAL before a checkpoint: larger ones than the default of 1,000 keep slow commits rare.
const CHECKPOINT_PAGES: u32 = 8_000;
/// Size that the WAL's file is cut to after a checkpoint.
const WAL_BYTES: u32 = 64 << 20;

pub(super) struct Opened {
    pub connection: Connection,
    pub lock: Arc<DirLock>,
    pub path: PathBuf,
}

pub(super) fn open(data_dir: &Path, max_pages: Option<u32>, list: &[Migration]) -> StoreResult<Opened> {
    let version = rusqlite::version_number();
    if version < OLDEST_SQLITE {
        return Err(StoreError::Backend(format!(
            "SQLite {} is too old; build with 3.51.3 or newer",
            rusqlite::version()
        )));
    }
    refuse_others(data_dir, list)?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir).map_err(|e| error::io(data_dir, &e))?;
    let lock = Arc::new(lock(data_dir)?);
    let path = data_dir.join("steward.db");
    let mut connection = connect(&path)?;
    let found = ready(Box::pin(migrate::inspect(&mut Tx::Sqlite(&mut connection), list)))?;
    configure(&connection, max_pages).map_err(|e| error::sqlite(&e))?;
    let newest = list.last().map_or(0, |last| last.version);
    if let Found::Version(version) = found
        && version < newest
    {
        snapshot(&connection, data_dir, version)?;
    }
    prepare(&mut connection, list)?;
    Ok(Opened { connection, lock, path })
}

/// The log beside it gets the mode of the file.
fn connect(path: &Path) -> StoreResult<Connection> {
    // What fails is told by what comes next.
    let _made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| error::sqlite(&e))?;
    connection
        .busy_timeout(Duration::from_secs(5))
        // Until the file is known to be ours, closing it must not write to it.
        .and_then(|()| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true))
        .map_err(|e| error::sqlite(&e))?;
    Ok(connection)
}

/// `lower` that folds every letter, as PostgreSQL does, not only those of ASCII; and what finds names.
pub(super) fn add_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("lower", 1, flags, |call| Ok(call.get::<Option<String>>(0)?.as_deref().map(fold)))?;
    names::add_functions(connection, flags)
}

fn configure(connection: &Connection, max_pages: Option<u32>) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // What a burst has made of the log is given back to the disk.
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_BYTES, |_| Ok(()))?;
    connection.set_prepared_statement_cache_capacity(128);
    add_functions(connection)?;
    if let Some(pages) = max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    let mode: String = connection.query_row("pragma journal_mode", [], |row| row.get(0))?;
    if mode != "wal" {
        tracing::warn!(mode, "the file system does not allow a write-ahead log");
    }
    Ok(())
}

/// A copy of the whole database beside it, before its schema changes.
fn snapshot(connection: &Connection, data_dir: &Path, version: i64) -> StoreResult<()> {
    let folder = data_dir.join("backups");
    std::fs::create_dir_all(&folder).map_err(|e| error::io(&folder, &e))?;
    let target = (0..10_000)
        .map(|attempt| folder.join(format!("steward-schema-{version}.{attempt}.db")))
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join("steward.db"));
    let partial = target.with_extension("partial");
    if partial.exists() {
        std::fs::remove_file(&partial).map_err(|e| error::io(&partial, &e))?;
    }
    connection.execute("vacuum into ?1", [partial.to_string_lossy()]).map_err(|e| error::sqlite(&e))?;
    std::fs::set_permissions(&partial, Permissions::from_mode(0o600))
        .and_then(|()| std::fs::rename(&partial, &target))
        .and_then(|()| File::open(&folder)?.sync_all())
        .map_err(|e| error::io(&target, &e))?;
    tracing::info!(path = %target.display(), version, "database copied before its migration");
    Ok(())
}

fn prepare(connection: &mut Connection, list: &[Migration]) -> StoreResult<()> {
    let begin = |sql| connection.execute_batch(sql).map_err(|e| error::sqlite(&e));
    begin("begin immediate")?;
    let done = ready(Box::pin(async {
        let mut tx = Tx::Sqlite(&mut *connection);
        migrate::apply(&mut tx, list).await?;
        // We hold the directory's lock: whoever held these leases is gone.
        tx.execute(
            "update runs set owner = null, lease_until = null
             where status <> 'finished' and owner is not null",
            args![],
        )
        .await?;
        tx.execute("update documents set claimed_until = null where claimed_until is not null", args![]).await?;
        Ok(())
    }));
    let end = if done.is_ok() { "commit" } else { "rollback" };
    let ended = connection.execute_batch(end).map_err(|e| error::sqlite(&e));
    done?;
    ended
}
