//! Rate limit of logins: five failures in a quarter of an hour close an address for a while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use steward_core::Timestamp;

/// Failures before an email is closed.
const ALLOWED: usize = 5;
/// Window of the count, and how long it stays closed after the last failure.
const WINDOW: Duration = Duration::from_mins(15);
/// Emails remembered; the oldest are forgotten first.
const REMEMBERED: usize = 10_000;

/// Failures by email.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    failures: Mutex<HashMap<String, Vec<Timestamp>>>,
}

impl Attempts {
    /// Seconds to wait before `email` may try again; `None`: now.
    pub fn closed(&self, email: &str, now: Timestamp) -> Option<u64> {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let times = all.get_mut(email)?;
        times.retain(|at| now.since(*at) < WINDOW);
        if times.len() < ALLOWED {
            return None;
        }
        let last = times.last().copied()?;
        Some(WINDOW.saturating_sub(now.since(last)).as_secs().max(1))
    }

    /// Notes a failure.
    pub fn failed(&self, email: &str, now: Timestamp) {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.retain(|_, times| times.last().is_some_and(|at| now.since(*at) < WINDOW));
        }
        all.entry(email.to_owned()).or_default().push(now);
    }

    /// Forgets failures after a success.
    pub fn succeeded(&self, email: &str) {
        self.failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(email);
    }
}
