//! What the engine drives.

use crate::config::EngineConfig;
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::model::{Connection, Price};
use steward_core::ports::{
    Agents, Approvals, Clock, Conversations, Embedder, EventBus, Facts, Grants, Ids, Intent, KeptRuns, Models,
    RunStore, Settings, SpendLimits, Tools, UsageRecord, VirtualKeys,
};
use steward_core::rate_limit::RateLimiter;

/// The storage ports that the engine needs, in one.
pub trait Storage:
    RunStore
    + Approvals
    + Agents
    + Conversations
    + Settings
    + Facts
    + Grants
    + KeptRuns
    + SpendLimits
    + UsageRecord
    + VirtualKeys
{
}

impl<T> Storage for T where
    T: RunStore
        + Approvals
        + Agents
        + Conversations
        + Settings
        + Facts
        + Grants
        + KeptRuns
        + SpendLimits
        + UsageRecord
        + VirtualKeys
{
}

/// The price of a connection's model, where one is known.
pub type PriceOf = Arc<dyn Fn(&Connection) -> Option<Price> + Send + Sync>;

#[derive(Clone)]
pub struct Deps {
    pub tenant: TenantId,
    pub store: Arc<dyn Storage>,
    pub models: Arc<dyn Models>,
    pub tools: Arc<dyn Tools>,
    /// Vectors of texts, for clients of the API.
    pub embedder: Arc<dyn Embedder>,
    pub intent: Arc<dyn Intent>,
    pub bus: Arc<dyn EventBus>,
    pub price: PriceOf,
    /// Requests and tokens a minute of virtual keys.
    pub limiter: Arc<RateLimiter>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub config: EngineConfig,
}
