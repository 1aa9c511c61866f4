//! Work on the files of databases: few at once, and of one file fewer. A statement may take seconds, and one that writes
//! keeps the others waiting; they wait without a thread.

use crate::work_pool::{PoolError, PoolLimits, WorkPool};
use std::path::PathBuf;
use std::sync::LazyLock;
use steward_sandbox::sql::SqlError;

/// Databases that users brought, by their path or id. They may be read at once.
static FILES: LazyLock<WorkPool<PathBuf>> =
    LazyLock::new(|| WorkPool::new(PoolLimits { places: 16, places_each: 4, open_each: 64, open: 512 }));
/// Databases that agents keep, by their path: one statement at a time.
static OWN: LazyLock<WorkPool<PathBuf>> =
    LazyLock::new(|| WorkPool::new(PoolLimits { places: 16, places_each: 1, open_each: 32, open: 512 }));

/// Does what blocks on a file of a user's; [`SqlError::TooMany`] if too much waits for it.
pub(crate) async fn work_on_file<T: Send + 'static, E: From<SqlError> + Send + 'static>(
    file: impl Into<PathBuf>,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    run(&FILES, file.into(), work).await
}

/// Does what blocks on an agent's own database; [`SqlError::TooMany`] if too much waits for it.
pub(crate) async fn work_on_own_database<T: Send + 'static, E: From<SqlError> + Send + 'static>(
    file: impl Into<PathBuf>,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    run(&OWN, file.into(), work).await
}

async fn run<T: Send + 'static, E: From<SqlError> + Send + 'static>(
    pool: &WorkPool<PathBuf>,
    file: PathBuf,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    match pool.run(file, work).await {
        Ok(done) => done,
        Err(PoolError::Busy) => Err(SqlError::TooMany.into()),
        Err(PoolError::BrokeOff(why)) => Err(broke_off(&why).into()),
    }
}

pub(crate) fn broke_off(why: &str) -> SqlError {
    SqlError::Refused(format!("the statement broke off: {why}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{work_on_file, work_on_own_database};
    use futures::future::join_all;
    use std::sync::{Arc, Condvar, Mutex};
    use steward_sandbox::sql::SqlError;

    /// Each statement on a database once kept a thread while it waited for the one before.
    #[tokio::test]
    async fn what_waits_for_one_database_keeps_no_other_waiting() {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let waiting = (0..40).map(|_| {
            let gate = Arc::clone(&gate);
            tokio::spawn(work_on_own_database("/one", move || {
                let open = gate.0.lock().unwrap();
                drop(gate.1.wait_while(open, |open| !*open).unwrap());
                Ok::<(), SqlError>(())
            }))
        });
        let waiting: Vec<_> = waiting.collect();
        tokio::task::yield_now().await;
        // All places are free but one.
        let others = (0..15).map(|number| work_on_own_database(format!("/other-{number}"), || Ok::<u8, SqlError>(7)));
        assert!(join_all(others).await.into_iter().all(|done| done.unwrap() == 7));
        *gate.0.lock().unwrap() = true;
        gate.1.notify_all();
        let done: Vec<_> = join_all(waiting).await.into_iter().map(Result::unwrap).collect();
        let refused = done.iter().filter(|done| matches!(done, Err(SqlError::TooMany))).count();
        assert_eq!((done.len(), refused), (40, 8));
    }

    #[tokio::test]
    async fn a_panic_is_an_error_of_the_statement() {
        let failed = work_on_file("/one", || -> Result<(), SqlError> { panic!("no") }).await.unwrap_err();
        assert!(failed.to_string().contains("broke off"), "{failed}");
    }
}
