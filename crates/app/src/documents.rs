//! Documents: handed in, listed, linked to agents, removed, and searched.

mod debug;
mod scan;
mod search;

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::collections::visible_to;
use crate::document_service::{Incoming, KeepError, Target};
use crate::dto::documents::{AddedAs, AddedDocument, Chunk, DocumentDetails, DocumentLink, JobRetried, Requeued};
use crate::dto::named::NamedRef;
use crate::inputs::given;
use crate::quotas::UploadPlace;
use bytes::Bytes;
use futures::{FutureExt as _, TryStreamExt as _};
use std::time::Duration;
use steward_core::agent::Agent;
use steward_core::document::{Chunking, Document, DocumentOrigin, DocumentStatus, IngestJob, JobState};
use steward_core::ports::{Added, DocumentFilter, JobFilter, Page};
use steward_core::{AgentId, CollectionId, DocumentId, IngestJobId};
use tokio::fs::File;

/// Longest name of a file, characters.
const MAX_NAME: usize = 255;
/// Documents that are looked at before others get their turn.
const AT_ONCE: u32 = 500;
/// Between two looks at a document that somebody waits for.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Which documents are done again; what is `None` is not looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Whose<'a> {
    /// Those linked to this agent, by id or name.
    pub agent: Option<&'a str>,
    /// Those of this collection, by id or name.
    pub collection: Option<&'a str>,
}

impl App {
    /// Takes a file in, which is read once all of it is there. The same file again is no error. `length`: its bytes, if they
    /// are known.
    pub async fn begin_document(
        &self,
        caller: &Caller,
        wish: &DocumentWish,
        length: Option<u64>,
    ) -> AppResult<DocumentUpload> {
        authorize(caller, Action::Read, Resource::Collections)?;
        // Before anything is sent that would be refused in the end.
        if let Some(collection) = given(wish.collection.as_deref()) {
            self.named_collection(caller, Action::Write, collection).await?;
        }
        self.linked_agent(caller, wish.agent.as_deref()).await?;
        let place = self.begin_counting(caller.user(), length).await?;
        let incoming = self.documents.originals.begin().await.map_err(|error| not_kept(&error))?;
        Ok(DocumentUpload { app: self.clone(), place, incoming })
    }

    pub async fn documents(&self, caller: &Caller, filter: DocumentFilter) -> AppResult<Page<Document>> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let filter = DocumentFilter { visible_to: visible_to(caller), ..filter };
        let mut page = self.store.documents(self.tenant(), &filter).await?;
        for ocr in page.items.iter_mut().filter_map(|document| document.facts.ocr.as_mut()) {
            ocr.read.clear();
        }
        Ok(page)
    }

    pub async fn document(&self, caller: &Caller, id: DocumentId) -> AppResult<DocumentDetails> {
        let document = self.document_for(caller, Action::Read, id).await?;
        let agents = self.store.agents_of_document(self.tenant(), id).await?;
        Ok(DocumentDetails { document, agents })
    }

    /// The file itself with its length, and its name.
    pub async fn document_content(&self, caller: &Caller, id: DocumentId) -> AppResult<(String, File, u64)> {
        let document = self.document_for(caller, Action::Read, id).await?;
        let (file, bytes) =
            self.documents.content(&document).await.map_err(|problem| {
                AppError::new(ErrorKind::NotFound, problem.message, problem.hint).code("file_gone")
            })?;
        Ok((document.name, file, bytes))
    }

    /// The chunks after the place `after`, in order; with `page`, only those that have a part on it.
    pub async fn document_chunks(
        &self,
        caller: &Caller,
        id: DocumentId,
        page: Option<u32>,
        after: Option<u32>,
        limit: u32,
    ) -> AppResult<Page<Chunk>> {
        let document = self.document_for(caller, Action::Read, id).await?;
        let rows = self.store.document_chunks(self.tenant(), document.number).await?;
        let first = after.map_or(0, |after| after.saturating_add(1));
        let mut items: Vec<Chunk> = (0u32..)
            .zip(rows)
            .filter(|(index, row)| *index >= first && page.is_none_or(|page| row.is_on(page)))
            .take(limit as usize + 1)
            .map(|(index, row)| Chunk::of(index, row))
            .collect();
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Ok(Page { items, more })
    }

    /// Has it read, cut and embedded again.
    pub async fn process_document(&self, caller: &Caller, id: DocumentId) -> AppResult<Document> {
        self.document_for(caller, Action::Write, id).await?;
        let document = self.store.requeue_document(self.tenant(), id, self.now()).await?;
        self.documents.work().await?;
        Ok(document)
    }

    /// With every trace of it: chunks, vectors, the file that was sent.
    pub async fn remove_document(&self, caller: &Caller, id: DocumentId) -> AppResult<()> {
        self.document_for(caller, Action::Write, id).await?;
        Ok(self.documents.remove(id).await?)
    }

    pub async fn link_document(&self, caller: &Caller, link: DocumentLink) -> AppResult<DocumentDetails> {
        let document = self.document_for(caller, Action::Read, link.document_id).await?;
        if let Some(agent) = self.linked_agent(caller, Some(&link.agent_id)).await? {
            self.store.link_document(self.tenant(), document.id, agent, link.linked).await?;
        }
        self.document(caller, document.id).await
    }

    /// Has all documents that failed, or have chunks without vectors, done again. References of packages that are missing
    /// are taken in first.
    pub async fn embed_pending(&self, caller: &Caller, of: Whose<'_>) -> AppResult<Requeued> {
        authorize(caller, Action::Write, Resource::Collections)?;
        if authorize(caller, Action::Write, Resource::Packages).is_ok() {
            let agent = self.linked_agent(caller, of.agent).await?;
            for package in self.packages_of(agent).await? {
                self.follow_references(&package, Some(caller.user())).await?;
            }
        }
        let retried = self.retry_next_vectors(caller, of).await?;
        let mut requeued = self
            .requeue_all(caller, of, |document| {
                document.embedded < document.chunks || document.status == DocumentStatus::Failed
            })
            .await?;
        requeued.documents += retried;
        Ok(requeued)
    }

    /// What lacks vectors of its collection's next model is tried again, without being read again.
    async fn retry_next_vectors(&self, caller: &Caller, of: Whose<'_>) -> AppResult<u64> {
        let named = given(of.collection);
        let mut done = 0;
        for collection in self.collections(caller).await?.into_iter().filter(|one| one.re_embedding.is_some()) {
            let meant = named.is_none_or(|name| name == collection.name || name == collection.id.to_string());
            let may = || self.collection_for(caller, Action::Write, collection.id);
            if meant && may().await.is_ok() {
                done += self.store.retry_embedding(self.tenant(), collection.id, self.now()).await?;
            }
        }
        Ok(done)
    }

    /// Has all documents read, cut and embedded again.
    pub async fn reindex_all(&self, caller: &Caller, of: Whose<'_>) -> AppResult<Requeued> {
        self.requeue_all(caller, of, |_| true).await
    }

    async fn requeue_all(
        &self,
        caller: &Caller,
        of: Whose<'_>,
        wanted: impl Fn(&Document) -> bool,
    ) -> AppResult<Requeued> {
        authorize(caller, Action::Write, Resource::Collections)?;
        let agent = self.linked_agent(caller, of.agent).await?;
        let of = match given(of.collection) {
            Some(name) => Some(self.named_collection(caller, Action::Write, name).await?),
            None => None,
        };
        let collection = of.as_ref().map(|one| one.id);
        let visible_to = visible_to(caller);
        let filter = DocumentFilter { agent, collection, visible_to, limit: AT_ONCE, ..DocumentFilter::default() };
        let mut done = 0;
        let mut chunking = of.map_or_else(Chunking::default, |one| one.chunking);
        let mut pages = self.documents.document_pages(filter);
        while let Some(page) = pages.try_next().await? {
            for document in page.iter().filter(|one| wanted(one)) {
                let Ok(collection) = self.collection_for(caller, Action::Write, document.collection).await else {
                    continue;
                };
                chunking = collection.chunking;
                self.store.requeue_document(self.tenant(), document.id, self.now()).await?;
                done += 1;
            }
        }
        self.documents.work().await?;
        Ok(Requeued { documents: done, chunk_size_used: chunking.max_chars, chunk_overlap_used: chunking.overlap })
    }

    pub async fn ingest_jobs(
        &self,
        caller: &Caller,
        after: Option<IngestJobId>,
        limit: u32,
    ) -> AppResult<Page<IngestJob>> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let filter = JobFilter { visible_to: visible_to(caller), after, limit, ..JobFilter::default() };
        Ok(self.store.jobs(self.tenant(), &filter).await?)
    }

    pub async fn ingest_job(&self, caller: &Caller, id: IngestJobId) -> AppResult<IngestJob> {
        self.job_for(caller, Action::Read, id).await
    }

    /// Pauses it, lets it go on, or ends it: what still waits is removed then.
    pub async fn set_job_state(&self, caller: &Caller, id: IngestJobId, state: JobState) -> AppResult<IngestJob> {
        let job = self.job_for(caller, Action::Write, id).await?;
        if job.state == JobState::Cancelled && state != JobState::Cancelled {
            return Err(AppError::conflict("job_cancelled", "the job was cancelled", "scan the folder again"));
        }
        self.store.set_job_state(self.tenant(), id, state).await?;
        if state == JobState::Cancelled {
            let not_begun =
                DocumentFilter { job: Some(id), status: Some(DocumentStatus::Waiting), ..DocumentFilter::default() };
            self.documents.remove_all(not_begun).await?;
        }
        self.documents.wake();
        self.job_for(caller, Action::Read, id).await
    }

    /// Has those of its documents read again that failed.
    pub async fn retry_job(&self, caller: &Caller, id: IngestJobId) -> AppResult<JobRetried> {
        self.job_for(caller, Action::Write, id).await?;
        let documents = self.store.retry_job(self.tenant(), id, self.now()).await?;
        self.documents.wake();
        Ok(JobRetried { job: id, documents })
    }

    async fn job_for(&self, caller: &Caller, action: Action, id: IngestJobId) -> AppResult<IngestJob> {
        let unknown = || AppError::not_found(format!("job {id}"));
        let job = self.store.job(self.tenant(), id).await?.ok_or_else(unknown)?;
        self.within(caller, action, job.collection).await?.ok_or_else(unknown)?;
        Ok(job)
    }

    pub(crate) async fn document_for(&self, caller: &Caller, action: Action, id: DocumentId) -> AppResult<Document> {
        let unknown = || AppError::not_found(format!("document {id}"));
        let document = self.store.document(self.tenant(), id).await?.ok_or_else(unknown)?;
        self.within(caller, action, document.collection).await?.ok_or_else(unknown)?;
        Ok(document)
    }

    /// `None`: the caller may not see the collection, nor know that there is one.
    async fn within(&self, caller: &Caller, action: Action, id: CollectionId) -> AppResult<Option<()>> {
        match self.collection_for(caller, action, id).await {
            Ok(_) => Ok(Some(())),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The agent of this id or name, whose documents the caller may change.
    async fn linked_agent(&self, caller: &Caller, agent: Option<&str>) -> AppResult<Option<AgentId>> {
        let agent = self.named_agent(caller, agent).await?;
        if let Some(agent) = &agent {
            authorize(caller, Action::Write, crate::agent_lookup::of(agent))?;
        }
        Ok(agent.map(|agent| agent.id))
    }

    /// Links an upload to the agents that take in what their users upload; answers those that it is linked to by now, with
    /// the chosen one.
    async fn link_upload(
        &self,
        caller: &Caller,
        document: DocumentId,
        chosen: Option<AgentId>,
    ) -> AppResult<Vec<NamedRef>> {
        let mut agents = self.usable_agents(caller).await?;
        agents.retain(|agent| agent.auto_link_uploads || Some(agent.id) == chosen);
        for agent in &agents {
            self.store.link_document(self.tenant(), document, agent.id, true).await?;
        }
        Ok(agents.into_iter().map(|agent| NamedRef { id: agent.id.0, name: Some(agent.name) }).collect())
    }

    /// An upload as it is once it has been read, or after `most`.
    pub async fn await_upload(&self, added: AddedDocument, most: Duration) -> AppResult<AddedDocument> {
        let mut document = added.document;
        let read = async {
            while matches!(document.status, DocumentStatus::Waiting | DocumentStatus::Embedding) {
                tokio::time::sleep(LOOK_AGAIN).await;
                match self.store.document(self.tenant(), document.id).await? {
                    Some(now) => document = now,
                    None => break,
                }
            }
            AppResult::Ok(())
        };
        if let Ok(read) = tokio::time::timeout(most, read.boxed()).await {
            read?;
        }
        Ok(AddedDocument { document, ..added })
    }

    /// The agent of this id or name, if one is named.
    pub(crate) async fn named_agent(&self, caller: &Caller, named: Option<&str>) -> AppResult<Option<Agent>> {
        match given(named) {
            Some(named) => self.agent_by_id_or_name(caller, named).await.map(Some),
            None => Ok(None),
        }
    }

    pub(crate) async fn agent_by_id_or_name(&self, caller: &Caller, wanted: &str) -> AppResult<Agent> {
        let found = match wanted.parse::<AgentId>() {
            Ok(id) => self.usable_agents(caller).await?.into_iter().find(|agent| agent.id == id),
            Err(_) => self.usable_agent(caller, wanted).await?,
        };
        found.ok_or_else(|| {
            AppError::invalid("agent_id", format!("there is no agent `{wanted}`"), "see GET /api/agents")
        })
    }
}

/// What a file is to become, as far as that is known.
#[derive(Debug, Clone, Default)]
pub struct DocumentWish {
    pub name: Option<String>,
    /// By id or name.
    pub collection: Option<String>,
    /// An agent that it is linked to, by id or name.
    pub agent: Option<String>,
}

impl DocumentWish {
    /// Its name, in one line.
    pub fn named(&self) -> AppResult<String> {
        file_name(self.name.as_deref().unwrap_or_default())
    }
}

/// A file that is being received; gone again unless it is finished.
pub struct DocumentUpload {
    app: App,
    place: UploadPlace,
    incoming: Incoming,
}

impl DocumentUpload {
    pub async fn write(&mut self, bytes: &Bytes) -> AppResult<()> {
        self.app.require_disk_room()?;
        self.place.take(bytes.len() as u64)?;
        self.incoming.write(bytes).await.map_err(|error| not_kept(&error))
    }

    /// Keeps it as `wish` says now, and has it read.
    pub async fn finish(self, caller: &Caller, wish: &DocumentWish) -> AppResult<AddedDocument> {
        let documents = &self.app.documents;
        let name = wish.named()?;
        let target = Target {
            collection: self.app.collection_to_fill(caller, wish.collection.as_deref()).await?.id,
            origin: DocumentOrigin::Upload,
            job: None,
            agent: self.app.linked_agent(caller, wish.agent.as_deref()).await?,
            user: Some(caller.user()),
        };
        let received = self.incoming.finish().await.map_err(|error| not_kept(&error))?;
        if received.facts.bytes == 0 {
            return Err(AppError::invalid("body", "the file is empty", "send a file with something in it"));
        }
        let added = documents.keep(received, name, None, &target).await.map_err(|error| match error {
            KeepError::File(error) => not_kept(&error),
            KeepError::Store(error) => error.into(),
        })?;
        self.place.keep();
        let document = added.document().clone();
        let linked = self.app.link_upload(caller, document.id, target.agent).boxed().await?;
        documents.work().await?;
        Ok(AddedDocument { added: kind_of(&added), document, linked })
    }
}

fn kind_of(added: &Added) -> AddedAs {
    match added {
        Added::New(_) => AddedAs::New,
        Added::Changed(_) => AddedAs::Changed,
        Added::Unchanged(_) => AddedAs::Unchanged,
        Added::Duplicate(_) => AddedAs::Duplicate,
    }
}

/// The last part of a path, as a name in one line.
fn file_name(given: &str) -> AppResult<String> {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let name: String = last.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    if name.is_empty() {
        return Err(AppError::invalid("name", "the file has no name", "give one, such as report.pdf"));
    }
    Ok(name)
}

fn not_kept(error: &std::io::Error) -> AppError {
    tracing::error!(%error, "a document could not be kept");
    AppError::new(
        ErrorKind::Unavailable,
        "the file could not be kept",
        "check the data folder's rights and free space, then send it again",
    )
}
