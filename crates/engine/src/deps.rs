//! What the engine drives.

use crate::config::EngineConfig;
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::ports::{
    Agents, Approvals, Clock, Conversations, Embedder, EventBus, Facts, Grants, Ids, KeptRuns,
    Models, RunStore, Settings, Tools,
};

/// The storage ports that the engine needs, in one.
pub trait Storage:
    RunStore + Approvals + Agents + Conversations + Settings + Facts + Grants + KeptRuns
{
}

impl<T: RunStore + Approvals + Agents + Conversations + Settings + Facts + Grants + KeptRuns>
    Storage for T
{
}

/// Everything outside.
#[derive(Clone)]
pub struct Deps {
    /// Tenant served.
    pub tenant: TenantId,
    /// Logs, rows.
    pub store: Arc<dyn Storage>,
    /// Models.
    pub models: Arc<dyn Models>,
    /// Tools.
    pub tools: Arc<dyn Tools>,
    /// Embeddings for the intent filter.
    pub embedder: Arc<dyn Embedder>,
    /// Live fan-out.
    pub bus: Arc<dyn EventBus>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn Ids>,
    /// Settings.
    pub config: EngineConfig,
}
