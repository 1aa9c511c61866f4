//! Runs statements that were made from domains on users' databases: over connections that are kept open, read-only unless a
//! person has confirmed a change, and behind the same guard as statements that somebody wrote.

mod folder;
mod idle;

use crate::sql::databases;
use crate::sql::file_work::{broke_off, work_on_file};
pub use crate::sql::target::DatabaseKind;
use crate::sql::target::{SQLITE_PREFIX, Target, check_server, server_url};
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
use steward_core::credential::Credential;
use steward_core::datasource::Datasource;
use steward_core::ports::OpenedCredential;
use steward_core::tables::Schema;
use steward_sandbox::host::HostPolicy;
pub use steward_sandbox::sql::change::WriteState;
use steward_sandbox::sql::remote::{Answer, Changes, OnBehalfOf, Remote, RemoteOptions, Snapshot};
use steward_sandbox::sql::{Guard, Limits, Policy, Rows, SqlError};

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
}

impl DatasourceError {
    /// Whether it can't be opened, however often it is tried: the file is gone, or is no database.
    pub fn is_about_opening(&self) -> bool {
        matches!(self, Self::Settings(_) | Self::Sql(SqlError::Open { .. } | SqlError::Corrupt { .. }))
    }
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
    /// A file of the workspace, as it is named.
    InWorkspace(String, PathBuf),
    /// One elsewhere on this machine's disk.
    OnHost(PathBuf, HostPolicy),
    Folder(Folder),
    Server(SecretString),
}

impl Place {
    /// Where a database file is, looked at anew for each opening; `None` for what is no such file.
    fn file(&self) -> Result<Option<PathBuf>, DatasourceError> {
        let failed =
            |path: &str, why: String| DatasourceError::Settings(format!("the database {path} can't be opened: {why}"));
        match self {
            Self::InWorkspace(name, workspace) => {
                databases::resolve(workspace, name).map(Some).map_err(DatasourceError::Settings)
            }
            Self::OnHost(path, places) => match places.open(path) {
                Ok(found) if found.is_folder() => {
                    Err(failed(&path.display().to_string(), "it is a folder; name a SQLite file".to_owned()))
                }
                Ok(found) => Ok(Some(found.path().to_owned())),
                Err(error) => Err(failed(&path.display().to_string(), format!("{error}; {}", error.hint()))),
            },
            Self::Folder(_) | Self::Server(_) => Ok(None),
        }
    }
}

impl DatasourceAccess {
    /// `places` says which files outside of the workspace may be opened.
    pub fn new(
        datasource: &Datasource,
        secret: Option<&OpenedCredential>,
        workspace: &Path,
        places: &HostPolicy,
    ) -> Result<Self, DatasourceError> {
        let address = datasource.database.as_str();
        let place = match (address.strip_prefix(SQLITE_PREFIX), address.strip_prefix(FOLDER)) {
            (Some(path), _) if Path::new(path).is_absolute() => Place::OnHost(path.into(), places.clone()),
            (Some(path), _) => Place::InWorkspace(path.to_owned(), workspace.to_owned()),
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
        place.file()?;
        Ok(Self { id: datasource.id, version: datasource.version, place, limits, whom: OnBehalfOf::default() })
    }

    /// For statements of somebody, by the e-mail address; `as_role`: the server is to run them as the role of that name.
    #[must_use]
    pub fn on_behalf_of(self, user: Option<String>, as_role: bool) -> Self {
        Self { whom: OnBehalfOf { user, as_role }, ..self }
    }

    pub fn kind(&self) -> DatabaseKind {
        match &self.place {
            Place::InWorkspace(..) | Place::OnHost(..) | Place::Folder(_) => DatabaseKind::Sqlite,
            Place::Server(url) => DatabaseKind::of_server(url),
        }
    }

    /// What lies beside the tables and is none, each with the reason. Blocks for a moment.
    pub fn left_out(&self) -> Vec<String> {
        match &self.place {
            Place::Folder(folder) => folder.left_out(),
            _ => Vec::new(),
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

    /// Where changes are made, and undone.
    fn target(&self) -> Result<Target, DatasourceError> {
        if let Some(path) = self.place.file()? {
            return Ok(Target::File(path, self.policy()));
        }
        match &self.place {
            Place::Server(url) => Ok(Target::Server(url.clone(), self.options(true))),
            _ => Err(DatasourceError::Settings(
                "files of a folder are only read; change them where they come from".to_owned(),
            )),
        }
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
    match (database.strip_prefix(SQLITE_PREFIX), database.strip_prefix(FOLDER)) {
        (Some(""), _) => Err("name a file after `sqlite:`, such as sqlite:shop.db".to_owned()),
        (_, Some("")) => Err("name a folder after `folder:`, such as folder:measurements".to_owned()),
        (Some(_), _) | (_, Some(_)) => Ok(()),
        (None, None) => server_url(database, None).map(|_| ()),
    }
}

/// Refuses a credential that names hosts, unless the database's server is among them; files are sent none.
pub fn check_credential(database: &str, credential: &Credential) -> Result<(), DatasourceError> {
    if database.starts_with(SQLITE_PREFIX) || database.starts_with(FOLDER) {
        return Ok(());
    }
    check_server(credential, database).map_err(|error| DatasourceError::Settings(error.to_string()))
}

/// Open connections to the datasources of a tenant.
#[derive(Debug, Default, Clone)]
pub struct Datasources {
    idle: Arc<IdleConnections>,
}

impl Datasources {
    /// What may be read there.
    pub async fn schema(&self, access: &DatasourceAccess) -> Result<Schema, DatasourceError> {
        let on_server = |mut remote: Box<Remote>| async move { (remote.schema().await, remote) };
        self.look(access, Guard::schema, on_server).await
    }

    /// Runs one query with its values.
    pub async fn read(
        &self,
        access: &DatasourceAccess,
        sql: String,
        values: Vec<Value>,
    ) -> Result<Rows, DatasourceError> {
        let (asked, bound) = (sql.clone(), values.clone());
        let in_file = move |guard: &Guard| guard.query_with(&asked, &bound).map(Answer::Rows);
        let on_server = |mut remote: Box<Remote>| async move { (remote.run(&sql, &values).await, remote) };
        match self.look(access, in_file, on_server).await? {
            Answer::Rows(rows) => Ok(rows),
            Answer::Changed(_) => Err(broke_off("it changed rows").into()),
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
        let (of_table, of_column) = (table.to_owned(), column.to_owned());
        let in_file = move |guard: &Guard| guard.distinct_values(&of_table, &of_column, SAMPLES);
        let on_server =
            |mut remote: Box<Remote>| async move { (remote.distinct_values(table, column, SAMPLES).await, remote) };
        self.look(access, in_file, on_server).await
    }

    /// Reads over a connection that is kept afterwards.
    async fn look<T, F>(
        &self,
        access: &DatasourceAccess,
        in_file: impl FnOnce(&Guard) -> Result<T, SqlError> + Send + 'static,
        on_server: impl FnOnce(Box<Remote>) -> F,
    ) -> Result<T, DatasourceError>
    where
        T: Send + 'static,
        F: Future<Output = (Result<T, SqlError>, Box<Remote>)>,
    {
        let (open, stamp) = self.open(access, false).await?;
        match open {
            Open::File(guard) => {
                let work = move || Ok::<_, SqlError>((in_file(&guard), guard));
                let (found, guard) = work_on_file(access.id.to_string(), work).await?;
                self.idle.put(access.key(false), Open::File(guard), stamp);
                Ok(found?)
            }
            Open::Server(remote) => {
                let (found, remote) = on_server(remote).await;
                // A connection that may be broken is dropped.
                if !matches!(found, Err(SqlError::Connect { .. } | SqlError::Timeout { .. })) {
                    self.idle.put(access.key(false), Open::Server(remote), None);
                }
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
        if let Target::File(path, policy) = access.target()? {
            let work = move || {
                let mut told = None;
                let guard = Guard::open_for_writing(&path, policy)?;
                guard.change_with(&sql, &values, true, |changes| {
                    let staged = StagedChange::of(changes, None);
                    told = Some(staged.clone());
                    block_on(stage(staged)).map_err(SqlError::Refused)
                })?;
                told.ok_or_else(|| broke_off("it changed nothing"))
            };
            return Ok(work_on_file(access.id.to_string(), work).await?);
        }
        let (Open::Server(mut remote), _) = self.open(access, true).await? else {
            return Err(broke_off("it is a file").into());
        };
        let held = remote.hold(&sql, &values).await?;
        let Answer::Changed(changes) = held.answer else {
            return Err(broke_off("it returned rows").into());
        };
        let staged = StagedChange::of(&changes, held.transaction);
        // A connection that is dropped takes its open transaction back.
        stage(staged.clone()).await.map_err(SqlError::Refused)?;
        remote.commit().await?;
        self.idle.put(access.key(true), Open::Server(remote), None);
        Ok(staged)
    }

    /// Whether a change that was staged is done.
    pub async fn outcome(
        &self,
        access: &DatasourceAccess,
        staged: &StagedChange,
    ) -> Result<WriteState, DatasourceError> {
        let target = access.target()?;
        if let Some(id) = &staged.transaction
            && let Some(state) = target.transaction(id).await?
        {
            return Ok(state);
        }
        match staged.undo.clone() {
            Some(snapshot) => Ok(target.settle(snapshot, Vec::new()).await?),
            None => Ok(WriteState::Mixed),
        }
    }

    /// Puts rows back as they were before a change; returns how many were.
    pub async fn undo(&self, access: &DatasourceAccess, snapshot: Snapshot) -> Result<u64, DatasourceError> {
        Ok(access.target()?.put_back(snapshot, &access.whom).await?)
    }

    /// Closes what is open of a datasource that was changed or removed.
    pub fn forget(&self, id: DatasourceId) {
        self.idle.forget(id);
    }

    /// A connection, and what it is open on.
    async fn open(&self, access: &DatasourceAccess, writes: bool) -> Result<(Open, Option<Stamp>), DatasourceError> {
        let place = access.place.clone();
        let key = access.id.to_string();
        let (file, stamp) = work_on_file(key.clone(), move || {
            let file = place.file()?;
            let stamp = match (&file, &place) {
                (Some(path), _) => of_file(path),
                (None, Place::Folder(folder)) => folder.stamp(),
                (None, _) => None,
            };
            Ok::<_, DatasourceError>((file, stamp))
        })
        .await?;
        if let Some(mut open) = self.idle.take(access.key(writes), stamp) {
            if let Open::Server(remote) = &mut open {
                remote.act_for(&access.whom)?;
            }
            return Ok((open, stamp));
        }
        let open = match (&access.place, file) {
            (_, Some(path)) => {
                let policy = access.policy();
                let opened = work_on_file(key, move || {
                    let guard = Guard::open(&path, policy)?;
                    let same = stamp.is_some() && of_file(&path) == stamp;
                    if same { Ok(guard) } else { Err(broke_off("another file came into its place")) }
                });
                Open::File(Box::new(opened.await?))
            }
            (Place::Folder(folder), None) => {
                let (folder, policy) = (folder.clone(), access.policy());
                Open::File(Box::new(work_on_file(key, move || folder.open(policy)).await?))
            }
            (Place::Server(url), None) => {
                let mut remote = Box::new(Remote::connect(url.expose_secret(), access.options(writes)).await?);
                remote.act_for(&access.whom)?;
                Open::Server(remote)
            }
            (Place::InWorkspace(..) | Place::OnHost(..), None) => return Err(broke_off("there is no file").into()),
        };
        Ok((open, stamp))
    }
}
