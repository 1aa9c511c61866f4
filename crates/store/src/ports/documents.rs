//! Documents as rows, and the jobs that they came with.

use super::collection_models::switch_if_complete;
use super::collections::{source_key, visible};
use super::document_changes::{count_up, note_change, number};
use crate::codec::{fold, from_json, from_word, page_size, pattern, to_json};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use steward_core::document::{
    Document, DocumentOrigin, DocumentStatus, IngestJob, JobProgress, JobState, ReadingFacts,
};
use steward_core::governance::Classification;
use steward_core::ports::{Added, DocumentFilter, JobFilter, NewDocument, Page, StoreError, StoreResult};
use steward_core::{AgentId, CollectionId, DocumentId, IngestJobId, TenantId, Timestamp, UserId};

macro_rules! select_document {
    ($rest:expr) => {
        concat!(
            "select d.id, d.number, d.collection_id, d.name, d.origin, d.source, d.bytes, d.sha256, d.status, d.problem,
                    d.attempts, d.chunks, d.embedded, d.facts, d.classification, d.job_id, d.added_by, d.added_at,
                    d.changed_at
             from documents d ",
            $rest
        )
    };
}

pub(super) use select_document;

impl Store {
    pub async fn add_document(&self, tenant: TenantId, document: &NewDocument) -> StoreResult<Added> {
        self.write((tenant, document.clone()), |(tenant, document), tx| Box::pin(add(tx, *tenant, document))).await
    }

    pub async fn document(&self, tenant: TenantId, id: DocumentId) -> StoreResult<Option<Document>> {
        let sql = select_document!("where d.tenant_id = $1 and d.id = $2");
        self.first(sql, args![tenant, id], document_of).await
    }

    /// The newest first.
    pub async fn documents(&self, tenant: TenantId, filter: &DocumentFilter) -> StoreResult<Page<Document>> {
        let limit = page_size(filter.limit);
        let sql = select_document!(concat!(
            "where d.tenant_id = $1
               and ($3 is null or d.collection_id = $3)
               and ($4 is null or d.status = $4)
               and ($5 is null or d.job_id = $5)
               and ($6 is null or exists (select 1 from document_agents a where a.tenant_id = $1
                                          and a.document_id = d.id and a.agent_id = $6))
               and ($7 is null or d.origin = $7)
               and ($8 is null or d.folded like $8 escape '\\')
               and ($11 is null or d.added_by = $11)
               and ($9 is null or d.number < coalesce((select b.number from documents b
                                                       where b.tenant_id = $1 and b.id = $9), 0))
               and ",
            visible!("$2", "d.collection_id"),
            " order by d.number desc limit $10"
        ));
        let args = args![
            tenant,
            filter.visible_to,
            filter.collection,
            filter.status.map(DocumentStatus::as_str),
            filter.job,
            filter.agent,
            filter.origin.map(DocumentOrigin::as_str),
            pattern(filter.text.as_deref())?,
            filter.after,
            limit + 1,
            filter.added_by
        ];
        self.page(sql, args, limit, document_of).await
    }

    /// With its chunks, vectors and links. A duplicate of it takes its place. Answers the hash of its content, if no other
    /// document has that.
    pub async fn remove_document(
        &self,
        tenant: TenantId,
        id: DocumentId,
        at: Timestamp,
    ) -> StoreResult<Option<String>> {
        self.write((tenant, id, at), |(tenant, id, at), tx| Box::pin(remove(tx, *tenant, *id, *at))).await
    }

    /// Has it read anew; what there is of it stays until then.
    pub async fn requeue_document(&self, tenant: TenantId, id: DocumentId, at: Timestamp) -> StoreResult<Document> {
        self.write((tenant, id, at), |(tenant, id, at), tx| Box::pin(requeue(tx, *tenant, *id, *at))).await
    }

    /// Links a document to an agent, or takes the link away.
    pub async fn link_document(
        &self,
        tenant: TenantId,
        id: DocumentId,
        agent: AgentId,
        linked: bool,
    ) -> StoreResult<()> {
        self.write((tenant, id, agent, linked), |(tenant, id, agent, linked), tx| {
            Box::pin(link(tx, *tenant, *id, *agent, *linked))
        })
        .await
    }

    pub async fn agents_of_document(&self, tenant: TenantId, id: DocumentId) -> StoreResult<Vec<AgentId>> {
        let sql = "select agent_id from document_agents where tenant_id = $1 and document_id = $2 order by agent_id";
        self.rows(sql, args![tenant, id]).await?.iter().map(|row| row.id(0).map(AgentId)).collect()
    }

    pub async fn create_job(&self, tenant: TenantId, job: &IngestJob) -> StoreResult<()> {
        let sql = "insert into ingest_jobs (tenant_id, id, collection_id, label, state, created_by, created_at)
                   values ($1, $2, $3, $4, $5, $6, $7)";
        let state = job.state.as_str();
        let args = args![tenant, job.id, job.collection, &job.label, state, job.created_by, job.created_at];
        self.run(sql, args).await
    }

    pub async fn job(&self, tenant: TenantId, id: IngestJobId) -> StoreResult<Option<IngestJob>> {
        let sql = "select id, collection_id, label, state, created_by, created_at from ingest_jobs
                   where tenant_id = $1 and id = $2";
        match self.first(sql, args![tenant, id], job_of).await? {
            Some(job) => self.with_progress(tenant, job).await.map(Some),
            None => Ok(None),
        }
    }

    /// The newest first.
    pub async fn jobs(&self, tenant: TenantId, filter: &JobFilter) -> StoreResult<Page<IngestJob>> {
        let limit = page_size(filter.limit);
        let sql = concat!(
            "select j.id, j.collection_id, j.label, j.state, j.created_by, j.created_at from ingest_jobs j
             where j.tenant_id = $1 and ($3 is null or j.id < $3) and ($5 is null or j.created_by = $5) and ",
            visible!("$2", "j.collection_id"),
            " order by j.id desc limit $4"
        );
        let args = args![tenant, filter.visible_to, filter.after, limit + 1, filter.created_by];
        let mut page = self.page(sql, args, limit, job_of).await?;
        for job in &mut page.items {
            *job = self.with_progress(tenant, job.clone()).await?;
        }
        Ok(page)
    }

    pub async fn set_job_state(&self, tenant: TenantId, id: IngestJobId, state: JobState) -> StoreResult<()> {
        let sql = "update ingest_jobs set state = $3 where tenant_id = $1 and id = $2";
        let done = self.execute(sql, args![tenant, id, state.as_str()]).await?;
        require_changed(done, || format!("job {id}"))
    }

    /// Has all documents of a job that failed read again; answers how many.
    pub async fn retry_job(&self, tenant: TenantId, id: IngestJobId, at: Timestamp) -> StoreResult<u64> {
        let sql = "update documents set status = 'waiting', problem = null, attempts = 0, due_at = $3, changed_at = $3, wants_ocr = 0
                   where tenant_id = $1 and job_id = $2 and status = 'failed'";
        Ok(self.execute(sql, args![tenant, id, at]).await?)
    }

    async fn with_progress(&self, tenant: TenantId, mut job: IngestJob) -> StoreResult<IngestJob> {
        let sql = "select status, count(*) from documents where tenant_id = $1 and job_id = $2 group by status";
        let mut progress = JobProgress::default();
        for row in self.rows(sql, args![tenant, job.id]).await? {
            let count = match from_word("a document's status", row.text(0)?)? {
                DocumentStatus::Waiting => &mut progress.waiting,
                DocumentStatus::Embedding => &mut progress.embedding,
                DocumentStatus::Ready => &mut progress.ready,
                DocumentStatus::Failed => &mut progress.failed,
                DocumentStatus::Duplicate => &mut progress.duplicate,
            };
            *count = row.count(1)?;
        }
        job.progress = progress;
        Ok(job)
    }
}

pub(super) fn document_of(row: &Row) -> StoreResult<Document> {
    Ok(Document {
        id: DocumentId(row.id(0)?),
        number: number(row, 1)?,
        collection: CollectionId(row.id(2)?),
        name: row.text(3)?,
        origin: from_word("a document's origin", row.text(4)?)?,
        source: row.text(5)?,
        bytes: row.count(6)?,
        sha256: row.text(7)?,
        status: from_word("a document's status", row.text(8)?)?,
        problem: row.opt_text(9)?.map(|text| from_json("a document", &text)).transpose()?,
        attempts: number(row, 10)?,
        chunks: number(row, 11)?,
        embedded: number(row, 12)?,
        facts: from_json("a document", &row.text(13)?)?,
        classification: row.opt_text(14)?.map(|word| from_word("a document's classification", word)).transpose()?,
        job: row.opt_id(15)?.map(IngestJobId),
        added_by: row.opt_id(16)?.map(UserId),
        added_at: row.time(17)?,
        changed_at: row.time(18)?,
    })
}

fn job_of(row: &Row) -> StoreResult<IngestJob> {
    Ok(IngestJob {
        id: IngestJobId(row.id(0)?),
        collection: CollectionId(row.id(1)?),
        label: row.text(2)?,
        state: from_word("a job's state", row.text(3)?)?,
        created_by: row.opt_id(4)?.map(UserId),
        created_at: row.time(5)?,
        progress: JobProgress::default(),
    })
}

pub(super) async fn add(tx: &mut Tx<'_>, tenant: TenantId, new: &NewDocument) -> StoreResult<Added> {
    let key = source_key(new.origin, &new.source);
    let sql = locking!(
        tx,
        select_document!("where d.tenant_id = $1 and d.collection_id = $2 and d.source_key = $3"),
        "for update"
    );
    let known = tx.row(sql, args![tenant, new.collection, &key]).await?.as_ref().map(document_of).transpose()?;
    if let Some(known) = &known
        && known.sha256 == new.sha256
    {
        return Ok(Added::Unchanged(known.clone()));
    }
    let sql = select_document!(
        "where d.tenant_id = $1 and d.collection_id = $2 and d.sha256 = $3 and d.status <> 'duplicate' limit 1"
    );
    let same = tx.row(sql, args![tenant, new.collection, &new.sha256]).await?.as_ref().map(document_of).transpose()?;
    let (status, due) = match same {
        Some(_) => (DocumentStatus::Duplicate, None),
        None => (DocumentStatus::Waiting, Some(new.at)),
    };
    let id = if let Some(known) = &known {
        change_content(tx, tenant, known, new, status, due).await?;
        known.id
    } else {
        insert(tx, tenant, new, &key, status, due).await?;
        new.id
    };
    let document = locked(tx, tenant, id).await?;
    Ok(match (same, known) {
        (Some(same), _) => Added::Duplicate(same),
        (None, Some(_)) => Added::Changed(document),
        (None, None) => Added::New(document),
    })
}

async fn insert(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    new: &NewDocument,
    key: &str,
    status: DocumentStatus,
    due: Option<Timestamp>,
) -> StoreResult<()> {
    let (number, _) = count_up(tx, tenant, 1).await?;
    let sql = "insert into documents (tenant_id, id, number, collection_id, name, origin, source, source_key, sha256,
                   bytes, status, attempts, chunks, embedded, facts, classification, job_id, added_by, added_at,
                   changed_at, due_at, content_change, folded)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, 0, $12, $13, $14, $15, $16, $16, $17, 0, $18)";
    let args = args![
        tenant,
        new.id,
        number,
        new.collection,
        &new.name,
        new.origin.as_str(),
        &new.source,
        key,
        &new.sha256,
        new.bytes,
        status.as_str(),
        to_json(&ReadingFacts::default())?,
        new.classification.map(Classification::as_str),
        new.job,
        new.added_by,
        new.at,
        due,
        search_text(&new.name, &new.source, None)
    ];
    tx.run(sql, args).await
}

/// The chunks that there are stay until the new content was read; a duplicate needs none.
async fn change_content(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    known: &Document,
    new: &NewDocument,
    status: DocumentStatus,
    due: Option<Timestamp>,
) -> StoreResult<()> {
    let sql = "update documents set sha256 = $3, bytes = $4, status = $5, problem = null, attempts = 0, wants_ocr = 0, job_id = $6,
                   changed_at = $7, due_at = $8, claim = null, claimed_until = null, lost_at = null
               where tenant_id = $1 and id = $2";
    let args = args![tenant, known.id, &new.sha256, new.bytes, status.as_str(), new.job, new.at, due];
    tx.execute(sql, args).await?;
    if status == DocumentStatus::Duplicate && known.chunks > 0 {
        clear(tx, tenant, known.number).await?;
        note_change(tx, tenant, known.number).await?;
    }
    release_duplicate(tx, tenant, known, new.at).await
}

pub(super) fn search_text(name: &str, source: &str, title: Option<&str>) -> String {
    fold(&format!("{name}\n{source}\n{}", title.unwrap_or_default()))
}

pub(super) async fn locked(tx: &mut Tx<'_>, tenant: TenantId, id: DocumentId) -> StoreResult<Document> {
    let sql = locking!(tx, select_document!("where d.tenant_id = $1 and d.id = $2"), "for update");
    let row = tx.row(sql, args![tenant, id]).await?;
    document_of(&row.ok_or_else(|| StoreError::NotFound(format!("document {id}")))?)
}

async fn clear(tx: &mut Tx<'_>, tenant: TenantId, number: u32) -> StoreResult<()> {
    for sql in [
        "delete from chunks where tenant_id = $1 and number = $2",
        "delete from chunk_vectors where tenant_id = $1 and number = $2",
        "update documents set chunks = 0, embedded = 0 where tenant_id = $1 and number = $2",
    ] {
        tx.execute(sql, args![tenant, number]).await?;
    }
    Ok(())
}

pub(super) async fn has_content(tx: &mut Tx<'_>, tenant: TenantId, sha256: &str) -> StoreResult<bool> {
    let sql = "select 1 from documents where tenant_id = $1 and sha256 = $2 limit 1";
    Ok(tx.row(sql, args![tenant, sha256]).await?.is_some())
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: DocumentId, at: Timestamp) -> StoreResult<Option<String>> {
    let document = locked(tx, tenant, id).await?;
    clear(tx, tenant, document.number).await?;
    tx.execute("delete from document_agents where tenant_id = $1 and document_id = $2", args![tenant, id]).await?;
    tx.execute("delete from documents where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    note_change(tx, tenant, document.number).await?;
    release_duplicate(tx, tenant, &document, at).await?;
    // It may have been the last that lacked vectors.
    switch_if_complete(tx, tenant, document.collection).await?;
    Ok((!has_content(tx, tenant, &document.sha256).await?).then_some(document.sha256))
}

/// The oldest duplicate of content that this document had is read now, if nothing else has it.
async fn release_duplicate(tx: &mut Tx<'_>, tenant: TenantId, had: &Document, at: Timestamp) -> StoreResult<()> {
    let sql = "update documents set status = 'waiting', due_at = $4, changed_at = $4, attempts = 0
               where tenant_id = $1 and number = (
                   select min(number) from documents
                   where tenant_id = $1 and collection_id = $2 and sha256 = $3 and status = 'duplicate')
                 and not exists (select 1 from documents d where d.tenant_id = $1 and d.collection_id = $2
                                 and d.sha256 = $3 and d.status <> 'duplicate')";
    tx.run(sql, args![tenant, had.collection, &had.sha256, at]).await
}

async fn requeue(tx: &mut Tx<'_>, tenant: TenantId, id: DocumentId, at: Timestamp) -> StoreResult<Document> {
    let document = locked(tx, tenant, id).await?;
    if document.status != DocumentStatus::Duplicate {
        let sql = "update documents set status = 'waiting', problem = null, attempts = 0, due_at = $3, changed_at = $3,
                       wants_ocr = 0, claim = null, claimed_until = null, lost_at = null
                   where tenant_id = $1 and id = $2";
        tx.execute(sql, args![tenant, id, at]).await?;
    }
    locked(tx, tenant, id).await
}

async fn link(tx: &mut Tx<'_>, tenant: TenantId, id: DocumentId, agent: AgentId, linked: bool) -> StoreResult<()> {
    let document = locked(tx, tenant, id).await?;
    let changed = if linked {
        let sql = "insert into document_agents (tenant_id, document_id, agent_id) values ($1, $2, $3)
                   on conflict (tenant_id, document_id, agent_id) do nothing";
        tx.execute(sql, args![tenant, id, agent]).await?
    } else {
        let sql = "delete from document_agents where tenant_id = $1 and document_id = $2 and agent_id = $3";
        tx.execute(sql, args![tenant, id, agent]).await?
    };
    if changed > 0 {
        note_change(tx, tenant, document.number).await?;
    }
    Ok(())
}
