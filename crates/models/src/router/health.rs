//! Circuit and health of every connection, and the permit that an attempt needs.

use super::circuit::{Circuit, Pass, RouterOptions};
use super::errors;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::model::{Connection, ModelError};
use steward_core::ports::{Clock, ConnectionHealth};
use steward_core::{ConnectionId, Timestamp};

pub(crate) struct HealthTracker {
    clock: Arc<dyn Clock>,
    pub(crate) options: RouterOptions,
    /// A permit holds its entry, so that the permit of a forgotten one does not count for its successor.
    entries: Mutex<BTreeMap<ConnectionId, Arc<Mutex<Health>>>>,
}

impl HealthTracker {
    pub fn new(clock: Arc<dyn Clock>, options: RouterOptions) -> Self {
        Self { clock, options, entries: Mutex::default() }
    }

    fn entry(&self, id: ConnectionId) -> Arc<Mutex<Health>> {
        Arc::clone(lock(&self.entries).entry(id).or_default())
    }

    fn known(&self, id: ConnectionId) -> Option<Arc<Mutex<Health>>> {
        lock(&self.entries).get(&id).cloned()
    }

    /// `None` while the circuit is open.
    pub(crate) fn admit(self: &Arc<Self>, id: ConnectionId) -> Option<Permit> {
        let entry = self.entry(id);
        let pass = lock(&entry).circuit.admit(self.clock.now())?;
        Some(self.permit(entry, pass))
    }

    /// For when there is nobody else to ask.
    pub(crate) fn force(self: &Arc<Self>, id: ConnectionId) -> Permit {
        let entry = self.entry(id);
        let pass = lock(&entry).circuit.force(self.clock.now());
        self.permit(entry, pass)
    }

    fn permit(self: &Arc<Self>, entry: Arc<Mutex<Health>>, pass: Pass) -> Permit {
        lock(&entry).counted.requests += 1;
        Permit { health: Arc::clone(self), entry, pass, wait_for_content: Instant::now(), told: false }
    }

    /// When [`Self::admit`] will succeed.
    pub(crate) fn ready_at(&self, id: ConnectionId) -> Timestamp {
        let now = self.clock.now();
        self.known(id).map_or(now, |entry| lock(&entry).circuit.ready_at(now))
    }

    /// Recent median time to first content, milliseconds.
    pub(crate) fn recent_ms(&self, id: ConnectionId) -> Option<u64> {
        lock(&*self.known(id)?).recent_ms(self.clock.now())
    }

    /// Another connection answered sooner; this one would have taken at least `ms`.
    pub(crate) fn overtaken(&self, id: ConnectionId, ms: u64) {
        if let Some(entry) = self.known(id) {
            lock(&entry).measured(ms, self.clock.now());
        }
    }

    pub(crate) fn health(&self, id: ConnectionId) -> ConnectionHealth {
        let entry = self.known(id).unwrap_or_default();
        lock(&entry).report(id, self.clock.now())
    }

    pub(crate) fn forget(&self, id: ConnectionId) {
        lock(&self.entries).remove(&id);
    }

    /// Forgets connections that are gone or whose settings have changed.
    pub(crate) fn replaced(&self, before: &[Connection], after: &[Connection]) {
        lock(&self.entries).retain(|id, _| {
            let find = |list: &[Connection]| list.iter().find(|one| one.id == *id).map(call_settings);
            find(after).is_some_and(|now| find(before) == Some(now))
        });
    }
}

fn call_settings(connection: &Connection) -> impl PartialEq + use<> {
    let one = connection.clone();
    (one.provider, one.base_url, one.model, one.auth, one.wire)
}

/// The right to ask one connection once, and the duty to report the outcome; if dropped, nothing is recorded.
pub(crate) struct Permit {
    health: Arc<HealthTracker>,
    entry: Arc<Mutex<Health>>,
    pass: Pass,
    wait_for_content: Instant,
    /// Whether an outcome was reported.
    told: bool,
}

impl Permit {
    /// Milliseconds since the start.
    pub fn ms(&self) -> u64 {
        u64::try_from(self.wait_for_content.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub fn answered(&mut self) {
        if !self.told {
            self.told = true;
            let ms = self.ms();
            self.with(|entry, now, pass, _| {
                entry.circuit.answered(pass);
                entry.answered(ms, now);
            });
            // The rest of the answer counts like any other.
            self.pass = Pass::Free;
        }
    }

    pub fn completed(mut self) {
        self.answered();
        self.with(|entry, _, _, _| entry.circuit.completed());
    }

    /// Before or after the first content.
    pub fn failed(mut self, error: &ModelError) {
        let fault = errors::fault(error);
        self.told = true;
        self.with(|entry, now, pass, options| {
            entry.circuit.failed(pass, fault, now, options);
            entry.failed(error, now);
        });
    }

    /// There was too little time left to answer, which is not the connection's fault.
    pub(crate) fn ran_out_of_time(mut self, error: &ModelError) {
        self.told = true;
        self.with(|entry, now, pass, _| {
            entry.circuit.release(pass);
            entry.failed(error, now);
        });
    }

    fn with(&self, change: impl FnOnce(&mut Health, Timestamp, Pass, &RouterOptions)) {
        let HealthTracker { clock, options, .. } = &*self.health;
        change(&mut lock(&self.entry), clock.now(), self.pass, options);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.told {
            self.with(|entry, _, pass, _| entry.circuit.release(pass));
        }
    }
}

/// Times to first content that are remembered.
const WINDOW: usize = 32;
const STALE: Duration = Duration::from_mins(5);

/// Since the program started.
#[derive(Debug, Default)]
pub(crate) struct Health {
    circuit: Circuit,
    counted: ConnectionHealth,
    first_ms: VecDeque<u64>,
    measured_at: Option<Timestamp>,
}

impl Health {
    pub fn answered(&mut self, ms: u64, now: Timestamp) {
        self.measured(ms, now);
        self.counted.last_ok_at = Some(now);
    }

    /// At least `ms`.
    pub fn measured(&mut self, ms: u64, now: Timestamp) {
        if self.first_ms.len() == WINDOW {
            self.first_ms.pop_front();
        }
        self.first_ms.push_back(ms);
        self.measured_at = Some(now);
    }

    pub fn failed(&mut self, error: &ModelError, now: Timestamp) {
        self.counted.failures += 1;
        self.counted.last_error = Some(error.clone());
        self.counted.last_failed_at = Some(now);
    }

    /// Time to first content, milliseconds.
    pub fn median_ms(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.first_ms.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len().checked_sub(1)? / 2).copied()
    }

    /// `None` if the last time is too old.
    pub fn recent_ms(&self, now: Timestamp) -> Option<u64> {
        let measured = self.measured_at?;
        (now.since(measured) <= STALE).then(|| self.median_ms()).flatten()
    }

    pub fn report(&self, connection: ConnectionId, now: Timestamp) -> ConnectionHealth {
        let (breaker, retry_in_ms) = self.circuit.state(now);
        let first_ms = self.median_ms();
        ConnectionHealth { connection, breaker, retry_in_ms, first_ms, ..self.counted.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, STALE, WINDOW};
    use steward_core::Timestamp;

    #[test]
    fn the_median_is_of_the_last_ones() {
        let mut health = Health::default();
        assert_eq!(health.median_ms(), None);
        for ms in [900, 10, 20] {
            health.answered(ms, Timestamp(0));
        }
        assert_eq!(health.median_ms(), Some(20));
        for _ in 0..WINDOW {
            health.answered(7, Timestamp(5));
        }
        assert_eq!(health.median_ms(), Some(7));
        assert_eq!(health.recent_ms(Timestamp(5).plus(STALE)), Some(7));
        assert_eq!(health.recent_ms(Timestamp(6).plus(STALE)), None);
    }
}
