use crate::run::RunSignals;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::ports::Lease;
use steward_core::{RunId, Timestamp};

struct ActiveRun {
    signals: RunSignals,
    lease: Lease,
    /// When the lease ends, if it is not renewed; never later than the store has it.
    until: Timestamp,
}

/// Holds a run among those at work until it is dropped, be it by a panic. Work that did not come to its end
/// (its lease was lost) is cancelled: what blocks goes on without its future, and another node may do it again.
pub(crate) struct ActiveRunGuard<'h> {
    runs: &'h ActiveRuns,
    lease: Lease,
    signals: RunSignals,
    /// The work came to its end.
    pub ended: bool,
}

impl Drop for ActiveRunGuard<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.signals.interrupt();
        }
        self.runs.remove(&self.lease);
    }
}

/// Runs at work here, with their leases.
#[derive(Default)]
pub(crate) struct ActiveRuns(Mutex<HashMap<RunId, ActiveRun>>);

impl ActiveRuns {
    pub fn count(&self) -> usize {
        lock(&self.0).len()
    }

    pub fn signals(&self, run: RunId) -> Option<RunSignals> {
        lock(&self.0).get(&run).map(|run| run.signals.clone())
    }

    pub fn add(&self, lease: Lease, signals: RunSignals, until: Timestamp) {
        lock(&self.0).insert(lease.run, ActiveRun { signals, lease, until });
    }

    pub fn guard(&self, lease: &Lease, signals: &RunSignals) -> ActiveRunGuard<'_> {
        ActiveRunGuard { runs: self, lease: lease.clone(), signals: signals.clone(), ended: false }
    }

    pub fn renewed(&self, lease: &Lease, until: Timestamp) {
        if let Some(run) = lock(&self.0).get_mut(&lease.run)
            && run.lease.epoch == lease.epoch
        {
            run.until = until;
        }
    }

    /// Forgets a run, unless it was claimed anew meanwhile.
    fn remove(&self, lease: &Lease) {
        let mut active = lock(&self.0);
        if active.get(&lease.run).is_some_and(|run| run.lease.epoch == lease.epoch) {
            active.remove(&lease.run);
        }
    }

    /// Leases that end within `ahead` of `now`, or have ended.
    pub fn late(&self, now: Timestamp, ahead: Duration) -> Vec<Lease> {
        let soon = now.plus(ahead);
        let active = lock(&self.0);
        let late = active.values().filter(|run| run.until <= soon);
        late.map(|run| run.lease.clone()).collect()
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
    fn late_leases_are_listed_and_old_holders_remove_nothing() {
        let active = ActiveRuns::default();
        active.add(lease(1, 1), RunSignals::default(), Timestamp(1_000));
        active.add(lease(2, 1), RunSignals::default(), Timestamp(9_000));
        let late = |now| {
            let late = active.late(Timestamp(now), Duration::from_millis(500));
            let mut runs: Vec<_> = late.iter().map(|lease| lease.run.0.as_u128()).collect();
            runs.sort_unstable();
            runs
        };
        assert_eq!(late(400), [] as [u128; 0]);
        assert_eq!(late(600), [1]);
        assert_eq!(late(20_000), [1, 2]);
        active.renewed(&lease(1, 1), Timestamp(30_000));
        assert_eq!(late(20_000), [2]);
        active.add(lease(2, 2), RunSignals::default(), Timestamp(40_000));
        active.remove(&lease(2, 1));
        active.renewed(&lease(2, 1), Timestamp(1));
        assert_eq!((active.count(), late(20_000).len()), (2, 0));
        active.remove(&lease(2, 2));
        assert_eq!(active.count(), 1);
    }
}
