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
    /// Vectors of texts, for clients of the API.
    pub embedder: Arc<dyn Embedder>,
    /// What requests want.
    pub intent: Arc<dyn Intent>,
    /// Live fan-out.
    pub bus: Arc<dyn EventBus>,
    /// What models cost.
    pub price: PriceOf,
    /// Requests and tokens a minute of virtual keys.
    pub limiter: Arc<RateLimiter>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn Ids>,
    /// Settings.
    pub config: EngineConfig,
}
