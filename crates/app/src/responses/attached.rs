//! Which runs have a client that waits for them here, whose client has left before it was answered, and which requests are
//! about to begin a run.

use super::{JOINED_WITHIN, before};
use crate::app::App;
use crate::caller::Caller;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::{RunId, Timestamp};
use tokio::runtime::Handle;

/// How long a client that has left may come back before its run stops: programs that try again do so after half a second.
const COMES_BACK_WITHIN: Duration = Duration::from_millis(700);
/// How often it is looked whether a request has begun its run.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How many clients wait for a run, by its id.
static ATTACHED: Mutex<BTreeMap<RunId, usize>> = Mutex::new(BTreeMap::new());
/// How many requests of the same key and content are beginning their run.
static STARTING: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
/// Those of them whose client has left meanwhile.
static LEFT_AT_START: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
/// Clients that have left before they were answered, oldest first: one for each of them, until the same request comes again.
static LEFT: Mutex<Vec<Left>> = Mutex::new(Vec::new());

struct Left {
    request: String,
    run: RunId,
    at: Timestamp,
}

/// The same for every request of the same key and content.
fn request_key(caller: &Caller, request_hash: &str) -> String {
    let key = caller.principal.key.as_ref().map(|key| key.id);
    format!("{} {:?} {request_hash}", caller.user(), key)
}

/// Whether a client of the run has left before it was answered, and may come back for it.
pub(super) fn is_missed(app: &App, run: RunId) -> bool {
    let since = before(app.now(), JOINED_WITHIN);
    lock(&LEFT).iter().any(|left| left.run == run && left.at >= since)
}

fn count_up<K: Ord>(counts: &Mutex<BTreeMap<K, usize>>, key: K) {
    *lock(counts).entry(key).or_default() += 1;
}

fn count_down<K: Ord>(counts: &Mutex<BTreeMap<K, usize>>, key: &K) {
    let mut counts = lock(counts);
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// A client that waits for a run. Dropped before the end, it has left: the run stops, unless another one comes.
pub struct Attached {
    app: App,
    caller: Caller,
    run: RunId,
    /// What it has asked, if the same request without any sign takes its place.
    request: Option<String>,
    /// Where the run is stopped: the thread of a connection may end before it.
    runtime: Handle,
    stays: bool,
    answered: bool,
}

impl Attached {
    /// Must be called within a runtime. `request_hash`: of a request whose client says by no key of its own which one it is.
    pub fn new(app: &App, caller: &Caller, run: RunId, request_hash: Option<&str>) -> Self {
        if request_hash.is_some() {
            let mut left = lock(&LEFT);
            if let Some(at) = left.iter().rposition(|left| left.run == run) {
                left.remove(at);
            }
        }
        count_up(&ATTACHED, run);
        Self::counted(app, caller, run, request_hash.map(|hash| request_key(caller, hash)))
    }

    fn counted(app: &App, caller: &Caller, run: RunId, request: Option<String>) -> Self {
        let (app, caller, runtime) = (app.clone(), caller.clone(), Handle::current());
        Self { app, caller, run, request, runtime, stays: false, answered: false }
    }

    /// In the place of a client of this key that has left its same request before it was answered.
    pub(super) fn in_place_of_left(app: &App, caller: &Caller, request_hash: &str) -> Option<Self> {
        let (request, since) = (request_key(caller, request_hash), before(app.now(), JOINED_WITHIN));
        let mut left = lock(&LEFT);
        let at = left.iter().rposition(|left| left.request == request && left.at >= since)?;
        let run = left.remove(at).run;
        count_up(&ATTACHED, run);
        Some(Self::counted(app, caller, run, Some(request)))
    }

    /// `None`: another client waits for it.
    pub(super) fn alone(app: &App, caller: &Caller, run: RunId, request_hash: &str) -> Option<Self> {
        match lock(&ATTACHED).entry(run) {
            Entry::Occupied(_) => return None,
            Entry::Vacant(none) => none.insert(1),
        };
        Some(Self::counted(app, caller, run, Some(request_key(caller, request_hash))))
    }

    pub fn run(&self) -> RunId {
        self.run
    }

    /// The run has ended, waits for a person or goes on without a client, who knows of it: nothing is to be stopped.
    pub fn let_go(&mut self) {
        self.stays = true;
        self.answered = true;
    }

    /// The run goes on without a client, who has not heard of it yet.
    pub fn keep_running(&mut self) {
        self.stays = true;
    }

    fn note_that_it_left(&mut self) {
        let Some(request) = self.request.take().filter(|_| !self.answered) else {
            return;
        };
        let now = self.app.now();
        let since = before(now, JOINED_WITHIN);
        let mut left = lock(&LEFT);
        left.retain(|left| left.at >= since);
        left.push(Left { request, run: self.run, at: now });
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.note_that_it_left();
        count_down(&ATTACHED, &self.run);
        // It is the server that leaves: the run goes on at its next start.
        if self.stays || is_closing(&self.app) {
            return;
        }
        let (app, caller, run) = (self.app.clone(), self.caller.clone(), self.run);
        self.runtime.spawn(async move {
            tokio::time::sleep(COMES_BACK_WITHIN).await;
            if lock(&ATTACHED).contains_key(&run) || is_closing(&app) {
                return;
            }
            if let Err(error) = app.leave_run(&caller, run).await {
                tracing::debug!(%run, %error, "a run whose client left could not be stopped");
            }
        });
    }
}

fn is_closing(app: &App) -> bool {
    app.closing.is_cancelled() || app.usage_writer.is_closing()
}

/// A request that is about to begin its run.
#[derive(Debug)]
pub struct Starting(String);

impl Starting {
    pub fn new(caller: &Caller, request_hash: &str) -> Self {
        let key = request_key(caller, request_hash);
        count_up(&STARTING, key.clone());
        Self(key)
    }

    /// Returns when no such request is beginning its run any more.
    pub async fn wait_for_others(caller: &Caller, request_hash: &str) {
        let key = request_key(caller, request_hash);
        while lock(&STARTING).contains_key(&key) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Returns when no such request is beginning its run any more whose client has left.
    pub async fn wait_for_left(caller: &Caller, request_hash: &str) {
        let key = request_key(caller, request_hash);
        while lock(&LEFT_AT_START).contains(&key) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        let mut left = lock(&LEFT_AT_START);
        count_down(&STARTING, &self.0);
        if !lock(&STARTING).contains_key(&self.0) {
            left.remove(&self.0);
        }
    }
}

/// A client whose request is about to begin its run. Dropped before that, it has left.
#[derive(Debug)]
pub struct AwaitedStart(Option<String>);

impl AwaitedStart {
    pub fn new(caller: &Caller, request_hash: &str) -> Self {
        Self(Some(request_key(caller, request_hash)))
    }

    /// The run has begun, or was refused.
    pub fn is_over(mut self) {
        self.0 = None;
    }
}

impl Drop for AwaitedStart {
    fn drop(&mut self) {
        let Some(key) = self.0.take() else {
            return;
        };
        let mut left = lock(&LEFT_AT_START);
        if lock(&STARTING).contains_key(&key) {
            left.insert(key);
        }
    }
}
