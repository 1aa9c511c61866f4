//! Work of requests that grows with its input, such as searching a text for personal data: on threads of its own, few at a
//! time, by turns of the users, so that it doesn't stop those who ask for something small.

use std::sync::LazyLock;
use std::thread::available_parallelism;
use steward_core::{TenantId, UserId};
use steward_tools::work_pool::{PoolError, PoolLimits, WorkPool};

/// Bytes of input up to which work is done where it is asked for: it takes less than two milliseconds.
pub(crate) const SMALL_INPUT: usize = 8 << 10;
/// Pieces of work of one user that are done or wait.
const OPEN_EACH: usize = 16;
/// Of all users.
const OPEN: usize = 256;

/// Of the whole program, whatever the organisation. One processor is left to those who serve connections.
static POOL: LazyLock<WorkPool<(TenantId, UserId)>> = LazyLock::new(|| {
    let places = available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
    WorkPool::new(PoolLimits { places, places_each: places, open_each: OPEN_EACH, open: OPEN })
});

/// Does the work on an input of so many bytes, when it is the turn of this user.
pub(crate) async fn work_apart<T: Send + 'static>(
    whose: (TenantId, UserId),
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PoolError> {
    if bytes <= SMALL_INPUT { Ok(work()) } else { POOL.run(whose, work).await }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{OPEN_EACH, SMALL_INPUT, work_apart};
    use crate::error::{AppError, ErrorKind};
    use futures::future::join_all;
    use std::sync::{Arc, Mutex, mpsc};
    use std::thread;
    use steward_core::{TenantId, UserId};
    use steward_tools::work_pool::PoolError;
    use uuid::Uuid;

    fn user(number: u128) -> (TenantId, UserId) {
        (TenantId::DEFAULT, UserId(Uuid::from_u128(number)))
    }

    #[tokio::test]
    async fn large_inputs_are_not_worked_on_by_threads_that_serve() {
        let here = thread::current().id();
        let on = |bytes| async move { work_apart(user(3), bytes, || thread::current().id()).await.unwrap() };
        assert_eq!(on(SMALL_INPUT).await, here);
        assert_ne!(on(SMALL_INPUT + 1).await, here);
    }

    #[tokio::test]
    async fn one_user_is_refused_before_others() {
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let work = |whose| {
            let gate = Arc::clone(&gate);
            tokio::spawn(work_apart(whose, SMALL_INPUT + 1, move || {
                let _closed = gate.lock().unwrap().recv();
            }))
        };
        let many: Vec<_> = (0..=OPEN_EACH).map(|_| work(user(1))).collect();
        tokio::task::yield_now().await;
        let other = work(user(2));
        tokio::task::yield_now().await;
        drop(open);
        let done = join_all(many).await;
        let refused = done.into_iter().filter(|done| matches!(done, Ok(Err(PoolError::Busy)))).count();
        assert_eq!((refused, other.await.unwrap()), (1, Ok(())));
        let told = AppError::from(PoolError::Busy);
        assert_eq!((told.kind, told.detail.retry_after.is_some()), (ErrorKind::Exhausted, true));
    }
}
