use crate::append::{AppendBatch, EventRow};
use crate::codec::hashes_in;
use crate::engine::{Engine, OpFn, Postgres, Sqlite};
use crate::error::DbError;
use crate::limit_lookup::{LimitLookup, limited_scopes};
use crate::migrate::Migration;
use crate::tx::{Arg, Row, args};
use crate::{codec, error, migrate};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, RwLock};
use steward_core::TenantId;
use steward_core::event::EventBody;
use steward_core::locks::{lock, read, write};
use steward_core::ports::{Blobs, Page, StoreError, StoreResult};
use steward_core::tool::ToolSpec;

#[derive(Debug, Clone)]
pub enum Place {
    /// SQLite, as `steward.db` in this folder, which is made if it is missing.
    Sqlite { data_dir: PathBuf },
    /// PostgreSQL 15 or newer.
    Postgres {
        /// `postgres://user:password@host:port/database`.
        url: String,
    },
}

#[derive(Debug, Clone)]
pub struct StoreConfig {
    pub place: Place,
    /// Connections that read (SQLite) or do all but append (PostgreSQL); at least 1.
    pub connections: u32,
    /// Most pages that a SQLite database may have, to see a full disk in tests. `None`: no limit.
    pub max_pages: Option<u32>,
}

impl StoreConfig {
    pub fn sqlite(data_dir: impl Into<PathBuf>) -> Self {
        Self { place: Place::Sqlite { data_dir: data_dir.into() }, connections: 4, max_pages: None }
    }

    pub fn postgres(url: impl Into<String>) -> Self {
        Self { place: Place::Postgres { url: url.into() }, connections: 16, max_pages: None }
    }
}

/// Bodies longer than this go to the blob store, bytes.
const MAX_INLINE: usize = 64 * 1024;

/// All storage ports. Share it in an `Arc`. On SQLite, dropping it waits for writes that are queued,
/// and the data directory is free again when that returns.
pub struct Store {
    pub(crate) engine: Engine,
    /// How many want that no file of a row is removed.
    pub(crate) pauses: AtomicUsize,
    limited: LimitLookup,
    blobs: Arc<dyn Blobs>,
    /// Those of tenants that keep theirs elsewhere.
    blobs_apart: RwLock<HashMap<TenantId, Arc<dyn Blobs>>>,
    pub(crate) tool_sets: ToolSets,
}

impl Store {
    /// Brings the schema up to date; copies an older SQLite file to `backups/` first. Events over 64 KB go to `blobs`.
    /// SQLite: leases found are void, as the directory's lock shows that their holders are gone.
    pub async fn open(config: StoreConfig, blobs: Arc<dyn Blobs>) -> StoreResult<Self> {
        Self::open_with(config, blobs, migrate::ALL).await
    }

    pub(crate) async fn open_with(
        config: StoreConfig,
        blobs: Arc<dyn Blobs>,
        list: &'static [Migration],
    ) -> StoreResult<Self> {
        let mut limited = LimitLookup::Database;
        let engine = match config.place {
            Place::Sqlite { data_dir } => {
                limited = LimitLookup::Cached(Arc::default());
                let open = move || Sqlite::open(&data_dir, config.connections, config.max_pages, list);
                let opened = tokio::task::spawn_blocking(open).await;
                Engine::Sqlite(opened.map_err(|e| StoreError::Backend(format!("cannot open: {e}")))??)
            }
            Place::Postgres { url } => Engine::Postgres(Postgres::open(&url, config.connections, list).await?),
        };
        let store = Self {
            engine,
            pauses: AtomicUsize::default(),
            limited,
            blobs,
            blobs_apart: RwLock::default(),
            tool_sets: ToolSets::default(),
        };
        store.load_limited_scopes().await?;
        Ok(store)
    }

    async fn load_limited_scopes(&self) -> StoreResult<()> {
        let LimitLookup::Cached(known) = &self.limited else {
            return Ok(());
        };
        let scopes = self.read((), |(), tx| Box::pin(limited_scopes(tx))).await?;
        for (tenant, scope) in scopes {
            known.add(tenant, scope);
        }
        Ok(())
    }

    pub(crate) fn limit_lookup(&self) -> LimitLookup {
        self.limited.clone()
    }

    /// How often a user or a key was changed, where this process alone does that.
    pub(crate) fn identities(&self) -> Option<u64> {
        match &self.engine {
            Engine::Sqlite(engine) => Some(engine.identities()),
            Engine::Postgres(_) => None,
        }
    }

    /// How often a datasource or the text of a domain was changed, where this process alone does that.
    pub(crate) fn domain_changes(&self) -> Option<u64> {
        match &self.engine {
            Engine::Sqlite(engine) => Some(engine.domain_changes()),
            Engine::Postgres(_) => None,
        }
    }

    /// The database's name (`sqlite`, `postgresql`) and version, for people.
    pub async fn describe(&self) -> StoreResult<(&'static str, String)> {
        let (name, sql) = match &self.engine {
            Engine::Sqlite(_) => ("sqlite", "select sqlite_version()"),
            Engine::Postgres(_) => ("postgresql", "select current_setting('server_version')"),
        };
        let version = self.row(sql, args![]).await?.map(|row| row.text(0)).transpose()?;
        Ok((name, version.unwrap_or_default()))
    }

    /// Whether this process alone has the database.
    pub fn is_embedded(&self) -> bool {
        matches!(self.engine, Engine::Sqlite(_))
    }

    /// From now on, large bodies of this tenant are kept apart from those of the others.
    pub fn keep_blobs_apart(&self, tenant: TenantId, blobs: Arc<dyn Blobs>) {
        write(&self.blobs_apart).insert(tenant, blobs);
    }

    pub(crate) fn blobs_of(&self, tenant: TenantId) -> Arc<dyn Blobs> {
        let apart = read(&self.blobs_apart);
        Arc::clone(apart.get(&tenant).unwrap_or(&self.blobs))
    }

    /// Runs `op` where nothing can be changed.
    pub(crate) async fn read<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => engine.read(args, op).await,
            Engine::Postgres(engine) => engine.read(args, op).await,
        }
    }

    /// Runs `op` in a transaction that is durable when this returns.
    pub(crate) async fn write<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => engine.write(args, op, false).await,
            Engine::Postgres(engine) => engine.write(args, op).await,
        }
    }

    /// [`Self::write`], for what runs and documents hold: refused while only the reserve of a full disk is left.
    pub(crate) async fn write_content<A, T>(&self, args: A, op: OpFn<A, T>) -> StoreResult<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => engine.write(args, op, true).await,
            Engine::Postgres(engine) => engine.write(args, op).await,
        }
    }

    pub(crate) async fn rows(&self, sql: &'static str, args: &[Arg]) -> StoreResult<Vec<Row>> {
        self.read((sql, args.to_vec()), |(sql, args), tx| Box::pin(async move { Ok(tx.rows(sql, args).await?) })).await
    }

    pub(crate) async fn row(&self, sql: &'static str, args: &[Arg]) -> StoreResult<Option<Row>> {
        Ok(self.rows(sql, args).await?.into_iter().next())
    }

    /// What `read` makes of each row.
    pub(crate) async fn all<T>(
        &self,
        sql: &'static str,
        args: &[Arg],
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        self.rows(sql, args).await?.iter().map(read).collect()
    }

    /// [`Self::all`], by name. Sorted here, since the order of text in PostgreSQL depends on its locale.
    pub(crate) async fn all_by_name<T>(
        &self,
        sql: &'static str,
        args: &[Arg],
        read: impl Fn(&Row) -> StoreResult<T>,
        name: fn(&T) -> &str,
    ) -> StoreResult<Vec<T>> {
        let mut all = self.all(sql, args, read).await?;
        all.sort_by(|one, other| name(one).cmp(name(other)));
        Ok(all)
    }

    /// What `read` makes of the first row.
    pub(crate) async fn first<T>(
        &self,
        sql: &'static str,
        args: &[Arg],
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        self.row(sql, args).await?.as_ref().map(read).transpose()
    }

    /// A page of `limit` rows; the statement asks for one more.
    pub(crate) async fn page<T>(
        &self,
        sql: &'static str,
        args: &[Arg],
        limit: u32,
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Page<T>> {
        Ok(codec::paged(self.all(sql, args, read).await?, limit))
    }

    /// The number that a statement answers with; 0 where it finds no row.
    pub(crate) async fn count(&self, sql: &'static str, args: &[Arg]) -> StoreResult<u64> {
        self.row(sql, args).await?.map_or(Ok(0), |row| row.count(0))
    }

    /// Runs one statement in a transaction of its own; returns how many rows it changed.
    pub(crate) async fn execute(&self, sql: &'static str, args: &[Arg]) -> Result<u64, DbError> {
        let done = self.write((sql, args.to_vec()), |(sql, args), tx| {
            Box::pin(async move {
                match tx.execute(sql, args).await {
                    Err(DbError::Other(error)) => Err(error),
                    // What the row was refused for is the caller's to tell; it has changed nothing.
                    done => Ok(done),
                }
            })
        });
        done.await.unwrap_or_else(|error| Err(DbError::Other(error)))
    }

    /// [`Self::execute`], whatever the statement changes.
    pub(crate) async fn run(&self, sql: &'static str, args: &[Arg]) -> StoreResult<()> {
        Ok(self.execute(sql, args).await.map(drop)?)
    }

    /// Writes a row; `taken` is the message where its key is another row's.
    pub(crate) async fn write_unique(
        &self,
        sql: &'static str,
        args: &[Arg],
        taken: impl FnOnce() -> String,
    ) -> StoreResult<()> {
        self.execute(sql, args).await.map(drop).map_err(|error| error::on_duplicate(error, taken))
    }

    /// Appends events that have no rows beside them, batched with those of other runs.
    pub(crate) async fn append(&self, batch: AppendBatch) -> StoreResult<()> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.append(batch).await,
            Engine::Postgres(engine) => engine.append(batch).await,
        }
    }

    /// Events as rows; large bodies are durable in the blob store when this returns.
    pub(crate) async fn event_rows(&self, tenant: TenantId, bodies: &[EventBody]) -> StoreResult<Vec<EventRow>> {
        let mut rows = Vec::with_capacity(bodies.len());
        for body in bodies {
            if matches!(body, EventBody::Unknown) {
                return Err(StoreError::Conflict("an event of an unknown kind cannot be appended".to_owned()));
            }
            let kind = body.kind();
            let text = codec::to_json(body)?;
            rows.push(if text.len() > MAX_INLINE {
                let names = hashes_in(&text).collect::<Vec<_>>().join(" ");
                let stored = self.blobs_of(tenant).put(text.into_bytes()).await;
                let blob = Some(stored.map_err(|e| error::blob(&e))?);
                EventRow { kind, body: None, blob, blob_names: Some(names).filter(|names| !names.is_empty()) }
            } else {
                EventRow { kind, body: Some(text), blob: None, blob_names: None }
            });
        }
        Ok(rows)
    }
    pub(crate) async fn blob_text(&self, tenant: TenantId, hash: &str) -> StoreResult<String> {
        let bytes = self.blobs_of(tenant).get(hash).await.map_err(|e| error::blob(&e))?;
        String::from_utf8(bytes).map_err(|_| StoreError::Corrupt(format!("blob {hash} is not text")))
    }

    /// Whether there is a blob, damaged or not.
    pub(crate) async fn has_blob(&self, tenant: TenantId, hash: &str) -> StoreResult<bool> {
        self.blobs_of(tenant).has(hash).await.map_err(|e| error::blob(&e))
    }

    /// Puts the large ones of events that were just committed again, should they have been removed since they were put: with
    /// the last row that had the same, before these had.
    pub(crate) async fn keep_blobs(
        &self,
        tenant: TenantId,
        blobs: &[(usize, String)],
        bodies: &[EventBody],
    ) -> StoreResult<()> {
        for (at, hash) in blobs {
            if let Some(body) = bodies.get(*at)
                && !self.has_blob(tenant, hash).await?
            {
                self.put_blob(tenant, codec::to_json(body)?.into_bytes()).await?;
            }
        }
        Ok(())
    }

    /// Returns its hash.
    pub(crate) async fn put_blob(&self, tenant: TenantId, bytes: Vec<u8>) -> StoreResult<String> {
        self.blobs_of(tenant).put(bytes).await.map_err(|e| error::blob(&e))
    }
}

/// Sets remembered before all are forgotten: a bound on memory, some 100 KB each.
const MAX_TOOL_SETS: usize = 100;

type KnownToolSets = HashMap<(TenantId, String), Arc<[ToolSpec]>>;

/// Sets of tools that are in the database for sure.
#[derive(Debug, Default)]
pub(crate) struct ToolSets(Mutex<KnownToolSets>);

impl ToolSets {
    pub fn get(&self, tenant: TenantId, hash: &str) -> Option<Arc<[ToolSpec]>> {
        lock(&self.0).get(&(tenant, hash.to_owned())).cloned()
    }

    pub fn add(&self, tenant: TenantId, hash: String, tools: Arc<[ToolSpec]>) {
        let mut known = lock(&self.0);
        if known.len() >= MAX_TOOL_SETS {
            known.clear();
        }
        known.insert((tenant, hash), tools);
    }
}
