//! Which model the vectors of a collection are of, and its way to another. Vectors of the model that it has answer until those
//! of the next one are complete; both change places in one transaction.

use super::collections::{dimension, unknown};
use super::document_changes::count_up;
use crate::store::Store;
use crate::tx::{Tx, args, locking};
use steward_core::ports::{CollectionVectors, StoreError, StoreResult};
use steward_core::{CollectionId, TenantId, Timestamp};

impl Store {
    /// Of all collections.
    pub async fn collection_vectors(&self, tenant: TenantId) -> StoreResult<Vec<CollectionVectors>> {
        let sql = "select id, embedding_model, embedding_dimension, next_model, next_dimension from collections
                   where tenant_id = $1";
        self.all(sql, args![tenant], |row| {
            Ok(CollectionVectors {
                collection: CollectionId(row.id(0)?),
                model: row.opt_text(1)?,
                dimension: dimension(row, 2)?,
                next: row.opt_text(3)?,
                next_dimension: dimension(row, 4)?,
            })
        })
        .await
    }

    /// Says which model a collection's vectors are of, unless it has one; answers which one new vectors are made with: the
    /// next one, if it is on its way to that.
    pub async fn fix_embedding_model(&self, tenant: TenantId, id: CollectionId, model: &str) -> StoreResult<String> {
        let sql = "update collections set embedding_model = $3
                   where tenant_id = $1 and id = $2 and embedding_model is null";
        self.execute(sql, args![tenant, id, model]).await?;
        let sql = "select coalesce(next_model, embedding_model) from collections where tenant_id = $1 and id = $2";
        let row = self.row(sql, args![tenant, id]).await?;
        row.ok_or_else(|| unknown(id))?.text(0)
    }

    /// Says how many numbers the vectors of a collection's model, or of its next one, have, unless that is known; answers
    /// how many they have then. `NotFound`: it has not this model.
    pub async fn fix_dimension(
        &self,
        tenant: TenantId,
        id: CollectionId,
        model: &str,
        numbers: u32,
    ) -> StoreResult<u32> {
        for sql in [
            "update collections set embedding_dimension = $4
             where tenant_id = $1 and id = $2 and embedding_model = $3 and embedding_dimension is null",
            "update collections set next_dimension = $4
             where tenant_id = $1 and id = $2 and next_model = $3 and next_dimension is null",
        ] {
            self.execute(sql, args![tenant, id, model, numbers]).await?;
        }
        let sql = "select case when embedding_model = $3 then embedding_dimension else next_dimension end
                   from collections where tenant_id = $1 and id = $2 and (embedding_model = $3 or next_model = $3)";
        let row = self.row(sql, args![tenant, id, model]).await?.ok_or_else(|| unknown(id))?;
        dimension(&row, 0)?.ok_or_else(|| unknown(id))
    }

    /// Has vectors of another model made of all that is in the collection. The model that it has ends the way to another.
    pub async fn change_embedding_model(
        &self,
        tenant: TenantId,
        id: CollectionId,
        model: &str,
        at: Timestamp,
    ) -> StoreResult<()> {
        self.write((tenant, id, model.to_owned(), at), |(tenant, id, model, at), tx| {
            Box::pin(change(tx, *tenant, *id, model, *at))
        })
        .await
    }

    /// Has the documents that lack vectors of the next model tried again; answers how many.
    pub async fn retry_embedding(&self, tenant: TenantId, id: CollectionId, at: Timestamp) -> StoreResult<u64> {
        let sql = "update documents set due_at = $3, attempts = 0, problem = null
                   where tenant_id = $1 and collection_id = $2 and due_at is null and chunks > 0
                     and chunks > (select count(*) from chunk_vectors v
                                   where v.tenant_id = $1 and v.number = documents.number
                                     and v.model = (select c.next_model from collections c
                                                    where c.tenant_id = $1 and c.id = $2))
                     and exists (select 1 from collections c
                                 where c.tenant_id = $1 and c.id = $2 and c.next_model is not null)";
        Ok(self.execute(sql, args![tenant, id, at]).await?)
    }
}

/// The model of a collection and the next one.
async fn models(tx: &mut Tx<'_>, tenant: TenantId, id: CollectionId) -> StoreResult<(Option<String>, Option<String>)> {
    let sql = locking!(
        tx,
        "select embedding_model, next_model from collections where tenant_id = $1 and id = $2",
        "for update"
    );
    let row = tx.row(sql, args![tenant, id]).await?.ok_or_else(|| unknown(id))?;
    Ok((row.opt_text(0)?, row.opt_text(1)?))
}

async fn change(tx: &mut Tx<'_>, tenant: TenantId, id: CollectionId, model: &str, at: Timestamp) -> StoreResult<()> {
    let (now, next) = models(tx, tenant, id).await?;
    if next.as_deref() == Some(model) || (next.is_none() && now.as_deref() == Some(model)) {
        return Ok(());
    }
    if let Some(left) = &next {
        remove_vectors(tx, tenant, id, left).await?;
    }
    let back = now.as_deref() == Some(model);
    let sql = match &now {
        Some(_) if back => {
            "update collections set next_model = null, next_dimension = null where tenant_id = $1 and id = $2 and embedding_model = $3"
        }
        Some(_) => "update collections set next_model = $3, next_dimension = null where tenant_id = $1 and id = $2",
        None => "update collections set embedding_model = $3 where tenant_id = $1 and id = $2",
    };
    tx.execute(sql, args![tenant, id, model]).await?;
    if back {
        let sql = "update documents set due_at = null, attempts = 0, problem = null, claim = null, claimed_until = null
                   where tenant_id = $1 and collection_id = $2 and status = 'ready'";
        tx.execute(sql, args![tenant, id]).await?;
    }
    // Of those that are read first, vectors are made after that. Who works on one with the model from before loses it.
    let sql = "update documents set due_at = $3, attempts = 0, problem = null, claim = null, claimed_until = null,
                   status = case when status = 'failed' then 'embedding' else status end
               where tenant_id = $1 and collection_id = $2 and chunks > 0 and status in ('ready', 'embedding', 'failed')
                 and chunks > (select count(*) from chunk_vectors v
                               where v.tenant_id = $1 and v.number = documents.number and v.model = $4)";
    tx.execute(sql, args![tenant, id, at, model]).await?;
    switch_if_complete(tx, tenant, id).await
}

async fn remove_vectors(tx: &mut Tx<'_>, tenant: TenantId, id: CollectionId, model: &str) -> StoreResult<()> {
    let sql = "delete from chunk_vectors where tenant_id = $1 and model = $3
                 and number in (select number from documents where tenant_id = $1 and collection_id = $2)";
    tx.run(sql, args![tenant, id, model]).await
}

/// Puts the next model in its place, if all its vectors are made.
pub(super) async fn switch_if_complete(tx: &mut Tx<'_>, tenant: TenantId, id: CollectionId) -> StoreResult<()> {
    let sql = "select 1 from collections where tenant_id = $1 and id = $2 and next_model is not null";
    if tx.row(sql, args![tenant, id]).await?.is_none() {
        return Ok(());
    }
    let (now, Some(next)) = models(tx, tenant, id).await? else {
        return Ok(());
    };
    let sql = "select 1 from documents d
               where d.tenant_id = $1 and d.collection_id = $2 and d.chunks > 0
                 and d.chunks > (select count(*) from chunk_vectors v
                                 where v.tenant_id = $1 and v.number = d.number and v.model = $3)
               limit 1";
    if tx.row(sql, args![tenant, id, &next]).await?.is_some() {
        return Ok(());
    }
    if let Some(now) = now {
        remove_vectors(tx, tenant, id, &now).await?;
    }
    for sql in [
        "update collections set embedding_model = next_model, embedding_dimension = next_dimension, next_model = null,
             next_dimension = null
         where tenant_id = $1 and id = $2",
        "update documents set embedded = chunks where tenant_id = $1 and collection_id = $2",
    ] {
        tx.execute(sql, args![tenant, id]).await?;
    }
    note_changes(tx, tenant, id).await
}

/// Indexes are to look at all documents of the collection again, and answers that are kept end.
async fn note_changes(tx: &mut Tx<'_>, tenant: TenantId, id: CollectionId) -> StoreResult<()> {
    let sql = "select count(*) from documents where tenant_id = $1 and collection_id = $2 and chunks > 0";
    let count = tx.count(sql, args![tenant, id]).await?;
    let (_, first) = count_up(tx, tenant, 0).await?;
    let sql = "delete from document_changes where tenant_id = $1 and number in (
                   select number from documents where tenant_id = $1 and collection_id = $2 and chunks > 0)";
    tx.execute(sql, args![tenant, id]).await?;
    let sql = "insert into document_changes (tenant_id, seq, number)
               select tenant_id, $3 + row_number() over (order by number), number from documents
               where tenant_id = $1 and collection_id = $2 and chunks > 0";
    tx.execute(sql, args![tenant, id, first]).await?;
    let sql = "update document_counters set last_change = last_change + $2 where tenant_id = $1";
    tx.execute(sql, args![tenant, count]).await?;
    let sql = "update documents set content_change = (
                   select c.seq from document_changes c where c.tenant_id = $1 and c.number = documents.number)
               where tenant_id = $1 and collection_id = $2 and chunks > 0";
    let changed = tx.execute(sql, args![tenant, id]).await?;
    if changed == count {
        return Ok(());
    }
    Err(StoreError::Backend(format!("{changed} of {count} documents of a collection were noted")))
}
