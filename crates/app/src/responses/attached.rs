//! Which runs have a client that waits for them here, and which requests are about to begin one.

use crate::app::App;
use crate::caller::Caller;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;
use steward_core::RunId;
use steward_core::locks::lock;
use tokio::runtime::Handle;

/// How long a client that has left may come back before its run stops: programs that try again do so after half a second.
const COMES_BACK_WITHIN: Duration = Duration::from_millis(700);
/// How often it is looked whether a request has begun its run.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How many clients wait for a run, by its id.
static ATTACHED: Mutex<BTreeMap<RunId, usize>> = Mutex::new(BTreeMap::new());
/// How many requests of the same key and content are beginning their run.
static STARTING: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

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
    /// Where the run is stopped: the thread of a connection may end before it.
    runtime: Handle,
    stays: bool,
}

impl Attached {
    /// Must be called within a runtime.
    pub fn new(app: &App, caller: &Caller, run: RunId) -> Self {
        count_up(&ATTACHED, run);
        Self { app: app.clone(), caller: caller.clone(), run, runtime: Handle::current(), stays: false }
    }

    /// The run has ended, waits for a person or goes on without a client: nothing is to be stopped.
    pub fn let_go(&mut self) {
        self.stays = true;
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
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
    fn key(caller: &Caller, request_hash: &str) -> String {
        let key = caller.principal.key.as_ref().map(|key| key.id);
        format!("{} {:?} {request_hash}", caller.user(), key)
    }

    pub fn new(caller: &Caller, request_hash: &str) -> Self {
        let key = Self::key(caller, request_hash);
        count_up(&STARTING, key.clone());
        Self(key)
    }

    /// Returns when no such request is beginning its run any more.
    pub async fn wait_for_others(caller: &Caller, request_hash: &str) {
        let key = Self::key(caller, request_hash);
        while lock(&STARTING).contains_key(&key) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        count_down(&STARTING, &self.0);
    }
}
