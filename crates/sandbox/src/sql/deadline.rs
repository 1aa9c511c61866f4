//! When a piece of work has to end, for those who look at the clock in the middle of it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shared by a session and the functions of its connection. Without a session there is no end.
#[derive(Debug)]
pub(super) struct Deadline {
    /// Nanoseconds after the first use of any.
    at: AtomicU64,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { at: AtomicU64::new(u64::MAX) }
    }
}

fn now() -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

impl Deadline {
    /// Begins anew.
    pub fn set(&self, wall: Duration) {
        let at = now().saturating_add(wall).as_nanos();
        self.at.store(u64::try_from(at).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// There is none any more.
    pub fn lift(&self) {
        self.at.store(u64::MAX, Ordering::Relaxed);
    }

    /// Looks at the clock.
    pub fn over(&self) -> bool {
        let at = self.at.load(Ordering::Relaxed);
        at != u64::MAX && now().as_nanos() >= u128::from(at)
    }
}
