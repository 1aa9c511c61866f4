//! Places for runs at work. Whoever finds none waits in the store, where the next one is chosen by turns.

use crate::deps::EngineConfig;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use steward_core::live::Live;

/// Runs of one user that may wait for each place, and at least.
const WAITING_PER_SLOT: u64 = 4;
const LEAST_WAITING: u64 = 64;
/// Of so many places one more is kept for users who have nothing at work while others have all of them.
const SLOTS_PER_SPARE: usize = 8;

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<AtomicUsize>);

impl Slot {
    /// One more of `taken`, if there are fewer than `most`.
    fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let one_more = |count: usize| (count < most).then_some(count + 1);
        taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).ok()?;
        Some(Self(Arc::clone(taken)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How many there are is read anew each time. Runs at work beyond a lower number go on.
pub(crate) struct Slots {
    config: Live<EngineConfig>,
    taken: Arc<AtomicUsize>,
    spare_taken: Arc<AtomicUsize>,
    /// Runs may be waiting: what is free is theirs, and new ones wait with them.
    waited_for: AtomicBool,
}

impl Slots {
    pub fn new(config: Live<EngineConfig>) -> Self {
        Self { config, taken: Arc::default(), spare_taken: Arc::default(), waited_for: AtomicBool::new(false) }
    }

    fn max_runs(&self) -> usize {
        self.config.get().max_runs.max(1)
    }

    /// For a run that nobody waits before.
    pub fn take(&self) -> Option<Slot> {
        if self.waited_for.load(Ordering::SeqCst) { None } else { self.take_for_waiting() }
    }

    /// For a run whose turn it is.
    pub fn take_for_waiting(&self) -> Option<Slot> {
        let slot = Slot::take(&self.taken, self.max_runs());
        if slot.is_none() {
            self.waited_for.store(true, Ordering::SeqCst);
        }
        slot
    }

    /// For the first run of a user who has none at work, so that nobody waits for the long runs of others.
    pub fn take_spare(&self) -> Option<Slot> {
        Slot::take(&self.spare_taken, self.max_runs() / SLOTS_PER_SPARE)
    }

    /// Whether runs may be waiting.
    pub fn are_waited_for(&self) -> bool {
        self.waited_for.load(Ordering::SeqCst)
    }

    pub fn nobody_waits(&self) {
        self.waited_for.store(false, Ordering::SeqCst);
    }

    /// How many runs of one user may wait.
    pub fn max_waiting(&self) -> u64 {
        (WAITING_PER_SLOT * self.max_runs() as u64).max(LEAST_WAITING)
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;
    use crate::deps::EngineConfig;
    use steward_core::live::Live;

    fn slots(max_runs: usize) -> (Slots, Live<EngineConfig>) {
        let config = Live::new(EngineConfig { max_runs, ..EngineConfig::default() });
        (Slots::new(config.clone()), config)
    }

    #[test]
    fn who_waits_comes_before_who_is_new() {
        let (slots, _) = slots(1);
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
        assert!(slots(7).0.take_spare().is_none());
        let (slots, _) = slots(16);
        let taken: Vec<Option<_>> = (0..3).map(|_| slots.take_spare()).collect();
        assert_eq!(taken.iter().flatten().count(), 2);
        assert!(slots.take().is_some() && !slots.are_waited_for());
        assert_eq!(slots.max_waiting(), 64);
    }

    #[test]
    fn their_number_changes_while_some_are_taken() {
        let (slots, config) = slots(1);
        let first = slots.take();
        assert!(slots.take_for_waiting().is_none());
        config.replace(EngineConfig { max_runs: 2, ..EngineConfig::default() });
        let second = slots.take_for_waiting();
        assert!(first.is_some() && second.is_some() && slots.take_for_waiting().is_none());
        config.replace(EngineConfig { max_runs: 1, ..EngineConfig::default() });
        drop(first);
        assert!(slots.take_for_waiting().is_none(), "one is still at work");
        drop(second);
        assert!(slots.take_for_waiting().is_some());
        config.replace(EngineConfig { max_runs: 256, ..EngineConfig::default() });
        assert_eq!(slots.max_waiting(), 1024);
    }
}
