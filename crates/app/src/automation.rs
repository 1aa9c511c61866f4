use crate::hook_doors::HookDoors;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use steward_core::ports::AutomationSecrets;
use steward_schedule::Zones;
use steward_tools::outbound::Client;
use tokio::sync::Notify;

/// What schedules, webhooks and subscriptions work with beside the application.
pub struct Automation {
    pub(crate) zones: Zones,
    /// Something may be due earlier than was known.
    pub(crate) changed: Notify,
    pub(crate) hooks: HookDoors,
    /// Somebody is to be told of something.
    pub(crate) told: Notify,
    /// What messages go out by.
    pub(crate) outbound: Client,
    pub(crate) secrets: Arc<dyn AutomationSecrets>,
    /// Whether this process starts what is due; a command without a server doesn't.
    works: AtomicBool,
}

impl Automation {
    pub fn new(secrets: Arc<dyn AutomationSecrets>, outbound: Client) -> Self {
        Self {
            zones: Zones::bundled(),
            changed: Notify::new(),
            hooks: HookDoors::default(),
            told: Notify::new(),
            outbound,
            secrets,
            works: AtomicBool::new(false),
        }
    }

    /// From now on this process starts what is due.
    pub(crate) fn begin_work(&self) {
        self.works.store(true, Ordering::Relaxed);
    }

    pub(crate) fn works(&self) -> bool {
        self.works.load(Ordering::Relaxed)
    }
}
