//! The work on documents that wait for it. Who works on one has a claim; what it writes after its claim was taken over is
//! refused in the same transaction.

use super::LONGEST_WAIT;
use super::collection_models::switch_if_complete;
use super::document_changes::note_change;
use super::documents::{document_of, search_text, select_document};
use crate::codec::to_json;
use crate::store::Store;
use crate::tx::{Tx, args, locking};
use serde::{Deserialize, Serialize};
use steward_core::document::{ChunkArea, DocumentStatus, ReadingFacts};
use steward_core::ports::{ChunkVector, ClaimEnd, ClaimedDocument, IngestWork, ReadDocument, StoreError, StoreResult};
use steward_core::{DocumentId, TenantId, Timestamp};
use uuid::Uuid;

/// What of a chunk is not its text.
#[derive(Serialize, Deserialize)]
pub(super) struct ChunkBody {
    pub headings: Vec<String>,
    pub first_page: u32,
    pub last_page: u32,
    pub areas: Vec<ChunkArea>,
    pub method: String,
}

impl Store {
    /// The one that waits longest for this work: what somebody sent before files of folders, and these before those of the workspace. Each
    /// claim counts as an attempt.
    pub async fn claim_document(
        &self,
        tenant: TenantId,
        work: IngestWork,
        claim: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreResult<Option<ClaimedDocument>> {
        self.write((tenant, work, claim, now, until), |(tenant, work, claim, now, until), tx| {
            Box::pin(take(tx, *tenant, *work, *claim, *now, *until))
        })
        .await
    }

    /// `NotFound`: the claim is over, or the document gone.
    pub async fn extend_claim(&self, tenant: TenantId, claim: &ClaimedDocument, until: Timestamp) -> StoreResult<()> {
        let sql = "update documents set claimed_until = $4 where tenant_id = $1 and id = $2 and claim = $3";
        let extended = self.execute(sql, args![tenant, claim.document.id, claim.claim, until]).await?;
        if extended == 0 { Err(lost(claim)) } else { Ok(()) }
    }

    /// Notes how far its reading is.
    pub async fn save_facts(&self, tenant: TenantId, claim: &ClaimedDocument, facts: &ReadingFacts) -> StoreResult<()> {
        let sql = "update documents set facts = $4 where tenant_id = $1 and id = $2 and claim = $3";
        let saved = self.execute(sql, args![tenant, claim.document.id, claim.claim, to_json(facts)?]).await?;
        if saved == 0 { Err(lost(claim)) } else { Ok(()) }
    }

    /// Puts these chunks into the place of those that there are; they are found by words from now on.
    pub async fn save_chunks(
        &self,
        tenant: TenantId,
        claim: &ClaimedDocument,
        read: &ReadDocument,
        at: Timestamp,
    ) -> StoreResult<()> {
        self.write_content((tenant, claim.clone(), read.clone(), at), |(tenant, claim, read, at), tx| {
            Box::pin(save_chunks(tx, *tenant, claim, read, *at))
        })
        .await
    }

    pub async fn save_vectors(
        &self,
        tenant: TenantId,
        claim: &ClaimedDocument,
        model: &str,
        vectors: &[ChunkVector],
    ) -> StoreResult<()> {
        self.write_content(
            (tenant, claim.clone(), model.to_owned(), vectors.to_vec()),
            |(tenant, claim, model, vectors), tx| Box::pin(save_vectors(tx, *tenant, claim, model, vectors)),
        )
        .await
    }

    /// Gives the claim back: with a problem it is tried again at `again`, or has failed for good.
    pub async fn end_claim(
        &self,
        tenant: TenantId,
        claim: &ClaimedDocument,
        end: &ClaimEnd,
        at: Timestamp,
    ) -> StoreResult<()> {
        self.write((tenant, claim.clone(), end.clone(), at), |(tenant, claim, end, at), tx| {
            Box::pin(finish(tx, *tenant, claim, end, *at))
        })
        .await
    }
}

async fn take(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    work: IngestWork,
    claim: Uuid,
    now: Timestamp,
    until: Timestamp,
) -> StoreResult<Option<ClaimedDocument>> {
    let sql = locking!(
        tx,
        "select d.id from documents d
         where d.tenant_id = $1 and (d.due_at <= $2 or d.due_at > $4) and d.wants_ocr = $3
           and (d.claimed_until is null or d.claimed_until < $2 or d.claimed_until > $4)
           and (d.job_id is null or not exists (
               select 1 from ingest_jobs j where j.tenant_id = $1 and j.id = d.job_id and j.state = 'paused'))
         order by case d.origin when 'workspace' then 2 when 'path' then 1 else 0 end,
             case d.status when 'waiting' then 0 else 1 end, d.due_at, d.number limit 1",
        "for update of d skip locked"
    );
    let Some(found) =
        tx.row(sql, args![tenant, now, i64::from(work == IngestWork::Ocr), now.plus(LONGEST_WAIT)]).await?
    else {
        return Ok(None);
    };
    let id = DocumentId(found.id(0)?);
    let sql = "update documents set claim = $3, claimed_until = $4, attempts = attempts + 1
               where tenant_id = $1 and id = $2";
    tx.execute(sql, args![tenant, id, claim, until]).await?;
    let sql = select_document!("where d.tenant_id = $1 and d.id = $2");
    let row = tx.row(sql, args![tenant, id]).await?;
    Ok(row.as_ref().map(document_of).transpose()?.map(|document| ClaimedDocument { document, claim }))
}

fn lost(claim: &ClaimedDocument) -> StoreError {
    StoreError::NotFound(format!("the claim on document {}", claim.document.id))
}

/// Fails if the claim is not the document's any more.
async fn holds(tx: &mut Tx<'_>, tenant: TenantId, claim: &ClaimedDocument) -> StoreResult<()> {
    let sql = locking!(tx, "select 1 from documents where tenant_id = $1 and id = $2 and claim = $3", "for update");
    let found = tx.row(sql, args![tenant, claim.document.id, claim.claim]).await?;
    found.map(drop).ok_or_else(|| lost(claim))
}

async fn save_chunks(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    claim: &ClaimedDocument,
    read: &ReadDocument,
    at: Timestamp,
) -> StoreResult<()> {
    holds(tx, tenant, claim).await?;
    let document = &claim.document;
    for sql in [
        "delete from chunks where tenant_id = $1 and number = $2",
        "delete from chunk_vectors where tenant_id = $1 and number = $2",
    ] {
        tx.execute(sql, args![tenant, document.number]).await?;
    }
    for (chunk, row) in (0u32..).zip(&read.chunks) {
        let body = ChunkBody {
            headings: row.headings.clone(),
            first_page: row.first_page,
            last_page: row.last_page,
            areas: row.areas.clone(),
            method: row.method.clone(),
        };
        let sql = "insert into chunks (tenant_id, number, chunk, text, body) values ($1, $2, $3, $4, $5)";
        tx.execute(sql, args![tenant, document.number, chunk, &row.text, to_json(&body)?]).await?;
    }
    let change = note_change(tx, tenant, document.number).await?;
    let sql = "update documents set status = $3, chunks = $4, embedded = 0, facts = $5, changed_at = $6,
                   content_change = $7, folded = $8, problem = null
               where tenant_id = $1 and id = $2";
    let chunks = u32::try_from(read.chunks.len()).unwrap_or(u32::MAX);
    let folded = search_text(&document.name, &document.source, read.facts.title.as_deref());
    let (status, facts) = (DocumentStatus::Embedding.as_str(), to_json(&read.facts)?);
    tx.run(sql, args![tenant, document.id, status, chunks, facts, at, change, folded]).await
}

async fn save_vectors(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    claim: &ClaimedDocument,
    model: &str,
    vectors: &[ChunkVector],
) -> StoreResult<()> {
    holds(tx, tenant, claim).await?;
    let number = claim.document.number;
    for one in vectors {
        let sql = "insert into chunk_vectors (tenant_id, number, model, chunk, vector) values ($1, $2, $3, $4, $5)
                   on conflict (tenant_id, number, model, chunk) do update set vector = excluded.vector";
        tx.execute(sql, args![tenant, number, model, one.chunk, packed(&one.vector)]).await?;
    }
    // What failed before counts no more once there is something new.
    let sql = "update documents set embedded = (
                   case when status = 'ready' then embedded else (
                       select count(*) from chunk_vectors v
                       where v.tenant_id = $1 and v.number = $2 and v.model = $3) end),
                   attempts = 1
               where tenant_id = $1 and number = $2";
    tx.run(sql, args![tenant, number, model]).await
}

async fn finish(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    claim: &ClaimedDocument,
    end: &ClaimEnd,
    at: Timestamp,
) -> StoreResult<()> {
    holds(tx, tenant, claim).await?;
    let id = claim.document.id;
    match end {
        ClaimEnd::Ready => {
            let change = note_change(tx, tenant, claim.document.number).await?;
            let sql = "update documents set status = 'ready', problem = null, due_at = null, claim = null,
                           claimed_until = null, changed_at = $3, content_change = $4, wants_ocr = 0
                       where tenant_id = $1 and id = $2";
            tx.execute(sql, args![tenant, id, at, change]).await?;
            switch_if_complete(tx, tenant, claim.document.collection).await?;
        }
        ClaimEnd::Read => {
            let sql = "update documents set due_at = $3, attempts = 0, claim = null, claimed_until = null
                       where tenant_id = $1 and id = $2";
            tx.execute(sql, args![tenant, id, at]).await?;
        }
        ClaimEnd::Ocr(facts) => {
            let sql = "update documents set status = 'waiting', problem = null, due_at = $3, attempts = 0, facts = $4,
                           wants_ocr = 1, claim = null, claimed_until = null, changed_at = $3
                       where tenant_id = $1 and id = $2";
            tx.execute(sql, args![tenant, id, at, to_json(facts)?]).await?;
        }
        ClaimEnd::Again { problem, at: again } => {
            let sql = "update documents set problem = $3, due_at = $4, claim = null, claimed_until = null,
                           changed_at = $5
                       where tenant_id = $1 and id = $2";
            tx.execute(sql, args![tenant, id, to_json(problem)?, *again, at]).await?;
        }
        ClaimEnd::Failed(problem) => {
            // One whose vectors were to be made anew is found by those that it has.
            let sql = "update documents set status = case when status = 'ready' then status else 'failed' end,
                           problem = $3, due_at = null, claim = null,
                           claimed_until = null, changed_at = $4
                       where tenant_id = $1 and id = $2";
            tx.execute(sql, args![tenant, id, to_json(problem)?, at]).await?;
        }
    }
    Ok(())
}

/// 16-bit integers, the lowest byte first, 1.0 as 32,767: of a vector of length 1 no number is beyond that.
fn packed(vector: &[f32]) -> Vec<u8> {
    #[expect(clippy::cast_possible_truncation, reason = "clamped before")]
    let number = |value: &f32| (value.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16;
    vector.iter().flat_map(|value| number(value).to_le_bytes()).collect()
}

pub(super) fn unpacked(bytes: &[u8]) -> Vec<f32> {
    let number = |pair: &[u8]| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / f32::from(i16::MAX);
    bytes.chunks_exact(2).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::{packed, unpacked};

    #[test]
    fn vectors_are_what_they_were_to_four_digits() {
        let vector = [0.0, 1.0, -1.0, 0.123_456, -0.5];
        let got = unpacked(&packed(&vector));
        assert!(vector.iter().zip(&got).all(|(a, b)| (a - b).abs() < 2e-5), "{got:?}");
        assert_eq!(packed(&vector).len(), 10);
    }
}
