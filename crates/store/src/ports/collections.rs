//! Collections of documents, and the paths that are watched for them.

use crate::codec::{fold, from_json, sort_key, to_json};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use steward_core::document::{Collection, DocumentOrigin, ReEmbedding, WatchedPath};
use steward_core::ports::{CollectionChange, StoreError, StoreResult};
use steward_core::{CollectionId, TenantId, Timestamp, UserId, WatchedPathId};

/// Whether the user `$u`, if it is given, may see the collection of a row.
macro_rules! visible {
    ($user:literal, $collection:literal) => {
        concat!(
            "(",
            $user,
            " is null
              or not exists (select 1 from restricted_resources x where x.tenant_id = $1 and x.kind = 'collection'
                                                                    and x.resource_id = ",
            $collection,
            ")
              or exists (select 1 from resource_grants g
                         where g.tenant_id = $1 and g.kind = 'collection' and g.resource_id = ",
            $collection,
            "
                           and (g.grantee_id = ",
            $user,
            " or g.grantee_id in (
                               select m.group_id from group_members m
                               where m.tenant_id = $1 and m.user_id = ",
            $user,
            "))))"
        )
    };
}

pub(super) use visible;

macro_rules! select_collection {
    ($rest:expr) => {
        concat!(
            "select c.body, c.embedding_model, c.embedding_dimension, c.next_model,
                    case when c.next_model is null then 0 else (
                        select count(*) from documents d
                        where d.tenant_id = c.tenant_id and d.collection_id = c.id and d.chunks > 0) end,
                    case when c.next_model is null then 0 else (
                        select count(*) from documents d
                        where d.tenant_id = c.tenant_id and d.collection_id = c.id and d.chunks > 0
                          and d.chunks <= (select count(*) from chunk_vectors v
                                           where v.tenant_id = d.tenant_id and v.number = d.number
                                             and v.model = c.next_model)) end,
                    (select count(*) from documents d where d.tenant_id = c.tenant_id and d.collection_id = c.id),
                    (select coalesce(cast(sum(d.chunks) as bigint), 0) from documents d
                     where d.tenant_id = c.tenant_id and d.collection_id = c.id)
             from collections c ",
            $rest
        )
    };
}

impl Store {
    /// A name that another has is a conflict.
    pub async fn create_collection(&self, tenant: TenantId, collection: &Collection) -> StoreResult<()> {
        let sql = "insert into collections (tenant_id, id, folded_name, sort_key, body) values ($1, $2, $3, $4, $5)";
        let folded = fold(&collection.name);
        let args = args![tenant, collection.id, &folded, sort_key(&folded), to_json(collection)?];
        self.write_unique(sql, args, || taken(&collection.name)).await
    }

    pub async fn change_collection(
        &self,
        tenant: TenantId,
        id: CollectionId,
        change: &CollectionChange,
    ) -> StoreResult<Collection> {
        self.write((tenant, id, change.clone()), |(tenant, id, change), tx| Box::pin(update(tx, *tenant, *id, change)))
            .await
    }

    /// With its jobs, watched paths and grants; a conflict while it has documents.
    pub async fn remove_collection(&self, tenant: TenantId, id: CollectionId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove(tx, *tenant, *id))).await
    }

    pub async fn collection(&self, tenant: TenantId, id: CollectionId) -> StoreResult<Option<Collection>> {
        let sql = select_collection!("where c.tenant_id = $1 and c.id = $2");
        self.first(sql, args![tenant, id], collection_of).await
    }

    pub async fn collection_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Collection>> {
        let sql = select_collection!("where c.tenant_id = $1 and c.folded_name = $2");
        self.first(sql, args![tenant, fold(name)], collection_of).await
    }

    /// All that the user may see, or all, by name.
    pub async fn collections(&self, tenant: TenantId, visible_to: Option<UserId>) -> StoreResult<Vec<Collection>> {
        let sql =
            select_collection!(concat!("where c.tenant_id = $1 and ", visible!("$2", "c.id"), " order by c.sort_key"));
        self.all(sql, args![tenant, visible_to], collection_of).await
    }

    pub async fn save_watched_path(&self, tenant: TenantId, path: &WatchedPath) -> StoreResult<()> {
        let sql = "insert into watched_paths (tenant_id, id, collection_id, path, scanned_at, problem)
                   values ($1, $2, $3, $4, $5, $6)
                   on conflict (tenant_id, id) do update
                   set scanned_at = excluded.scanned_at, problem = excluded.problem";
        let problem = path.problem.as_ref().map(to_json).transpose()?;
        self.run(sql, args![tenant, path.id, path.collection, &path.path, path.scanned_at, problem]).await
    }

    pub async fn remove_watched_path(&self, tenant: TenantId, id: WatchedPathId) -> StoreResult<()> {
        let done =
            self.execute("delete from watched_paths where tenant_id = $1 and id = $2", args![tenant, id]).await?;
        require_changed(done, || format!("watched path {id}"))
    }

    pub async fn watched_paths(&self, tenant: TenantId) -> StoreResult<Vec<WatchedPath>> {
        let sql = "select id, collection_id, path, scanned_at, problem from watched_paths where tenant_id = $1
                   order by path, id";
        self.all(sql, args![tenant], watched_path).await
    }
}

fn collection_of(row: &Row) -> StoreResult<Collection> {
    let mut collection: Collection = from_json("a collection", &row.text(0)?)?;
    collection.embedding_model = row.opt_text(1)?;
    collection.embedding_dimension = dimension(row, 2)?;
    collection.re_embedding = match row.opt_text(3)? {
        Some(model) => Some(ReEmbedding { model, documents: row.count(4)?, done: row.count(5)? }),
        None => None,
    };
    collection.documents = row.count(6)?;
    collection.chunks = row.count(7)?;
    Ok(collection)
}

pub(super) fn dimension(row: &Row, index: usize) -> StoreResult<Option<u32>> {
    let number =
        |number| u32::try_from(number).map_err(|_| StoreError::Corrupt("a dimension is out of range".to_owned()));
    row.opt_int(index)?.map(number).transpose()
}

fn watched_path(row: &Row) -> StoreResult<WatchedPath> {
    Ok(WatchedPath {
        id: WatchedPathId(row.id(0)?),
        collection: CollectionId(row.id(1)?),
        path: row.text(2)?,
        scanned_at: row.opt_int(3)?.map(Timestamp),
        problem: row.opt_text(4)?.map(|text| from_json("a watched path", &text)).transpose()?,
    })
}

async fn update(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: CollectionId,
    change: &CollectionChange,
) -> StoreResult<Collection> {
    let sql = locking!(tx, "select body from collections where tenant_id = $1 and id = $2", "for update");
    let row = tx.row(sql, args![tenant, id]).await?.ok_or_else(|| unknown(id))?;
    let mut collection: Collection = from_json("a collection", &row.text(0)?)?;
    if let Some(name) = &change.name {
        collection.name.clone_from(name);
    }
    if let Some(description) = &change.description {
        collection.description.clone_from(description);
    }
    collection.chunking = change.chunking.unwrap_or(collection.chunking);
    collection.weights = change.weights.unwrap_or(collection.weights);
    collection.classification = change.classification.unwrap_or(collection.classification);
    collection.rerank = change.rerank.unwrap_or(collection.rerank);
    let folded = fold(&collection.name);
    let sql = "update collections set folded_name = $3, sort_key = $4, body = $5 where tenant_id = $1 and id = $2";
    let args = args![tenant, id, &folded, sort_key(&folded), to_json(&collection)?];
    tx.write_unique(sql, args, || taken(&collection.name)).await?;
    let sql = select_collection!("where c.tenant_id = $1 and c.id = $2");
    collection_of(&tx.row(sql, args![tenant, id]).await?.ok_or_else(|| unknown(id))?)
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: CollectionId) -> StoreResult<()> {
    let sql = "select 1 from documents where tenant_id = $1 and collection_id = $2 limit 1";
    if tx.row(sql, args![tenant, id]).await?.is_some() {
        return Err(StoreError::Conflict(format!("collection {id} has documents")));
    }
    for sql in [
        "delete from ingest_jobs where tenant_id = $1 and collection_id = $2",
        "delete from watched_paths where tenant_id = $1 and collection_id = $2",
        "delete from restricted_resources where tenant_id = $1 and kind = 'collection' and resource_id = $2",
        "delete from resource_grants where tenant_id = $1 and kind = 'collection' and resource_id = $2",
    ] {
        tx.execute(sql, args![tenant, id]).await?;
    }
    let done = tx.execute("delete from collections where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    require_changed(done, || format!("collection {id}"))
}

/// Changes nothing; names the file of an origin in a collection apart from all others.
pub(super) fn source_key(origin: DocumentOrigin, source: &str) -> String {
    steward_core::hash::sha256(format!("{} {source}", origin.as_str()).as_bytes())
}

pub(super) fn unknown(id: CollectionId) -> StoreError {
    StoreError::NotFound(format!("collection {id}"))
}

fn taken(name: &str) -> String {
    format!("there is a collection “{name}” already")
}
