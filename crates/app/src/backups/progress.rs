use crate::dto::backups::BackupProgress;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use tokio::sync::mpsc::Sender;

/// How often somebody is told how far it is.
const TELL_EVERY: Duration = Duration::from_millis(250);

pub use crate::dto::backups::BackupStage as Stage;

/// Tells who waits how far it is. When they have gone, the work stops.
#[derive(Clone)]
pub struct Progress {
    to: Sender<BackupProgress>,
    last: Arc<Mutex<Instant>>,
}

impl Progress {
    pub fn new(to: Sender<BackupProgress>) -> Self {
        Self { to, last: Arc::new(Mutex::new(Instant::now())) }
    }

    /// `false`: nobody waits any more.
    pub fn tell(&self, stage: Stage, done: u64, total: u64) -> bool {
        let mut last = lock(&self.last);
        if last.elapsed() >= TELL_EVERY {
            *last = Instant::now();
            // Who reads slowly misses some of it.
            let _missed = self.to.try_send(BackupProgress::of(stage, done, total));
        }
        !self.to.is_closed()
    }

    pub fn is_stopped(&self) -> bool {
        self.to.is_closed()
    }
}
