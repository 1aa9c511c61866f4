//! Places for runs at work. Whoever finds none waits in the store, where the next one is chosen by turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Runs of one user that may wait for each place, and at least.
const WAITING_PER_SLOT: u64 = 4;
const LEAST_WAITING: u64 = 64;
/// Of so many places one more is kept for users who have nothing at work while others have all of them.
const SLOTS_PER_SPARE: usize = 8;

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot(#[expect(dead_code, reason = "held, and dropped")] OwnedSemaphorePermit);

pub(crate) struct Slots {
    free: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    max_waiting: u64,
    /// Runs may be waiting: what is free is theirs, and new ones wait with them.
    waited_for: AtomicBool,
}

impl Slots {
    pub fn new(max_runs: usize) -> Self {
        let max_runs = max_runs.max(1);
        Self {
            free: Arc::new(Semaphore::new(max_runs)),
            spare: Arc::new(Semaphore::new(max_runs / SLOTS_PER_SPARE)),
            max_waiting: (WAITING_PER_SLOT * max_runs as u64).max(LEAST_WAITING),
            waited_for: AtomicBool::new(false),
        }
    }

    /// For a run that nobody waits before.
    pub fn take(&self) -> Option<Slot> {
        if self.waited_for.load(Ordering::SeqCst) { None } else { self.take_for_waiting() }
    }

    /// For a run whose turn it is.
    pub fn take_for_waiting(&self) -> Option<Slot> {
        let slot = Arc::clone(&self.free).try_acquire_owned().ok().map(Slot);
        if slot.is_none() {
            self.waited_for.store(true, Ordering::SeqCst);
        }
        slot
    }

    /// For the first run of a user who has none at work, so that nobody waits for the long runs of others.
    pub fn take_spare(&self) -> Option<Slot> {
        Arc::clone(&self.spare).try_acquire_owned().ok().map(Slot)
    }

    /// Whether runs may be waiting.
    pub fn are_waited_for(&self) -> bool {
        self.waited_for.load(Ordering::SeqCst)
    }

    pub fn nobody_waits(&self) {
        self.waited_for.store(false, Ordering::SeqCst);
    }

    /// How many runs of one user may wait.
    pub const fn max_waiting(&self) -> u64 {
        self.max_waiting
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn who_waits_comes_before_who_is_new() {
        let slots = Slots::new(1);
        let first = slots.take();
        assert!(first.is_some() && slots.take().is_none());
        drop(first);
        assert!(slots.take().is_none(), "somebody waits for it");
        let next = slots.take_for_waiting();
        assert!(next.is_some());
        slots.nobody_waits();
        drop(next);
        assert!(slots.take().is_some());
    }

    #[test]
    fn spare_places_are_beside_the_others() {
        assert!(Slots::new(7).take_spare().is_none());
        let slots = Slots::new(16);
        let taken: Vec<Option<_>> = (0..3).map(|_| slots.take_spare()).collect();
        assert_eq!(taken.iter().flatten().count(), 2);
        assert!(slots.take().is_some() && !slots.are_waited_for());
        assert_eq!((slots.max_waiting(), Slots::new(256).max_waiting()), (64, 1024));
    }
}
