//! How one connection has fared.

use std::collections::VecDeque;
use std::time::Duration;

use steward_core::model::ModelError;
use steward_core::{ConnectionId, Timestamp};

/// Answers whose time to first content is remembered.
const WINDOW: usize = 32;
/// After so long without an answer, the times of before say nothing.
const STALE: Duration = Duration::from_mins(5);

/// Counts and times since the program started.
#[derive(Debug, Default)]
pub(super) struct Health {
    pub requests: u64,
    pub failures: u64,
    first_ms: VecDeque<u64>,
    measured_at: Option<Timestamp>,
    pub last_error: Option<ModelError>,
    pub last_ok_at: Option<Timestamp>,
    pub last_failed_at: Option<Timestamp>,
}

impl Health {
    /// First content came after `ms`.
    pub fn answered(&mut self, ms: u64, now: Timestamp) {
        self.measured(ms, now);
        self.last_ok_at = Some(now);
    }

    /// It takes at least so long.
    pub fn measured(&mut self, ms: u64, now: Timestamp) {
        if self.first_ms.len() == WINDOW {
            self.first_ms.pop_front();
        }
        self.first_ms.push_back(ms);
        self.measured_at = Some(now);
    }

    pub fn failed(&mut self, error: &ModelError, now: Timestamp) {
        self.failures += 1;
        self.last_error = Some(error.clone());
        self.last_failed_at = Some(now);
    }

    /// Median time to first content, milliseconds.
    pub fn median_ms(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.first_ms.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len().checked_sub(1)? / 2).copied()
    }

    /// The same, if it is of late.
    pub fn recent_ms(&self, now: Timestamp) -> Option<u64> {
        let measured = self.measured_at?;
        (now.since(measured) <= STALE).then(|| self.median_ms()).flatten()
    }

    /// In the port's form, without the breaker.
    pub fn report(&self, connection: ConnectionId) -> steward_core::ports::ConnectionHealth {
        steward_core::ports::ConnectionHealth {
            connection,
            breaker: steward_core::ports::Breaker::Closed,
            retry_in_ms: None,
            requests: self.requests,
            failures: self.failures,
            first_ms: self.median_ms(),
            last_error: self.last_error.clone(),
            last_ok_at: self.last_ok_at,
            last_failed_at: self.last_failed_at,
        }
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
