//! What indexes are built from, and the chunks that they find.

use super::document_changes::number;
use super::ingest::{ChunkBody, unpacked};
use crate::codec::{from_json, page_size};
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use steward_core::document::ReadingFacts;
use steward_core::ports::{ChunkKey, ChunkRow, ChunkVector, DocumentChange, DocumentFacts, StoreResult};
use steward_core::{AgentId, CollectionId, DocumentId, TenantId};

impl Store {
    /// Changes after `seq`, at most `limit`, each document with what it is now.
    pub async fn document_changes(&self, tenant: TenantId, seq: u64, limit: u32) -> StoreResult<Vec<DocumentChange>> {
        self.read((tenant, seq, limit), |(tenant, seq, limit), tx| Box::pin(changes(tx, *tenant, *seq, *limit))).await
    }

    /// The number of the last change.
    pub async fn last_document_change(&self, tenant: TenantId) -> StoreResult<u64> {
        self.count("select last_change from document_counters where tenant_id = $1", args![tenant]).await
    }

    /// All chunks of a document, in order.
    pub async fn document_chunks(&self, tenant: TenantId, number: u32) -> StoreResult<Vec<ChunkRow>> {
        let sql = "select text, body from chunks where tenant_id = $1 and number = $2 order by chunk";
        self.all(sql, args![tenant, number], chunk_of).await
    }

    /// Those chunks of a document that have a vector of the model.
    pub async fn document_vectors(
        &self,
        tenant: TenantId,
        document: u32,
        model: &str,
    ) -> StoreResult<Vec<ChunkVector>> {
        let sql = "select chunk, vector from chunk_vectors where tenant_id = $1 and number = $2 and model = $3
                   order by chunk";
        self.all(sql, args![tenant, document, model], |row| {
            Ok(ChunkVector { chunk: number(row, 0)?, vector: unpacked(&row.bytes(1)?) })
        })
        .await
    }

    /// These chunks, in this order; those that are gone are left out.
    pub async fn chunks(&self, tenant: TenantId, keys: &[ChunkKey]) -> StoreResult<Vec<(ChunkKey, ChunkRow)>> {
        self.read((tenant, keys.to_vec()), |(tenant, keys), tx| Box::pin(chunks(tx, *tenant, keys))).await
    }
}

fn chunk_of(row: &Row) -> StoreResult<ChunkRow> {
    let body: ChunkBody = from_json("a chunk", &row.text(1)?)?;
    Ok(ChunkRow {
        text: row.text(0)?,
        headings: body.headings,
        first_page: body.first_page,
        last_page: body.last_page,
        areas: body.areas,
        method: body.method,
    })
}

async fn changes(tx: &mut Tx<'_>, tenant: TenantId, seq: u64, limit: u32) -> StoreResult<Vec<DocumentChange>> {
    let sql = "select c.seq, c.number, d.id, d.collection_id, d.facts, d.name, d.source, d.added_at, d.chunks,
                      d.content_change
               from document_changes c
               left join documents d on d.tenant_id = c.tenant_id and d.number = c.number
               where c.tenant_id = $1 and c.seq > $2 order by c.seq limit $3";
    let mut found = Vec::new();
    for row in tx.rows(sql, args![tenant, seq, page_size(limit)]).await? {
        let mut change =
            DocumentChange { seq: row.count(0)?, document: number(&row, 1)?, facts: None, content: row.count(0)? };
        if let Some(id) = row.opt_id(2)? {
            let chunks = number(&row, 8)?;
            change.content = row.count(9)?;
            if chunks > 0 {
                let read: ReadingFacts = from_json("a document", &row.text(4)?)?;
                let sql = "select agent_id from document_agents where tenant_id = $1 and document_id = $2";
                let agents = tx.rows(sql, args![tenant, id]).await?;
                change.facts = Some(DocumentFacts {
                    id: DocumentId(id),
                    collection: CollectionId(row.id(3)?),
                    doc_type: read.doc_type,
                    name: row.text(5)?,
                    source: row.text(6)?,
                    added_at: row.time(7)?,
                    chunks,
                    agents: agents.iter().map(|row| row.id(0).map(AgentId)).collect::<StoreResult<_>>()?,
                });
            } else {
                change.content = change.seq;
            }
        }
        found.push(change);
    }
    Ok(found)
}

async fn chunks(tx: &mut Tx<'_>, tenant: TenantId, keys: &[ChunkKey]) -> StoreResult<Vec<(ChunkKey, ChunkRow)>> {
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        let sql = "select text, body from chunks where tenant_id = $1 and number = $2 and chunk = $3";
        if let Some(row) = tx.row(sql, args![tenant, key.document, key.chunk]).await? {
            found.push((*key, chunk_of(&row)?));
        }
    }
    Ok(found)
}
