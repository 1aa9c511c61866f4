//! The built-in embedding model computes in threads that may block; whoever sends many texts doesn't have all of them.

use crate::app::{App, AppResult, Caller};
use std::sync::LazyLock;
use std::thread::available_parallelism;
use steward_core::{TenantId, UserId};
use steward_tools::work_pool::{PoolLimits, Turn, WorkPool};

/// Of the whole program, whatever the organisation.
static POOL: LazyLock<WorkPool<(TenantId, UserId)>> = LazyLock::new(|| {
    let places = available_parallelism().map_or(1, usize::from);
    WorkPool::new(PoolLimits { places, places_each: places, open_each: 16, open: 256 })
});

impl App {
    /// Waits until texts of who asks may be given to the built-in model: as long as this is held.
    pub async fn wait_to_embed(&self, caller: &Caller) -> AppResult<Turn<(TenantId, UserId)>> {
        Ok(POOL.wait_for_turn((self.tenant(), caller.user())).await?)
    }
}
