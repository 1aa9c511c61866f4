//! The first event of a run is committed with its row, not by a journal: it is told here.

use crate::state::ApiState;
use steward_core::RunId;

/// Tells who looks at lists that `run` began. A hint, so a failure is not worth a refusal.
pub(crate) async fn tell(state: &ApiState, run: RunId) {
    let deps = state.runs.deps();
    match deps.store.events(deps.tenant, run, 0, 1).await {
        Ok(first) => first.iter().for_each(|stored| deps.bus.publish(&stored.event)),
        Err(error) => tracing::debug!(%run, %error, "nobody was told that it began"),
    }
}
