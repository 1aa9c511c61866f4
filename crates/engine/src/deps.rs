use std::sync::Arc;
use std::time::Duration;
use steward_core::TenantId;
use steward_core::agent::Agent;
use steward_core::deep::DeepDefaults;
use steward_core::governance::{Classified, DataRules, PiiKind, Seen};
use steward_core::live::Live;
use steward_core::model::{Connection, Price};
use steward_core::ports::{
    Agents, Approvals, Clock, Conversations, DataSlot, Embedder, EventBus, Facts, Grants, Ids, Intent, KnowledgeSlot,
    Models, PersonalData, ResourceGrants, RunStore, Settings, SpendLimits, Tools, Users, VirtualKeys,
};
use steward_core::rate_limit::RateLimiter;
use tokio::sync::Semaphore;

/// What the engine needs of the database.
pub trait Storage:
    RunStore
    + Approvals
    + Agents
    + Conversations
    + Settings
    + Facts
    + Grants
    + ResourceGrants
    + SpendLimits
    + VirtualKeys
    + Users
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
        + ResourceGrants
        + SpendLimits
        + VirtualKeys
        + Users
{
}

pub type PriceOf = Arc<dyn Fn(&Connection) -> Option<Price> + Send + Sync>;

#[derive(Clone)]
pub struct Deps {
    pub tenant: TenantId,
    pub store: Arc<dyn Storage>,
    pub models: Arc<dyn Models>,
    pub tools: Arc<dyn Tools>,
    pub embedder: Arc<dyn Embedder>,
    pub personal_data: Arc<dyn PersonalData>,
    pub intent: Arc<dyn Intent>,
    /// The documents that runs answer from; empty: there are none.
    pub knowledge: KnowledgeSlot,
    /// Databases through their domains.
    pub data: DataSlot,
    pub bus: Arc<dyn EventBus>,
    pub price: PriceOf,
    /// Requests and tokens a minute of virtual keys.
    pub limiter: Arc<RateLimiter>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub config: Live<EngineConfig>,
}

/// Settings of the engine; the defaults suit one node.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Name of this node; owner of its leases.
    pub node: String,
    /// How long a lease lasts without renewal. Another node takes over after it.
    pub lease: Duration,
    /// Most runs at work here at once; others wait for a place.
    pub max_runs: usize,
    /// How often runs to resume, commands and alarms are looked for.
    pub poll: Duration,
    /// Plans sampled from a model that can plan.
    pub plan_candidates: usize,
    /// Longest plan, steps.
    pub max_plan_steps: usize,
    /// How agents plan that say nothing of it.
    pub deep: DeepDefaults,
    /// Names of the connections that plan and that carry out, for agents that name none.
    pub planner: Option<String>,
    pub executor: Option<String>,
    /// Tries of a model call that failed in passing.
    pub model_tries: u32,
    /// Alarms nearer than this are waited for in place.
    pub short_wait: Duration,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            node: "local".to_owned(),
            lease: Duration::from_secs(15),
            max_runs: 256,
            poll: Duration::from_secs(1),
            plan_candidates: 2,
            max_plan_steps: 6,
            deep: DeepDefaults::default(),
            planner: None,
            executor: None,
            model_tries: 3,
            short_wait: Duration::from_secs(10),
        }
    }
}

/// Bytes of a text that is searched where it is, in less than two milliseconds; longer ones are searched on threads that
/// may be busy, and few at once.
const SMALL_TEXT: usize = 8 << 10;
static SEARCHES: Semaphore = Semaphore::const_new(2);

impl Deps {
    /// What of personal data is in a text, if rules ask for that.
    pub(crate) async fn personal_data_in(&self, rules: &DataRules, text: &str) -> Vec<PiiKind> {
        if !rules.looks_for_personal_data() {
            return Vec::new();
        }
        if text.len() <= SMALL_TEXT {
            return self.personal_data.kinds_in(text);
        }
        let place = SEARCHES.acquire().await;
        let (detector, text) = (Arc::clone(&self.personal_data), text.to_owned());
        let searched = tokio::task::spawn_blocking(move || {
            let _place = place;
            detector.kinds_in(&text)
        });
        // What wasn't searched may have everything.
        searched.await.unwrap_or_else(|_| PiiKind::ALL.to_vec())
    }

    /// How closely the request of a run is to be kept.
    pub(crate) async fn classify_request(&self, rules: &DataRules, agent: &Agent, text: &str) -> Option<Classified> {
        let personal = self.personal_data_in(rules, text).await;
        rules.classify(&Seen { agent: Some((agent.id, &agent.name)), text, personal: &personal, ..Seen::default() })
    }
}
