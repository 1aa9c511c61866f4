use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Knows how long nobody has asked for anything.
#[derive(Clone)]
pub(super) struct Activity {
    state: Arc<Mutex<State>>,
}

struct State {
    open: usize,
    since: Instant,
}

/// Counts as work as long as it lives.
pub(super) struct Busy(Activity);

impl Activity {
    pub fn new() -> Self {
        Self { state: Arc::new(Mutex::new(State { open: 0, since: Instant::now() })) }
    }

    pub fn begin(&self) -> Busy {
        self.change(|open| open + 1);
        Busy(self.clone())
    }

    /// Time since the last request ended; `None` while there is one.
    pub fn idle(&self) -> Option<Duration> {
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (state.open == 0).then(|| state.since.elapsed())
    }

    fn change(&self, by: impl FnOnce(usize) -> usize) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.open = by(state.open);
        state.since = Instant::now();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(|open| open.saturating_sub(1));
    }
}
