use super::elements::Elements;
use super::error::BrowserError;
use super::launch::{BrowserConfig, Process, start};
use super::page::Page;
use super::proxy::RefusalsSince;
use crate::handler::Context;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use steward_core::live::Live;
use steward_core::locks::lock;
use steward_core::ports::ToolScope;
use steward_core::{Cancellation, RunId};

/// Time between checks whether a browser is still wanted.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The browsers of an installation. Cheap to clone; dropping the last clone closes them.
#[derive(Clone)]
pub struct Browsers(Arc<SessionMap>);

struct SessionMap {
    config: Live<BrowserConfig>,
    sessions: Mutex<HashMap<RunId, Arc<BrowserSession>>>,
}

impl Browsers {
    pub fn new(config: BrowserConfig) -> Self {
        Self(Arc::new(SessionMap { config: Live::new(config), sessions: Mutex::default() }))
    }

    pub(super) fn config(&self) -> Arc<BrowserConfig> {
        self.0.config.get()
    }

    /// For the browsers that are started next; open ones stay as they are.
    pub fn change(&self, config: BrowserConfig) {
        self.0.config.replace(config);
    }

    /// How many may be open at a time.
    pub fn most(&self) -> usize {
        self.0.config.get().most
    }

    pub fn program(&self) -> PathBuf {
        self.0.config.get().program.clone()
    }

    pub fn count(&self) -> usize {
        lock(&self.0.sessions).len()
    }

    pub fn close(&self, run: RunId) {
        self.0.close(run);
    }

    pub fn close_all(&self) {
        let sessions = std::mem::take(&mut *lock(&self.0.sessions));
        for session in sessions.into_values() {
            drop(session.take());
        }
    }

    pub async fn check(&self) -> Result<String, BrowserError> {
        let config = self.config();
        let (process, page) = start(&config).await?;
        drop(page);
        let (tier, as_whom) = (process.session.tier, process.session.privileges);
        Ok(format!(
            "{} starts, confined by {tier:?} as {as_whom:?}, with no network but the checked one",
            config.program.display()
        ))
    }

    pub(super) fn session_of(&self, scope: &ToolScope) -> Option<Arc<BrowserSession>> {
        let sessions = lock(&self.0.sessions);
        scope.run.and_then(|run| sessions.get(&run)).map(Arc::clone)
    }

    /// The browser of this run; an empty session for one, if it has none.
    pub(super) fn get_or_create(&self, context: &Context) -> Result<Arc<BrowserSession>, BrowserError> {
        let run = context.scope.run.ok_or(BrowserError::NoRun)?;
        let cancellation = &context.scope.cancellation;
        let mut sessions = lock(&self.0.sessions);
        let (taken, most) = (sessions.len(), self.most());
        match sessions.entry(run) {
            Entry::Occupied(entry) => {
                let session = Arc::clone(entry.get());
                session.touch(cancellation);
                Ok(session)
            }
            Entry::Vacant(_) if taken >= most => Err(BrowserError::Busy(most)),
            Entry::Vacant(entry) => {
                let session = Arc::new(BrowserSession::new(cancellation.clone()));
                entry.insert(Arc::clone(&session));
                tokio::spawn(close_when_unused(Arc::downgrade(&self.0), run, Arc::downgrade(&session)));
                Ok(session)
            }
        }
    }

    pub(super) async fn remove_failed(&self, run: Option<RunId>, session: &Arc<BrowserSession>) -> Option<String> {
        let process = session.take();
        if let Some(run) = run {
            let mut sessions = lock(&self.0.sessions);
            if sessions.get(&run).is_some_and(|held| Arc::ptr_eq(held, session)) {
                sessions.remove(&run);
            }
        }
        let mut process: Process = process?;
        Some(process.stderr_text().await)
    }
}

impl SessionMap {
    fn close(&self, run: RunId) {
        let session = lock(&self.sessions).remove(&run);
        // A call in progress holds the session too, so the browser is taken out of it.
        drop(session.and_then(|session| session.take()));
    }
}

async fn close_when_unused(all: Weak<SessionMap>, run: RunId, session: Weak<BrowserSession>) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let (Some(all), Some(session)) = (all.upgrade(), session.upgrade()) else {
            return;
        };
        let ours = lock(&all.sessions).get(&run).is_some_and(|held| Arc::ptr_eq(held, &session));
        if !ours {
            return;
        }
        if session.unused(all.config.get().idle) {
            all.close(run);
            return;
        }
    }
}

#[derive(Debug)]
pub(super) struct BrowserSession {
    /// Locked for one call at a time; `None` before the first.
    pub page: tokio::sync::Mutex<Option<Page>>,
    /// The numbered elements; previews read them too.
    pub elements: Mutex<Elements>,
    process: Mutex<Option<Process>>,
    used: Mutex<(Instant, Cancellation)>,
}

impl BrowserSession {
    pub fn new(cancellation: Cancellation) -> Self {
        Self {
            page: tokio::sync::Mutex::new(None),
            elements: Mutex::default(),
            process: Mutex::new(None),
            used: Mutex::new((Instant::now(), cancellation)),
        }
    }

    /// Marks it as used now, in a run that ends when `cancellation` is cancelled.
    pub fn touch(&self, cancellation: &Cancellation) {
        *lock(&self.used) = (Instant::now(), cancellation.clone());
    }

    /// Whether its run was stopped, or no call has it and it is idle for `limit` or has no browser.
    fn unused(&self, limit: Duration) -> bool {
        let (idle, stopped) = {
            let (last, cancellation) = &*lock(&self.used);
            (last.elapsed() >= limit, cancellation.is_cancelled())
        };
        // The page is locked by each call, also while a browser starts.
        stopped || self.page.try_lock().is_ok() && (idle || lock(&self.process).is_none())
    }

    pub fn keep(&self, process: Process) {
        *lock(&self.process) = Some(process);
    }

    /// Takes the browser out; dropping it kills it.
    pub fn take(&self) -> Option<Process> {
        lock(&self.process).take()
    }

    /// The requests of its page that are refused from now on.
    pub fn refusals(&self) -> RefusalsSince {
        let process = lock(&self.process);
        let all = process.as_ref().map(|process| Arc::clone(&process.proxy.refusals)).unwrap_or_default();
        all.since_now()
    }
}
