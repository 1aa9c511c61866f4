//! Rate limit of logins: failures within a quarter of an hour close an email, or a client, for a while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use steward_core::Timestamp;

/// Window of the count, and how long it stays closed after the last failure.
const WINDOW: Duration = Duration::from_mins(15);
/// Keys remembered; the one that failed longest ago is forgotten first.
const REMEMBERED: usize = 10_000;

/// Failures by key.
#[derive(Debug)]
pub(crate) struct Attempts {
    allowed: usize,
    failures: Mutex<HashMap<String, Vec<Timestamp>>>,
}

impl Attempts {
    /// Closes a key after so many failures.
    pub fn new(allowed: usize) -> Self {
        Self { allowed, failures: Mutex::default() }
    }

    /// Seconds to wait before `key` may try again; `None`: now.
    pub fn closed(&self, key: &str, now: Timestamp) -> Option<u64> {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let times = all.get_mut(key)?;
        times.retain(|at| now.since(*at) < WINDOW);
        if times.len() < self.allowed {
            return None;
        }
        let last = times.last().copied()?;
        Some(WINDOW.saturating_sub(now.since(last)).as_secs().max(1))
    }

    /// Notes a failure.
    pub fn failed(&self, key: &str, now: Timestamp) {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED && !all.contains_key(key) {
            all.retain(|_, times| times.last().is_some_and(|at| now.since(*at) < WINDOW));
            let oldest = all.iter().min_by_key(|(_, times)| times.last().copied()).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest.filter(|_| all.len() >= REMEMBERED) {
                all.remove(&oldest);
            }
        }
        all.entry(key.to_owned()).or_default().push(now);
    }

    /// Forgets failures after a success.
    pub fn succeeded(&self, key: &str) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempts, REMEMBERED};
    use steward_core::Timestamp;

    #[test]
    fn closes_after_failures_and_opens_again() {
        let attempts = Attempts::new(3);
        let at = |minutes: i64| Timestamp(minutes * 60_000);
        for minute in 0..3 {
            assert_eq!(attempts.closed("a", at(minute)), None);
            attempts.failed("a", at(minute));
        }
        assert_eq!(attempts.closed("a", at(3)), Some(14 * 60));
        assert_eq!(attempts.closed("b", at(3)), None);
        assert_eq!(attempts.closed("a", at(17)), None);
        attempts.succeeded("a");
        attempts.failed("a", at(18));
        assert_eq!(attempts.closed("a", at(18)), None);
    }

    #[test]
    fn remembers_a_bounded_number() {
        let attempts = Attempts::new(1);
        for number in 0..=i64::try_from(REMEMBERED).expect("small") {
            attempts.failed(&number.to_string(), Timestamp(number));
        }
        let now = Timestamp(20_000);
        assert_eq!(attempts.failures.lock().expect("lock").len(), REMEMBERED);
        assert_eq!(attempts.closed("0", now), None, "the oldest is forgotten");
        assert!(attempts.closed("1", now).is_some());
    }
}
