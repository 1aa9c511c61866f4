//! A copy of the whole SQLite database while it is written to, for backups.

use crate::engine::Engine;
use crate::error;
use crate::store::Store;
use crate::tx::args;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use steward_core::TenantId;
use steward_core::ports::{BlobError, StoreError, StoreResult};

/// Pages that are copied at a time: writers get the processor in between.
const PAGES: i32 = 256;
/// After each piece the copy rests for as long as it took, but not longer.
const MAX_REST: Duration = Duration::from_millis(50);

/// Told of how many pages are copied, and of how many; `false` ends the copy.
pub type CopyProgress = Box<dyn FnMut(u64, u64) -> bool + Send>;

/// While it lives, no blob and no original is removed for good, so that what a copy of the database refers to is there.
pub struct RemovalPause {
    store: Arc<Store>,
}

impl Drop for RemovalPause {
    fn drop(&mut self) {
        self.store.pauses.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Store {
    /// Keeps the files that rows refer to until the answer is dropped. What was noted as unused goes with the next look.
    pub fn pause_removals(self: &Arc<Self>) -> RemovalPause {
        self.pauses.fetch_add(1, Ordering::SeqCst);
        RemovalPause { store: Arc::clone(self) }
    }

    /// Whether files that no row has must stay for now.
    pub fn removals_are_paused(&self) -> bool {
        self.pauses.load(Ordering::SeqCst) > 0
    }

    /// Hashes of the large bodies that events have, after one, in order.
    pub async fn blobs_of_events(&self, tenant: TenantId, after: &str, limit: u32) -> StoreResult<Vec<String>> {
        let sql = "select distinct blob from events where tenant_id = $1 and blob > $2 order by blob limit $3";
        self.all(sql, args![tenant, after, limit], |row| row.text(0)).await
    }

    /// Whether a large body is there as it was.
    pub async fn blob_is_whole(&self, tenant: TenantId, hash: &str) -> StoreResult<bool> {
        match self.blobs_of(tenant).get(hash).await {
            Ok(_) => Ok(true),
            Err(BlobError::Missing(_) | BlobError::Damaged(_)) => Ok(false),
            Err(error) => Err(error::blob(&error)),
        }
    }

    /// Writes a copy of the database as it is at one moment; what is committed meanwhile is not in it. PostgreSQL has
    /// its own programs for that.
    pub async fn copy_database(&self, target: &Path, mut progress: CopyProgress) -> StoreResult<()> {
        let Engine::Sqlite(engine) = &self.engine else {
            return Err(StoreError::Conflict("PostgreSQL is copied by pg_dump".to_owned()));
        };
        let target = target.to_owned();
        engine.on_reader(move |source| copy(source, &target, &mut progress)).await
    }
}

fn copy(source: &mut Connection, target: &Path, progress: &mut CopyProgress) -> StoreResult<()> {
    let failed = |error: rusqlite::Error| error::sqlite(&error);
    // All pieces are of the moment at which this transaction begins.
    let reading = source.transaction().map_err(failed)?;
    reading.query_row("select count(*) from steward_schema", [], |_| Ok(())).map_err(failed)?;
    let mut copied = Connection::open(target).map_err(failed)?;
    // A copy that is cut off is thrown away.
    copied
        .pragma_update_and_check(None, "journal_mode", "off", |_| Ok(()))
        .and_then(|()| copied.pragma_update(None, "synchronous", "off"))
        .map_err(failed)?;
    let backup = Backup::new(&reading, &mut copied).map_err(failed)?;
    loop {
        let begun = Instant::now();
        let step = backup.step(PAGES).map_err(failed)?;
        let at = backup.progress();
        let (total, left) = (count(at.pagecount), count(at.remaining));
        if !progress(total.saturating_sub(left), total) {
            return Err(StoreError::Conflict("the copy was stopped".to_owned()));
        }
        match step {
            StepResult::Done => break,
            StepResult::More => std::thread::sleep(begun.elapsed().min(MAX_REST)),
            _ => std::thread::sleep(MAX_REST),
        }
    }
    drop(backup);
    copied.close().map_err(|(_, error)| failed(error))?;
    drop(reading);
    Ok(())
}

fn count(pages: i32) -> u64 {
    u64::try_from(pages).unwrap_or(0)
}
