//! Reading of large bodies: it grows with them, so no thread does it that serves connections or other requests.

use tokio::sync::Semaphore;

/// Bytes that are read at once where they are, in less than a millisecond.
const SMALL: usize = 64 << 10;
/// Bodies that are read at the same time; how many may wait is bounded by what bodies may take of the memory.
static READING: Semaphore = Semaphore::const_new(2);

/// Does work on a body of so many bytes. A panic in it goes on in the caller.
pub(crate) async fn read_apart<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= SMALL {
        return work();
    }
    let place = READING.acquire().await;
    let read = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    match read.await {
        Ok(read) => read,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The program ends, and this with it.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::{SMALL, read_apart};
    use std::thread;

    #[tokio::test]
    async fn large_bodies_are_read_by_other_threads() {
        let here = thread::current().id();
        assert_eq!(read_apart(SMALL, || thread::current().id()).await, here);
        assert_ne!(read_apart(SMALL + 1, || thread::current().id()).await, here);
    }
}
