//! Runs statements that were made from domains on users' databases: over connections that are kept open, read-only unless a
//! person has confirmed a change, and behind the same guard as statements that somebody wrote.

mod folder;
mod idle;

use crate::sql::{databases, server_url};
use folder::Folder;
use futures::executor::block_on;
use idle::{IdleConnections, IdleKey, Open, Stamp, of_file};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use steward_core::DatasourceId;
use steward_core::datasource::Datasource;
use steward_core::ports::OpenedCredential;
use steward_core::tables::Schema;
pub use steward_sandbox::sql::change::WriteState;
use steward_sandbox::sql::remote::{Answer, Changes, OnBehalfOf, Remote, RemoteOptions, Snapshot};
use steward_sandbox::sql::{Guard, Limits, Policy, Rows, SqlError};

const SQLITE: &str = "sqlite:";
/// A folder of the workspace whose CSV, TSV and Parquet files are tables.
const FOLDER: &str = "folder:";
/// Most values of a column that are looked at for examples.
pub const SAMPLES: usize = 12;

#[derive(Debug, thiserror::Error)]
pub enum DatasourceError {
    /// What is wrong with the datasource's own settings.
    #[error("{0}")]
    Settings(String),
    #[error(transparent)]
    Sql(#[from] SqlError),
    #[error("the statement broke off: {0}")]
    Broken(String),
}

/// How a database wants its SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
    MySql,
}

/// A datasource with what opens it.
#[derive(Debug, Clone)]
pub struct DatasourceAccess {
    id: DatasourceId,
    version: u64,
    place: Place,
    limits: Limits,
    whom: OnBehalfOf,
}

#[derive(Debug, Clone)]
enum Place {
    File(PathBuf),
    Folder(Folder),
    Server(SecretString),
}

impl DatasourceAccess {
    /// `data_dir` is closed: its files are this program's own.
    pub fn new(
        datasource: &Datasource,
        secret: Option<&OpenedCredential>,
        workspace: &Path,
        data_dir: &Path,
    ) -> Result<Self, DatasourceError> {
        let address = datasource.database.as_str();
        let place = match (address.strip_prefix(SQLITE), address.strip_prefix(FOLDER)) {
            (Some(path), _) => Place::File(file_of(path, workspace, data_dir)?),
            (None, Some(path)) => Place::Folder(Folder::find(path, workspace)?),
            (None, None) => Place::Server(server_url(address, secret).map_err(DatasourceError::Settings)?),
        };
        let limits = Limits {
            rows: usize::try_from(datasource.limits.rows).unwrap_or(usize::MAX),
            changes: Some(1),
            planned: Some(datasource.limits.planned_rows).filter(|most| *most > 0),
            wall: Duration::from_millis(u64::from(datasource.limits.timeout_ms)),
            ..Limits::default()
        };
        Ok(Self { id: datasource.id, version: datasource.version, place, limits, whom: OnBehalfOf::default() })
    }

    /// For statements of somebody, by the e-mail address; `as_role`: the server is to run them as the role of that name.
    #[must_use]
    pub fn on_behalf_of(self, user: Option<String>, as_role: bool) -> Self {
        Self { whom: OnBehalfOf { user, as_role }, ..self }
    }

    pub fn kind(&self) -> DatabaseKind {
        match &self.place {
            Place::File(_) | Place::Folder(_) => DatabaseKind::Sqlite,
            Place::Server(url) if url.expose_secret().starts_with("postgres") => DatabaseKind::Postgres,
            Place::Server(_) => DatabaseKind::MySql,
        }
    }

    fn key(&self, writes: bool) -> IdleKey {
        IdleKey { datasource: self.id, version: self.version, writes }
    }

    fn policy(&self) -> Policy {
        Policy { limits: self.limits.clone(), ..Policy::careful() }
    }

    fn options(&self, write: bool) -> RemoteOptions {
        RemoteOptions { limits: self.limits.clone(), write }
    }
}

/// A change that is about to be committed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StagedChange {
    /// Rows that it changes.
    pub count: u64,
    /// The rows before and after; `None`: it can't be taken back.
    pub undo: Option<Snapshot>,
    /// The server's id of the transaction, where it has one.
    pub transaction: Option<String>,
}

impl StagedChange {
    fn of(changes: &Changes, transaction: Option<String>) -> Self {
        Self { count: changes.count, undo: changes.undo.as_ref().ok().cloned(), transaction }
    }
}

/// Checks the shape of a datasource's address without opening it.
pub fn check_address(database: &str) -> Result<(), String> {
    match (database.strip_prefix(SQLITE), database.strip_prefix(FOLDER)) {
        (Some(""), _) => Err("name a file after `sqlite:`, such as sqlite:shop.db".to_owned()),
        (_, Some("")) => Err("name a folder after `folder:`, such as folder:measurements".to_owned()),
        (Some(_), _) | (_, Some(_)) => Ok(()),
        (None, None) => server_url(database, None).map(|_| ()),
    }
}

fn only_read() -> DatasourceError {
    DatasourceError::Settings("files of a folder are only read; change them where they come from".to_owned())
}

fn file_of(path: &str, workspace: &Path, data_dir: &Path) -> Result<PathBuf, DatasourceError> {
    if !Path::new(path).is_absolute() {
        return databases::resolve(workspace, path).map_err(DatasourceError::Settings);
    }
    let failed = |why: String| DatasourceError::Settings(format!("the database {path} can't be opened: {why}"));
    let real = Path::new(path).canonicalize().map_err(|error| failed(error.to_string()))?;
    let inside = |folder: &Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    if inside(data_dir) && !inside(workspace) {
        return Err(failed("it lies among Steward's own files; copy it elsewhere".to_owned()));
    }
    Ok(real)
}

/// Open connections to the datasources of a tenant.
#[derive(Debug, Default, Clone)]
pub struct Datasources {
    idle: Arc<IdleConnections>,
}

impl Datasources {
    /// What may be read there.
    pub async fn schema(&self, access: &DatasourceAccess) -> Result<Schema, DatasourceError> {
        let (open, stamp) = self.open(access, false).await?;
        match open {
            Open::File(guard) => {
                let (schema, guard) = blocking(move || (guard.schema(), guard)).await?;
                self.idle.put(access.key(false), Open::File(guard), stamp);
                Ok(schema?)
            }
            Open::Server(mut remote) => {
                let schema = remote.schema().await;
                self.put_back(access, false, remote, schema.as_ref().err());
                Ok(schema?)
            }
        }
    }

    /// Runs one query with its values.
    pub async fn read(
        &self,
        access: &DatasourceAccess,
        sql: String,
        values: Vec<Value>,
    ) -> Result<Rows, DatasourceError> {
        let (open, stamp) = self.open(access, false).await?;
        match open {
            Open::File(guard) => {
                let (rows, guard) = blocking(move || (guard.query_with(&sql, &values), guard)).await?;
                self.idle.put(access.key(false), Open::File(guard), stamp);
                Ok(rows?)
            }
            Open::Server(mut remote) => {
                let answer = remote.run(&sql, &values).await;
                self.put_back(access, false, remote, answer.as_ref().err());
                match answer? {
                    Answer::Rows(rows) => Ok(rows),
                    Answer::Changed(_) => Err(DatasourceError::Broken("it changed rows".to_owned())),
                }
            }
        }
    }

    /// A few different values of a column, in no order.
    pub async fn samples(
        &self,
        access: &DatasourceAccess,
        table: &str,
        column: &str,
    ) -> Result<Vec<Value>, DatasourceError> {
        if !access.policy().allows_column(table, column) {
            return Ok(Vec::new());
        }
        let (open, stamp) = self.open(access, false).await?;
        match open {
            Open::File(guard) => {
                let (table, column) = (table.to_owned(), column.to_owned());
                let (found, guard) = blocking(move || (guard.distinct_values(&table, &column, SAMPLES), guard)).await?;
                self.idle.put(access.key(false), Open::File(guard), stamp);
                Ok(found?)
            }
            Open::Server(mut remote) => {
                let found = remote.distinct_values(table, column, SAMPLES).await;
                self.put_back(access, false, remote, found.as_ref().err());
                Ok(found?)
            }
        }
    }

    /// Runs a change of one row. `stage` is given what tells after a crash whether it was done, right before it is
    /// committed; its error takes the change back.
    pub async fn change<F>(
        &self,
        access: &DatasourceAccess,
        sql: String,
        values: Vec<Value>,
        stage: impl FnOnce(StagedChange) -> F + Send + 'static,
    ) -> Result<StagedChange, DatasourceError>
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        match &access.place {
            Place::File(path) => {
                let (path, policy) = (path.clone(), access.policy());
                let work = move || {
                    let mut told = None;
                    let guard = Guard::open_for_writing(&path, policy)?;
                    guard.change_with(&sql, &values, true, |changes| {
                        let staged = StagedChange::of(changes, None);
                        told = Some(staged.clone());
                        block_on(stage(staged)).map_err(SqlError::Refused)
                    })?;
                    Ok::<_, SqlError>(told)
                };
                blocking(work).await??.ok_or_else(|| DatasourceError::Broken("it changed nothing".to_owned()))
            }
            Place::Folder(_) => Err(only_read()),
            Place::Server(_) => {
                let (Open::Server(mut remote), _) = self.open(access, true).await? else {
                    return Err(DatasourceError::Broken("it is a file".to_owned()));
                };
                let held = remote.hold(&sql, &values).await?;
                let Answer::Changed(changes) = held.answer else {
                    return Err(DatasourceError::Broken("it returned rows".to_owned()));
                };
                let staged = StagedChange::of(&changes, held.transaction);
                // A connection that is dropped takes its open transaction back.
                stage(staged.clone()).await.map_err(SqlError::Refused)?;
                remote.commit().await?;
                self.put_back(access, true, remote, None);
                Ok(staged)
            }
        }
    }

    /// Whether a change that was staged is done.
    pub async fn outcome(
        &self,
        access: &DatasourceAccess,
        staged: &StagedChange,
    ) -> Result<WriteState, DatasourceError> {
        match &access.place {
            Place::File(path) => {
                let Some(snapshot) = staged.undo.clone() else { return Ok(WriteState::Mixed) };
                let (path, policy) = (path.clone(), access.policy());
                Ok(blocking(move || Guard::settle(&path, policy, &snapshot, &[])).await??)
            }
            Place::Folder(_) => Err(only_read()),
            Place::Server(url) => {
                let mut remote = Remote::connect(url.expose_secret(), access.options(true)).await?;
                let mut state = None;
                if let Some(id) = &staged.transaction {
                    state = remote.transaction(id).await?;
                }
                if state.is_none()
                    && let Some(snapshot) = &staged.undo
                {
                    state = Some(remote.settle(snapshot, &[]).await?);
                }
                remote.close().await;
                Ok(state.unwrap_or(WriteState::Mixed))
            }
        }
    }

    /// Puts rows back as they were before a change; returns how many were.
    pub async fn undo(&self, access: &DatasourceAccess, snapshot: Snapshot) -> Result<u64, DatasourceError> {
        match &access.place {
            Place::File(path) => {
                let (path, policy) = (path.clone(), access.policy());
                Ok(blocking(move || Guard::put_back(&path, policy, &snapshot)).await??)
            }
            Place::Folder(_) => Err(only_read()),
            Place::Server(url) => {
                let mut remote = Remote::connect(url.expose_secret(), access.options(true)).await?;
                remote.act_for(&access.whom)?;
                let done = remote.put_back(&snapshot).await;
                remote.close().await;
                Ok(done?)
            }
        }
    }

    /// Closes what is open of a datasource that was changed or removed.
    pub fn forget(&self, id: DatasourceId) {
        self.idle.forget(id);
    }

    /// A connection, and what it is open on.
    async fn open(&self, access: &DatasourceAccess, writes: bool) -> Result<(Open, Option<Stamp>), DatasourceError> {
        let stamp = match &access.place {
            Place::File(path) => of_file(path),
            Place::Folder(folder) => folder.stamp(),
            Place::Server(_) => None,
        };
        if let Some(mut open) = self.idle.take(access.key(writes), stamp) {
            if let Open::Server(remote) = &mut open {
                remote.act_for(&access.whom)?;
            }
            return Ok((open, stamp));
        }
        let open = match &access.place {
            Place::File(path) => {
                let (path, policy) = (path.clone(), access.policy());
                Open::File(Box::new(blocking(move || Guard::open(&path, policy)).await??))
            }
            Place::Folder(folder) => {
                let (folder, policy) = (folder.clone(), access.policy());
                Open::File(Box::new(blocking(move || folder.open(policy)).await??))
            }
            Place::Server(url) => {
                let mut remote = Box::new(Remote::connect(url.expose_secret(), access.options(writes)).await?);
                remote.act_for(&access.whom)?;
                Open::Server(remote)
            }
        };
        Ok((open, stamp))
    }

    /// A connection that may be broken is dropped.
    fn put_back(&self, access: &DatasourceAccess, writes: bool, remote: Box<Remote>, error: Option<&SqlError>) {
        if matches!(error, Some(SqlError::Connect { .. } | SqlError::Timeout { .. })) {
            return;
        }
        self.idle.put(access.key(writes), Open::Server(remote), None);
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, DatasourceError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| DatasourceError::Broken(error.to_string()))
}
