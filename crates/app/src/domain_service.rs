//! Databases through their domains: what the use cases and the tools of runs work with.

mod briefing;
mod changes;
mod drafting;
mod graphql;
mod groups;
mod known;
mod queries;
mod sources;
mod texts;
mod verified;
mod visibility;

pub(crate) use changes::ProposedChange;
pub(crate) use known::Known;
pub(crate) use queries::RowsFor;
pub(crate) use texts::TextWish;

use crate::error::{AppError, ErrorKind};
use crate::heavy_work::work_apart;
use graphql::SchemaCache;
use known::KnownCache;
use sources::Opened;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::datasource::Datasource;
use steward_core::live::Live;
use steward_core::locks::lock;
use steward_core::ports::{Clock, DataCaller, DataError, Embedder, Groups, Ids, StoreResult, UserState, Users, Vault};
use steward_core::{TenantId, Timestamp, UserId};
use steward_domains::model::Grantee;
use steward_store::Store;
use steward_tools::HostPolicy;
use steward_tools::datasource::Datasources;
use steward_tools::work_pool::PoolError;

pub(crate) type DataResult<T> = Result<T, DataError>;

/// Longest time of writing a change: statements have a limit of a minute.
const LONGEST_WRITE: Duration = Duration::from_secs(90);

pub struct DomainParts {
    pub tenant: TenantId,
    pub store: Arc<Store>,
    pub vault: Arc<dyn Vault>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// Folder in which `sqlite:PATH` is looked for.
    pub workspace: Live<PathBuf>,
    /// Which files elsewhere may be datasources.
    pub places: HostPolicy,
    /// Whether no other program works with this database.
    pub alone: bool,
}

pub struct DomainService {
    parts: DomainParts,
    databases: Datasources,
    known: KnownCache,
    schemas: SchemaCache,
    opened: Mutex<Opened>,
    readers: Mutex<Readers>,
    started_at: Timestamp,
}

impl DomainService {
    pub fn new(parts: DomainParts) -> Self {
        Self {
            started_at: parts.clock.now(),
            parts,
            databases: Datasources::default(),
            known: KnownCache::default(),
            schemas: SchemaCache::default(),
            opened: Mutex::default(),
            readers: Mutex::default(),
        }
    }

    /// Whether whoever began to write at that time has ended since.
    pub(crate) fn was_cut_off(&self, begun: Timestamp) -> bool {
        (self.parts.alone && begun < self.started_at) || self.parts.clock.now().since(begun) > LONGEST_WRITE
    }

    /// Who asks. Somebody who was disabled is nobody.
    pub(crate) async fn reader(&self, caller: DataCaller) -> StoreResult<Reader> {
        let Some(user) = caller.user else {
            return Ok(Reader::default());
        };
        // Read first, so that a change made meanwhile makes the entry void.
        let identities = self.parts.store.identities();
        if let Some(now) = identities
            && let Some((_, reader)) = lock(&self.readers).get(&user).filter(|(at, _)| *at == now)
        {
            return Ok(reader.clone());
        }
        let reader = self.read_reader(user).await?;
        if let Some(now) = identities {
            let mut readers = lock(&self.readers);
            readers.retain(|_, (at, _)| *at == now);
            readers.insert(user, (now, reader.clone()));
        }
        Ok(reader)
    }

    async fn read_reader(&self, user: UserId) -> StoreResult<Reader> {
        let (known, groups) = futures::try_join!(
            self.parts.store.user(self.parts.tenant, user),
            self.parts.store.groups_of(self.parts.tenant, user)
        )?;
        let Some(known) = known.filter(|user| user.state() == UserState::Active) else {
            return Ok(Reader::default());
        };
        let groups = groups.into_iter().map(|group| Grantee::Group(group.id.to_string()));
        let roles = std::iter::once(Grantee::Role(known.role)).chain(groups).collect();
        Ok(Reader { roles, email: Some(known.email) })
    }

    /// Does work on an input of so many bytes where it stops nobody else, when it is the turn of who asks.
    async fn run_apart<T: Send + 'static>(
        &self,
        caller: DataCaller,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> DataResult<T> {
        let whose = (self.parts.tenant, caller.user.unwrap_or_default());
        work_apart(whose, bytes, work).await.map_err(|error| match error {
            PoolError::Busy => DataError::Busy(error.to_string()),
            PoolError::BrokeOff(why) => DataError::Failed(why),
        })
    }

    pub(crate) async fn roles(&self, caller: DataCaller) -> StoreResult<Vec<Grantee>> {
        Ok(self.reader(caller).await?.roles)
    }
}

/// Those that were looked up, each with the count of changes of users and groups until then.
type Readers = HashMap<UserId, (u64, Reader)>;

/// Who asks, as permissions of domains and databases know them. Nobody has no roles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reader {
    /// The role, then the groups by id.
    pub roles: Vec<Grantee>,
    pub email: Option<String>,
}

const CHECK_DATASOURCE: &str = "an operator can check the datasource with `steward datasource check`; try again soon";

fn mend_datasource(name: &str) -> String {
    format!(
        "an operator can put the file or folder back that it names, or add `{name}` again with another address, and then \
         run `steward datasource check {name}`"
    )
}

/// Why the tables of a datasource can't be read.
pub(crate) fn unreached(datasource: &Datasource, why: String) -> AppError {
    let name = &datasource.name;
    if datasource.is_file() {
        let why = why.strip_prefix(&format!("the datasource `{name}` can't be used: ")).unwrap_or(&why).to_owned();
        return DataError::Unusable { datasource: name.clone(), why }.into();
    }
    DataError::Failed(if why.contains(name.as_str()) { why } else { format!("the datasource `{name}`: {why}") }).into()
}

/// As an error of a use case.
impl From<DataError> for AppError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Refused(why) => Self::invalid("query", why, "correct it and try again"),
            DataError::Failed(why) => Self::new(ErrorKind::Unavailable, why, CHECK_DATASOURCE),
            DataError::Quoted { .. } => Self::new(ErrorKind::Unavailable, error.to_string(), CHECK_DATASOURCE),
            DataError::Unusable { ref datasource, .. } => {
                Self::conflict("datasource_unusable", error.to_string(), mend_datasource(datasource))
            }
            DataError::Busy(_) => PoolError::Busy.into(),
            DataError::Store(error) => error.into(),
        }
    }
}
