//! The runs that this node holds.

use crate::runner::Handle;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use steward_core::ports::Lease;
use steward_core::{RunId, Timestamp};

struct Held {
    handle: Handle,
    lease: Lease,
    /// When the lease ends, if it is not renewed; never later than the store has it.
    until: Timestamp,
}

/// Holds a run among those at work until it is dropped, be it by a panic. Work that did not come to its end is
/// told to stop: what blocks goes on without its future, and another node may do it again.
pub(crate) struct Hold<'h> {
    runs: &'h HeldRuns,
    lease: Lease,
    handle: Handle,
    /// The work came to its end.
    pub ended: bool,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.handle.interrupt();
        }
        self.runs.remove(&self.lease);
    }
}

/// Runs at work here, with their leases.
#[derive(Default)]
pub(crate) struct HeldRuns(Mutex<HashMap<RunId, Held>>);

impl HeldRuns {
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    pub fn handle(&self, run: RunId) -> Option<Handle> {
        self.lock().get(&run).map(|held| held.handle.clone())
    }

    pub fn add(&self, lease: Lease, handle: Handle, until: Timestamp) {
        let held = Held { handle, lease, until };
        self.lock().insert(held.lease.run, held);
    }

    /// For a run that was added.
    pub fn guard(&self, lease: &Lease, handle: &Handle) -> Hold<'_> {
        Hold { runs: self, lease: lease.clone(), handle: handle.clone(), ended: false }
    }

    /// A lease was renewed.
    pub fn renewed(&self, lease: &Lease, until: Timestamp) {
        if let Some(held) = self.lock().get_mut(&lease.run)
            && held.lease.epoch == lease.epoch
        {
            held.until = until;
        }
    }

    /// Forgets a run, unless it was taken anew meanwhile.
    fn remove(&self, lease: &Lease) {
        let mut held = self.lock();
        if held.get(&lease.run).is_some_and(|held| held.lease.epoch == lease.epoch) {
            held.remove(&lease.run);
        }
    }

    /// Leases that end within `ahead` of `now`, or have ended.
    pub fn late(&self, now: Timestamp, ahead: Duration) -> Vec<Lease> {
        let soon = now.plus(ahead);
        let held = self.lock();
        let late = held.values().filter(|held| held.until <= soon);
        late.map(|held| held.lease.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steward_core::TenantId;
    use uuid::Uuid;

    fn lease(run: u128, epoch: u64) -> Lease {
        Lease { tenant: TenantId::DEFAULT, run: RunId(Uuid::from_u128(run)), epoch, last_seq: 1 }
    }

    #[test]
    fn late_leases_are_told_and_old_holders_take_nothing_away() {
        let held = HeldRuns::default();
        held.add(lease(1, 1), Handle::new(), Timestamp(1_000));
        held.add(lease(2, 1), Handle::new(), Timestamp(9_000));
        let late = |now| {
            let late = held.late(Timestamp(now), Duration::from_millis(500));
            let mut runs: Vec<_> = late.iter().map(|lease| lease.run.0.as_u128()).collect();
            runs.sort_unstable();
            runs
        };
        assert_eq!(late(400), [] as [u128; 0]);
        assert_eq!(late(600), [1]);
        assert_eq!(late(20_000), [1, 2]);
        held.renewed(&lease(1, 1), Timestamp(30_000));
        assert_eq!(late(20_000), [2]);
        held.add(lease(2, 2), Handle::new(), Timestamp(40_000));
        held.remove(&lease(2, 1));
        held.renewed(&lease(2, 1), Timestamp(1));
        assert_eq!((held.count(), late(20_000).len()), (2, 0));
        held.remove(&lease(2, 2));
        assert_eq!(held.count(), 1);
    }
}
