//! What a run has of a browser.

use super::elements::Elements;
use super::page::Page;
use super::proxy::Refusals;
use super::start::Process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The browser of a run. Dropping it kills the browser.
#[derive(Debug)]
pub(super) struct Slot {
    /// One call at a time; `None` before the first.
    pub page: tokio::sync::Mutex<Option<Page>>,
    /// What has been numbered, for previews too.
    pub elements: Mutex<Elements>,
    process: Mutex<Option<Process>>,
    used: Mutex<(Instant, Arc<AtomicBool>)>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    /// An empty one.
    pub fn new(stop: Arc<AtomicBool>) -> Self {
        Self {
            page: tokio::sync::Mutex::new(None),
            elements: Mutex::default(),
            process: Mutex::new(None),
            used: Mutex::new((Instant::now(), stop)),
        }
    }

    /// Used just now, in a run that ends when `stop` is set.
    pub fn touch(&self, stop: &Arc<AtomicBool>) {
        *lock(&self.used) = (Instant::now(), Arc::clone(stop));
    }

    /// Whether nobody has used it for so long.
    pub fn idle(&self, limit: Duration) -> bool {
        lock(&self.used).0.elapsed() >= limit && self.page.try_lock().is_ok()
    }

    /// Whether a start came to nothing.
    pub fn empty(&self) -> bool {
        // Whoever starts one holds the page.
        let free = self.page.try_lock().is_ok();
        free && lock(&self.process).is_none()
    }

    pub fn stopped(&self) -> bool {
        lock(&self.used).1.load(Ordering::Relaxed)
    }

    /// Keeps a started browser; one that was there before is killed.
    pub fn keep(&self, process: Process) {
        *lock(&self.process) = Some(process);
    }

    /// Takes the browser out; dropping it kills it.
    pub fn take(&self) -> Option<Process> {
        lock(&self.process).take()
    }

    pub fn refusals(&self) -> Arc<Refusals> {
        let process = lock(&self.process);
        process.as_ref().map(|process| Arc::clone(&process.proxy.refusals)).unwrap_or_default()
    }
}
