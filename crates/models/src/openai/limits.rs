use std::time::{Duration, Instant};

use steward_core::model::ModelError;

use super::describe::Origin;

/// Limits of one call. The request's own limit goes over all of them.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From the request to the response's head.
    pub headers: Duration,
    /// From there to the first text, reasoning or call.
    pub first_content: Duration,
    /// Between two pieces.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            // Some servers send the head only with the first token.
            headers: Duration::from_mins(3),
            first_content: Duration::from_mins(3),
            idle: Duration::from_mins(1),
        }
    }
}

/// One call's limits, from its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub deadline: Instant,
    pub timeout_ms: u64,
    pub max_tokens: u32,
    pub timeouts: Timeouts,
}

impl Limits {
    /// Limits of a call that begins now and takes `whole` at most.
    pub fn new(whole: Duration, max_tokens: u32, timeouts: Timeouts) -> Self {
        let now = Instant::now();
        Self {
            deadline: now.checked_add(whole).unwrap_or(now + Duration::from_hours(24)),
            timeout_ms: u64::try_from(whole.as_millis()).unwrap_or(u64::MAX),
            max_tokens,
            timeouts,
        }
    }

    /// What is left of `stage`, and of the whole.
    pub fn left(&self, stage: Duration) -> Duration {
        stage.min(self.deadline.saturating_duration_since(Instant::now()))
    }

    /// The error after `stage` has passed.
    pub fn error(&self, origin: &Origin, what: &str, stage: Duration, setting: &str) -> ModelError {
        if self.deadline <= Instant::now() {
            return origin.timeout(what, u128::from(self.timeout_ms), "timeout_ms");
        }
        origin.timeout(what, stage.as_millis(), setting)
    }

    /// The error after the answer has stopped.
    pub fn idle(&self, origin: &Origin) -> ModelError {
        let what = "the answer stopped: nothing more came";
        self.error(origin, what, self.timeouts.idle, "models.idle_timeout_ms")
    }
}
