//! Breaker and health of every connection, and the permit that an attempt needs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use steward_core::model::{Connection, ModelError};
use steward_core::ports::{Clock, ConnectionHealth};
use steward_core::{ConnectionId, Timestamp};

use super::circuit::{Circuit, Pass};
use super::health::Health;
use super::options::RouterOptions;
use super::policy;

/// What is known of how connections fare; shared by everything that calls them.
pub(crate) struct Board {
    clock: Arc<dyn Clock>,
    pub(super) options: RouterOptions,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: BTreeMap<ConnectionId, Entry>,
    /// How many were made, so that a permit of a forgotten one is told from one of its successor.
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

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Board {
    pub fn new(clock: Arc<dyn Clock>, options: RouterOptions) -> Self {
        Self { clock, options, entries: Mutex::default() }
    }

    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit to ask, unless the circuit is open.
    pub(super) fn admit(self: &Arc<Self>, id: ConnectionId) -> Option<Permit> {
        let now = self.clock.now();
        let mut entries = self.entries();
        let entry = entries.entry(id);
        let pass = entry.circuit.admit(now)?;
        entry.health.requests += 1;
        Some(self.permit(id, entry.number, pass))
    }

    /// A permit to ask in any case, since there is nobody else.
    pub(super) fn force(self: &Arc<Self>, id: ConnectionId) -> Permit {
        let now = self.clock.now();
        let mut entries = self.entries();
        let entry = entries.entry(id);
        entry.health.requests += 1;
        let pass = entry.circuit.force(now);
        self.permit(id, entry.number, pass)
    }

    fn permit(self: &Arc<Self>, id: ConnectionId, entry: u64, pass: Pass) -> Permit {
        Permit { board: Arc::clone(self), id, entry, pass, begun: Instant::now(), stage: Stage::Asked }
    }

    /// When a connection comes through by itself.
    pub(super) fn ready_at(&self, id: ConnectionId) -> Timestamp {
        let now = self.clock.now();
        self.entries().by_id.get(&id).map_or(now, |entry| entry.circuit.ready_at(now))
    }

    /// Recent median time to first content, milliseconds.
    pub(super) fn recent_ms(&self, id: ConnectionId) -> Option<u64> {
        let now = self.clock.now();
        self.entries().by_id.get(&id)?.health.recent_ms(now)
    }

    /// Another connection answered sooner; this one would have taken at least `ms`.
    pub(super) fn overtaken(&self, id: ConnectionId, ms: u64) {
        let now = self.clock.now();
        if let Some(entry) = self.entries().by_id.get_mut(&id) {
            entry.health.measured(ms, now);
        }
    }

    /// Of one connection.
    pub(super) fn health(&self, id: ConnectionId) -> ConnectionHealth {
        let now = self.clock.now();
        let entries = self.entries();
        let Some(entry) = entries.by_id.get(&id) else {
            return Health::default().report(id);
        };
        let (breaker, retry_in_ms) = entry.circuit.state(now);
        ConnectionHealth { breaker, retry_in_ms, ..entry.health.report(id) }
    }

    /// Forgets one connection.
    pub(super) fn forget(&self, id: ConnectionId) {
        self.entries().by_id.remove(&id);
    }

    /// Forgets connections that are gone or are called in another way now.
    pub(super) fn replaced(&self, before: &[Connection], after: &[Connection]) {
        self.entries().by_id.retain(|id, _| {
            let find = |list: &[Connection]| list.iter().find(|one| one.id == *id).map(called_by);
            find(after).is_some_and(|now| find(before) == Some(now))
        });
    }
}

/// What decides how a connection is called.
fn called_by(connection: &Connection) -> impl PartialEq + use<> {
    let one = connection.clone();
    (one.provider, one.base_url, one.model, one.auth, one.wire)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Asked,
    Answered,
    Over,
}

/// The right to ask one connection once, and the duty to say what came of it. Dropped without a
/// word, as when the caller goes away, it says nothing about the connection.
#[derive(Debug)]
pub(crate) struct Permit {
    board: Arc<Board>,
    id: ConnectionId,
    entry: u64,
    pass: Pass,
    begun: Instant,
    stage: Stage,
}

impl Permit {
    /// Milliseconds since it was given.
    pub fn ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// First content has come.
    pub fn answered(&mut self) {
        if self.stage == Stage::Asked {
            self.stage = Stage::Answered;
            let ms = self.ms();
            self.with(|entry, now, pass, _| {
                entry.circuit.answered(pass);
                entry.health.answered(ms, now);
            });
            // What comes of the rest is that of an ordinary attempt.
            self.pass = Pass::Free;
        }
    }

    /// The answer is complete.
    pub fn completed(mut self) {
        self.answered();
        self.stage = Stage::Over;
        self.with(|entry, _, _, _| entry.circuit.completed());
    }

    /// It failed, before or after first content.
    pub fn failed(mut self, error: &ModelError) {
        let fault = policy::fault(error);
        self.stage = Stage::Over;
        self.with(|entry, now, pass, options| {
            entry.circuit.failed(pass, fault, now, options);
            entry.health.failed(error, now);
        });
    }

    /// It had too little time left to answer, which is no fault of the connection.
    pub(super) fn hurried(mut self, error: &ModelError) {
        self.stage = Stage::Over;
        self.with(|entry, now, pass, _| {
            entry.circuit.release(pass);
            entry.health.failed(error, now);
        });
    }

    fn with(&self, change: impl FnOnce(&mut Entry, Timestamp, Pass, &RouterOptions)) {
        let now = self.board.clock.now();
        let mut entries = self.board.entries();
        // A connection that was removed meanwhile stays forgotten.
        let entry = entries.by_id.get_mut(&self.id);
        if let Some(entry) = entry.filter(|entry| entry.number == self.entry) {
            change(entry, now, self.pass, &self.board.options);
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
