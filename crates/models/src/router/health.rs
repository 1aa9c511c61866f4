//! Circuit and health of every connection, and the permit that an attempt needs.

use super::circuit::{Circuit, Pass, RouterOptions};
use super::errors;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use steward_core::model::{Connection, ModelError};
use steward_core::ports::{Clock, ConnectionHealth};
use steward_core::{ConnectionId, Timestamp};

pub(crate) struct HealthTracker {
    clock: Arc<dyn Clock>,
    pub(crate) options: RouterOptions,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: BTreeMap<ConnectionId, Entry>,
    /// Numbers the entries, so that a permit of a forgotten entry does not count for its successor.
    made: u64,
}

impl Entries {
    fn entry(&mut self, id: ConnectionId) -> &mut Entry {
        let made = &mut self.made;
        self.by_id.entry(id).or_insert_with(|| {
            *made += 1;
            Entry { number: *made, ..Entry::default() }
        })
    }
}

#[derive(Debug, Default)]
struct Entry {
    number: u64,
    circuit: Circuit,
    health: Health,
}

impl HealthTracker {
    pub fn new(clock: Arc<dyn Clock>, options: RouterOptions) -> Self {
        Self { clock, options, entries: Mutex::default() }
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` while the circuit is open.
    pub(crate) fn admit(self: &Arc<Self>, id: ConnectionId) -> Option<Permit> {
        let now = self.clock.now();
        let mut entries = self.entries();
        let entry = entries.entry(id);
        let pass = entry.circuit.admit(now)?;
        entry.health.counted.requests += 1;
        Some(self.permit(id, entry.number, pass))
    }

    /// For when there is nobody else to ask.
    pub(crate) fn force(self: &Arc<Self>, id: ConnectionId) -> Permit {
        let now = self.clock.now();
        let mut entries = self.entries();
        let entry = entries.entry(id);
        entry.health.counted.requests += 1;
        let pass = entry.circuit.force(now);
        self.permit(id, entry.number, pass)
    }

    fn permit(self: &Arc<Self>, id: ConnectionId, entry: u64, pass: Pass) -> Permit {
        Permit { health: Arc::clone(self), id, entry, pass, wait_for_content: Instant::now(), stage: Stage::Asked }
    }

    /// When [`Self::admit`] will succeed.
    pub(crate) fn ready_at(&self, id: ConnectionId) -> Timestamp {
        let now = self.clock.now();
        self.entries().by_id.get(&id).map_or(now, |entry| entry.circuit.ready_at(now))
    }

    /// Recent median time to first content, milliseconds.
    pub(crate) fn recent_ms(&self, id: ConnectionId) -> Option<u64> {
        let now = self.clock.now();
        self.entries().by_id.get(&id)?.health.recent_ms(now)
    }

    /// Another connection answered sooner; this one would have taken at least `ms`.
    pub(crate) fn overtaken(&self, id: ConnectionId, ms: u64) {
        let now = self.clock.now();
        if let Some(entry) = self.entries().by_id.get_mut(&id) {
            entry.health.measured(ms, now);
        }
    }

    pub(crate) fn health(&self, id: ConnectionId) -> ConnectionHealth {
        let now = self.clock.now();
        let entries = self.entries();
        let Some(entry) = entries.by_id.get(&id) else {
            return Health::default().report(id);
        };
        let (breaker, retry_in_ms) = entry.circuit.state(now);
        ConnectionHealth { breaker, retry_in_ms, ..entry.health.report(id) }
    }

    pub(crate) fn forget(&self, id: ConnectionId) {
        self.entries().by_id.remove(&id);
    }

    /// Forgets connections that are gone or whose settings have changed.
    pub(crate) fn replaced(&self, before: &[Connection], after: &[Connection]) {
        self.entries().by_id.retain(|id, _| {
            let find = |list: &[Connection]| list.iter().find(|one| one.id == *id).map(call_settings);
            find(after).is_some_and(|now| find(before) == Some(now))
        });
    }
}

fn call_settings(connection: &Connection) -> impl PartialEq + use<> {
    let one = connection.clone();
    (one.provider, one.base_url, one.model, one.auth, one.wire)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Asked,
    Answered,
    Over,
}

/// The right to ask one connection once, and the duty to report the outcome; if dropped, nothing is recorded.
pub(crate) struct Permit {
    health: Arc<HealthTracker>,
    id: ConnectionId,
    entry: u64,
    pass: Pass,
    wait_for_content: Instant,
    stage: Stage,
}

impl Permit {
    /// Milliseconds since the start.
    pub fn ms(&self) -> u64 {
        u64::try_from(self.wait_for_content.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub fn answered(&mut self) {
        if self.stage == Stage::Asked {
            self.stage = Stage::Answered;
            let ms = self.ms();
            self.with(|entry, now, pass, _| {
                entry.circuit.answered(pass);
                entry.health.answered(ms, now);
            });
            // The rest of the answer counts like any other.
            self.pass = Pass::Free;
        }
    }

    pub fn completed(mut self) {
        self.answered();
        self.stage = Stage::Over;
        self.with(|entry, _, _, _| entry.circuit.completed());
    }

    /// Before or after the first content.
    pub fn failed(mut self, error: &ModelError) {
        let fault = errors::fault(error);
        self.stage = Stage::Over;
        self.with(|entry, now, pass, options| {
            entry.circuit.failed(pass, fault, now, options);
            entry.health.failed(error, now);
        });
    }

    /// There was too little time left to answer, which is not the connection's fault.
    pub(crate) fn ran_out_of_time(mut self, error: &ModelError) {
        self.stage = Stage::Over;
        self.with(|entry, now, pass, _| {
            entry.circuit.release(pass);
            entry.health.failed(error, now);
        });
    }

    fn with(&self, change: impl FnOnce(&mut Entry, Timestamp, Pass, &RouterOptions)) {
        let now = self.health.clock.now();
        let mut entries = self.health.entries();
        // A connection that was removed meanwhile stays forgotten.
        let entry = entries.by_id.get_mut(&self.id);
        if let Some(entry) = entry.filter(|entry| entry.number == self.entry) {
            change(entry, now, self.pass, &self.health.options);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.stage == Stage::Asked {
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

    pub fn report(&self, connection: ConnectionId) -> ConnectionHealth {
        ConnectionHealth { connection, first_ms: self.median_ms(), ..self.counted.clone() }
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
