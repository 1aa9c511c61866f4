//! Databases through their domains: what the use cases and the tools of runs work with.

mod briefing;
mod changes;
mod drafting;
mod graphql;
mod known;
mod queries;
mod sources;
mod texts;
mod verified;

pub(crate) use changes::ProposedChange;
pub(crate) use known::Known;
pub(crate) use queries::RowsFor;
pub(crate) use texts::TextWish;

use crate::error::AppError;
use graphql::SchemaCache;
use known::KnownCache;
use sources::Opened;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::ports::{
    Clock, DataCaller, DataError, DomainStore, Embedder, Groups, Ids, StoreResult, UserState, Users, Vault,
};
use steward_core::{TenantId, Timestamp};
use steward_tools::datasource::Datasources;

/// Longest time of writing a change: statements have a limit of a minute.
const LONGEST_WRITE: Duration = Duration::from_secs(90);

pub struct DomainParts {
    pub tenant: TenantId,
    pub store: Arc<dyn DomainStore>,
    pub users: Arc<dyn Users>,
    pub groups: Arc<dyn Groups>,
    pub vault: Arc<dyn Vault>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// Folder in which `sqlite:PATH` is looked for.
    pub workspace: PathBuf,
    /// The program's own files, which no datasource may be.
    pub data_dir: PathBuf,
    /// Whether no other program works with this database.
    pub alone: bool,
}

pub struct DomainService {
    tenant: TenantId,
    pub(crate) store: Arc<dyn DomainStore>,
    users: Arc<dyn Users>,
    groups: Arc<dyn Groups>,
    vault: Arc<dyn Vault>,
    embedder: Arc<dyn Embedder>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    workspace: PathBuf,
    data_dir: PathBuf,
    databases: Datasources,
    known: KnownCache,
    schemas: SchemaCache,
    opened: Mutex<Opened>,
    alone: bool,
    started_at: Timestamp,
}

impl DomainService {
    pub fn new(parts: DomainParts) -> Self {
        let DomainParts { tenant, store, users, groups, vault, embedder, clock, ids, workspace, data_dir, alone } =
            parts;
        let started_at = clock.now();
        Self {
            tenant,
            store,
            users,
            groups,
            vault,
            embedder,
            clock,
            ids,
            workspace,
            data_dir,
            databases: Datasources::default(),
            known: KnownCache::default(),
            schemas: SchemaCache::default(),
            opened: Mutex::default(),
            alone,
            started_at,
        }
    }

    /// Whether whoever began to write at that time has ended since.
    pub(crate) fn was_cut_off(&self, begun: Timestamp) -> bool {
        (self.alone && begun < self.started_at) || self.clock.now().since(begun) > LONGEST_WRITE
    }

    /// What permissions of domains know a caller by: the role and the groups. Nobody has none.
    pub(crate) async fn roles(&self, caller: DataCaller) -> StoreResult<Vec<String>> {
        let Some(user) = caller.user else {
            return Ok(Vec::new());
        };
        let Some(known) = self.users.user(self.tenant, user).await?.filter(|user| user.state() == UserState::Active)
        else {
            return Ok(Vec::new());
        };
        let groups = self.groups.groups_of(self.tenant, user).await?;
        Ok(std::iter::once(known.role.as_str().to_owned()).chain(groups.into_iter().map(|group| group.name)).collect())
    }
}

/// As an error of a use case.
impl From<DataError> for AppError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Refused(why) => Self::invalid("query", why, "correct it and try again"),
            DataError::Failed(why) => Self::unavailable(why),
            DataError::Store(error) => error.into(),
        }
    }
}
