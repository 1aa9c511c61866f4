//! Places for work that blocks or that grows with its input, so that it neither stops threads that serve others nor fills
//! the threads that may block. Whoever has much to do waits behind those who have little.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Seconds after which somebody who was refused may try again.
pub const RETRY_AFTER_S: u64 = 2;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// So much waits already that more is refused; try again after [`RETRY_AFTER_S`].
    #[error("too much of this is at work already: the limit is reached")]
    Busy,
    /// It panicked, or the program ends.
    #[error("{0}")]
    BrokeOff(String),
}

/// How much is done and waits at once.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Pieces of work that are done at once.
    pub places: usize,
    /// Those of them that one key may have while it waits for more: as many of its pieces of work are in line before
    /// those of others.
    pub places_each: usize,
    /// Pieces of work of one key that are done or wait.
    pub open_each: usize,
    /// Of all keys.
    pub open: usize,
}

/// A clone is the same pool. `K`: whose work it is, or what it is done on.
#[derive(Debug, Clone)]
pub struct WorkPool<K>(Arc<Inner<K>>);

#[derive(Debug)]
struct Inner<K> {
    limits: PoolLimits,
    places: Arc<Semaphore>,
    lanes: Mutex<Lanes<K>>,
}

#[derive(Debug)]
struct Lanes<K> {
    open: usize,
    by_key: HashMap<K, Lane>,
}

#[derive(Debug)]
struct Lane {
    open: usize,
    places: Arc<Semaphore>,
}

/// A place of the pool.
#[derive(Debug)]
pub struct Turn<K: Hash + Eq> {
    _own: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
    _entry: Entry<K>,
}

/// A piece of work that is done or waits, until it is dropped.
#[derive(Debug)]
struct Entry<K: Hash + Eq> {
    pool: Arc<Inner<K>>,
    key: K,
    places: Arc<Semaphore>,
}

impl<K: Hash + Eq> Drop for Entry<K> {
    fn drop(&mut self) {
        let mut lanes = lock(&self.pool.lanes);
        lanes.open -= 1;
        if let Some(lane) = lanes.by_key.get_mut(&self.key) {
            lane.open -= 1;
            if lane.open == 0 {
                lanes.by_key.remove(&self.key);
            }
        }
    }
}

impl<K: Hash + Eq + Clone + Send + 'static> WorkPool<K> {
    pub fn new(limits: PoolLimits) -> Self {
        Self(Arc::new(Inner {
            limits,
            places: Arc::new(Semaphore::new(limits.places)),
            lanes: Mutex::new(Lanes { open: 0, by_key: HashMap::new() }),
        }))
    }

    /// Does the work on a thread that may block, when it is its turn; dropped before that, it is not done.
    pub async fn run<T: Send + 'static>(
        &self,
        key: K,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let turn = self.wait_for_turn(key).await?;
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        done.await.map_err(|error| PoolError::BrokeOff(error.to_string()))
    }

    /// For work that has threads of its own: waits until it may be done. Dropped, the turn is over.
    pub async fn wait_for_turn(&self, key: K) -> Result<Turn<K>, PoolError> {
        let entry = self.enter(key)?;
        // Each key has few in line for the places of all, so these are given out by turns.
        let own = Arc::clone(&entry.places).acquire_owned().await.map_err(|_| PoolError::Busy)?;
        let place = Arc::clone(&self.0.places).acquire_owned().await.map_err(|_| PoolError::Busy)?;
        Ok(Turn { _own: own, _place: place, _entry: entry })
    }

    fn enter(&self, key: K) -> Result<Entry<K>, PoolError> {
        let limits = self.0.limits;
        let mut lanes = lock(&self.0.lanes);
        if lanes.open >= limits.open {
            return Err(PoolError::Busy);
        }
        let lane = lanes
            .by_key
            .entry(key.clone())
            .or_insert_with(|| Lane { open: 0, places: Arc::new(Semaphore::new(limits.places_each)) });
        if lane.open >= limits.open_each {
            return Err(PoolError::Busy);
        }
        lane.open += 1;
        let places = Arc::clone(&lane.places);
        lanes.open += 1;
        Ok(Entry { pool: Arc::clone(&self.0), key, places })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{PoolError, PoolLimits, WorkPool};
    use std::sync::mpsc;
    use std::sync::{Arc, Mutex};

    const LIMITS: PoolLimits = PoolLimits { places: 1, places_each: 1, open_each: 3, open: 5 };

    /// Whose work was done, in this order, of those who ask in that order while the place is taken.
    async fn order_of(asked: &[&'static str]) -> (Vec<&'static str>, Vec<&'static str>) {
        let pool = WorkPool::new(LIMITS);
        let (go, wait) = mpsc::channel::<()>();
        let first = tokio::spawn({
            let pool = pool.clone();
            async move { pool.run("first", move || wait.recv().unwrap()).await }
        });
        tokio::task::yield_now().await;
        let done = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for &who in asked {
            let (pool, done) = (pool.clone(), Arc::clone(&done));
            let task = tokio::spawn(async move { pool.run(who, move || done.lock().unwrap().push(who)).await });
            tokio::task::yield_now().await;
            waiting.push((who, task));
        }
        go.send(()).unwrap();
        first.await.unwrap().unwrap();
        let mut refused = Vec::new();
        for (who, task) in waiting {
            if task.await.unwrap() == Err(PoolError::Busy) {
                refused.push(who);
            }
        }
        let done = done.lock().unwrap().clone();
        (done, refused)
    }

    fn fail() {
        panic!("done in spite of it");
    }

    #[tokio::test]
    async fn who_has_little_to_do_does_not_wait_for_all_of_another() {
        let (done, refused) = order_of(&["ann", "ann", "ann", "ben"]).await;
        assert_eq!((done, refused.len()), (vec!["ann", "ben", "ann", "ann"], 0));
    }

    #[tokio::test]
    async fn more_than_may_wait_is_refused() {
        assert_eq!(order_of(&["ann", "ann", "ann", "ann"]).await.1, ["ann"]);
        assert_eq!(order_of(&["ann", "ben", "carl", "dora", "emma"]).await.1, ["emma"]);
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_is_not_done_and_leaves_its_place() {
        let pool = WorkPool::new(LIMITS);
        let (go, wait) = mpsc::channel::<()>();
        let mut first = Box::pin(pool.run("ann", move || wait.recv()));
        assert!(futures::poll!(&mut first).is_pending());
        let mut given_up = Box::pin(pool.run("ann", fail));
        assert!(futures::poll!(&mut given_up).is_pending());
        drop(given_up);
        go.send(()).unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(pool.run("ann", || 7).await, Ok(7));
        assert_eq!(pool.0.lanes.lock().unwrap().open, 0);
    }
}
