use crate::automation::Automation;
use crate::config::Configuration;
use crate::data_rules::DataRulesCache;
use crate::disk_room::DiskRoom;
use crate::document_service::DocumentService;
use crate::domain_service::DomainService;
use crate::dto::about::{About, Database};
use crate::gateway::UsageWriter;
use crate::health::{AboutFacts, Health};
use crate::metrics::Metrics;
use crate::quotas::UploadLedger;

use std::ops::Deref;
use std::sync::Arc;
use steward_access::Access;
use steward_core::event::EVENT_VERSION;
use steward_core::live::Live;
use steward_core::policy::Grant;
use steward_core::ports::{Examiner, Gateway, ManagedConnections, Remembered, StoreResult, Vault};
use steward_core::{Cancellation, TenantId, Timestamp};
use steward_engine::{Deps, RunService};
use steward_store::Store;
use steward_tools::calendar::UserCalendars;
use steward_tools::mcp::McpHub;
use steward_tools::own_database::OwnDatabases;
use steward_tools::package::Packages;
use steward_tools::skills::FileHostKeys;
use uuid::Uuid;

pub(crate) use crate::authorize::{Action, Resource, authorize, listed_owner};
pub(crate) use crate::caller::Caller;
pub(crate) use crate::error::{AppError, AppResult, ErrorKind};

/// How long the key of a request that may be sent again is kept, milliseconds.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// The use cases, one method each. A clone is the same application.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

#[derive(Clone)]
pub struct AppParts {
    pub runs: RunService,
    pub access: Arc<Access>,
    pub health: Arc<Health>,
    /// Folder that the agents' file tools are confined to.
    pub workspace: Live<String>,
    /// Permissions of runs that begin here, besides the agent's policy.
    pub grants: Vec<Grant>,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    /// For the use cases; API, MCP server and command line ask [`App`].
    pub store: Arc<Store>,
    pub connections: Arc<dyn ManagedConnections>,
    pub examiner: Arc<dyn Examiner>,
    pub gateway: Arc<dyn Gateway>,
    pub usage_writer: Arc<UsageWriter>,
    pub data_rules_cache: Arc<DataRulesCache>,
    pub vault: Arc<dyn Vault>,
    pub documents: Arc<DocumentService>,
    pub domains: Arc<DomainService>,
    /// Private databases of the agents.
    pub databases: OwnDatabases,
    pub calendars: UserCalendars,
    pub packages: Arc<Packages>,
    pub mcp: Arc<McpHub>,
    pub host_keys: Arc<FileHostKeys>,
    pub facts: Arc<AboutFacts>,
    pub config: Arc<Configuration>,
    /// Room on the disks that data and workspace are on.
    pub disk: Arc<DiskRoom>,
    pub uploads: Arc<UploadLedger>,
    pub automation: Arc<Automation>,
    pub metrics: Arc<Metrics>,
    /// Cancelled when nobody may use it any more; its streams end.
    pub closing: Cancellation,
}

impl App {
    pub fn new(parts: AppParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Versions and health of this installation.
    pub async fn about(&self, caller: &Caller) -> AppResult<About> {
        authorize(caller, Action::Read, Resource::About)?;
        let facts = &self.facts;
        let installation = self.tenant() == TenantId::DEFAULT;
        Ok(About {
            version: facts.version.clone(),
            commit: facts.commit.clone(),
            event_version: EVENT_VERSION,
            schema_version: facts.schema_version,
            database: if facts.database == "postgresql" { Database::Postgresql } else { Database::Sqlite },
            database_version: facts.database_version.clone(),
            // Where the installation keeps its data is not for those of another tenant.
            data_dir: if installation { facts.data_dir.clone() } else { String::new() },
            workspace: if installation { self.workspace.copy() } else { String::new() },
            started_at: facts.started_at.0,
            runs_at_work: self.runs.at_work(),
            health: self.health.quick().await,
        })
    }

    pub fn now(&self) -> Timestamp {
        self.deps().clock.now()
    }

    pub fn new_id(&self) -> Uuid {
        self.deps().ids.next()
    }

    /// Notes the key of `owner` with a hash of the request, unless it is known.
    pub async fn begin_request(&self, owner: &str, key: &str, request_hash: &str) -> StoreResult<Remembered> {
        let now = self.now();
        let oldest = Timestamp(now.0.saturating_sub(KEPT_MS));
        self.store.begin_request(self.tenant(), owner, key, request_hash, now, oldest).await
    }

    /// Keeps the status and body that the request was answered with, and a hash of its own body where that was not in the
    /// hash it was begun with.
    pub async fn remember_request(
        &self,
        owner: &str,
        key: &str,
        answer: (u16, &str),
        body_hash: Option<&str>,
    ) -> StoreResult<()> {
        self.store.remember_request(self.tenant(), owner, key, answer, body_hash).await
    }

    /// Forgets a key whose request changed nothing.
    pub async fn forget_request(&self, owner: &str, key: &str) -> StoreResult<()> {
        self.store.forget_request(self.tenant(), owner, key).await
    }

    pub(crate) fn deps(&self) -> &Deps {
        self.0.runs.deps()
    }

    pub fn tenant(&self) -> TenantId {
        self.deps().tenant
    }
}

impl Deref for App {
    type Target = AppParts;

    fn deref(&self) -> &AppParts {
        &self.0
    }
}
