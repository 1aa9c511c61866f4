use std::sync::atomic::{AtomicBool, Ordering};
use steward_schedule::Zones;
use tokio::sync::Notify;

/// What schedules work with beside the application.
#[derive(Debug)]
pub struct Automation {
    pub(crate) zones: Zones,
    /// Something may be due earlier than was known.
    pub(crate) changed: Notify,
    /// Whether this process starts what is due; a command without a server doesn't.
    works: AtomicBool,
}

impl Default for Automation {
    fn default() -> Self {
        Self { zones: Zones::bundled(), changed: Notify::new(), works: AtomicBool::new(false) }
    }
}

impl Automation {
    /// From now on this process starts what is due.
    pub(crate) fn begin_work(&self) {
        self.works.store(true, Ordering::Relaxed);
    }

    pub(crate) fn works(&self) -> bool {
        self.works.load(Ordering::Relaxed)
    }
}
