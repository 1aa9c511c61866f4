use super::store_result::{Page, StoreResult};
use crate::document::{
    ChunkArea, Chunking, Collection, Document, DocumentOrigin, DocumentProblem, DocumentStatus, IngestJob, JobState,
    ReadingFacts, Rerank, SearchWeights, WatchedPath,
};
use crate::governance::Classification;
use crate::{AgentId, CollectionId, DocumentId, IngestJobId, TenantId, Timestamp, UserId, WatchedPathId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// A document that is handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    pub id: DocumentId,
    pub collection: CollectionId,
    pub name: String,
    pub origin: DocumentOrigin,
    /// With the origin, what it is in its collection: the same again is this document, maybe with other content.
    pub source: String,
    pub bytes: u64,
    pub sha256: String,
    pub classification: Option<Classification>,
    pub job: Option<IngestJobId>,
    pub added_by: Option<UserId>,
    pub at: Timestamp,
}

/// What became of a document that was handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It waits for its turn.
    New(Document),
    /// Its source was there with other content, and waits for its turn.
    Changed(Document),
    /// The same source with the same content is there.
    Unchanged(Document),
    /// Another one of the collection, this one, has the content; there is a row for it that waits for that one's end.
    Duplicate(Document),
}

impl Added {
    pub fn document(&self) -> &Document {
        match self {
            Self::New(one) | Self::Changed(one) | Self::Unchanged(one) | Self::Duplicate(one) => one,
        }
    }
}

/// A document that this process works on until its claim ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDocument {
    pub document: Document,
    /// Proves the claim; whoever claims it after that makes a new one.
    pub claim: Uuid,
}

/// What a document waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IngestWork {
    /// That its file is read and its chunks are embedded.
    Text,
    /// That its pages that are pictures are read as well, which takes long.
    Ocr,
}

/// What a file said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadDocument {
    pub facts: ReadingFacts,
    /// In order; their numbers are their places.
    pub chunks: Vec<ChunkRow>,
}

/// A chunk of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChunkRow {
    pub text: String,
    /// The headings that it stands under, the outermost first.
    pub headings: Vec<String>,
    /// From 1.
    pub first_page: u32,
    pub last_page: u32,
    pub areas: Vec<ChunkArea>,
    /// How it was cut.
    pub method: String,
}

impl ChunkRow {
    /// Whether a part of it stands on this page.
    pub fn is_on(&self, page: u32) -> bool {
        (self.first_page..=self.last_page).contains(&page)
    }
}

/// A chunk by its document's number and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChunkKey {
    pub document: u32,
    pub chunk: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChunkVector {
    pub chunk: u32,
    /// Of length 1.
    pub vector: Vec<f32>,
}

/// What filters of a search look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFacts {
    pub id: DocumentId,
    pub collection: CollectionId,
    pub doc_type: String,
    pub name: String,
    pub source: String,
    pub added_at: Timestamp,
    pub chunks: u32,
    pub agents: Arc<[AgentId]>,
}

/// That a document is another now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentChange {
    /// Rises with each change of a tenant's documents.
    pub seq: u64,
    pub document: u32,
    /// `None`: it is gone, or nothing of it can be found yet.
    pub facts: Option<DocumentFacts>,
    /// The change that brought its chunks; that of the links to agents is none.
    pub content: u64,
}

/// Which documents; what is `None` is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Only what this user may see; `None`: what anybody may.
    pub visible_to: Option<UserId>,
    pub collection: Option<CollectionId>,
    pub status: Option<DocumentStatus>,
    pub job: Option<IngestJobId>,
    pub agent: Option<AgentId>,
    pub origin: Option<DocumentOrigin>,
    pub added_by: Option<UserId>,
    /// Part of the name, title or source.
    pub text: Option<String>,
    /// Those older than this document of the page before.
    pub after: Option<DocumentId>,
    pub limit: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only what this user may see; `None`: what anybody may.
    pub visible_to: Option<UserId>,
    pub created_by: Option<UserId>,
    pub after: Option<IngestJobId>,
    pub limit: u32,
}

/// What is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CollectionChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub chunking: Option<Chunking>,
    pub weights: Option<SearchWeights>,
    pub classification: Option<Option<Classification>>,
    pub rerank: Option<Rerank>,
}

/// The vectors of a collection, as searches use them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionVectors {
    pub collection: CollectionId,
    /// The model that they are of; `None`: none was made yet.
    pub model: Option<String>,
    pub dimension: Option<u32>,
    /// The model that they will be of.
    pub next: Option<String>,
    pub next_dimension: Option<u32>,
}

#[async_trait]
pub trait Collections: Send + Sync {
    /// A name that another has is a conflict.
    async fn create_collection(&self, tenant: TenantId, collection: &Collection) -> StoreResult<()>;
    async fn change_collection(
        &self,
        tenant: TenantId,
        id: CollectionId,
        change: &CollectionChange,
    ) -> StoreResult<Collection>;
    /// With its jobs, watched paths and grants; a conflict while it has documents.
    async fn remove_collection(&self, tenant: TenantId, id: CollectionId) -> StoreResult<()>;
    async fn collection(&self, tenant: TenantId, id: CollectionId) -> StoreResult<Option<Collection>>;
    async fn collection_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Collection>>;
    /// All that the user may see, or all, by name.
    async fn collections(&self, tenant: TenantId, visible_to: Option<UserId>) -> StoreResult<Vec<Collection>>;
    async fn save_watched_path(&self, tenant: TenantId, path: &WatchedPath) -> StoreResult<()>;
    async fn remove_watched_path(&self, tenant: TenantId, id: WatchedPathId) -> StoreResult<()>;
    async fn watched_paths(&self, tenant: TenantId) -> StoreResult<Vec<WatchedPath>>;
}

/// Which model the vectors of a collection are of.
#[async_trait]
pub trait EmbeddedCollections: Send + Sync {
    /// Of all collections.
    async fn collection_vectors(&self, tenant: TenantId) -> StoreResult<Vec<CollectionVectors>>;
    /// Says which model a collection's vectors are of, unless it has one; answers which one new vectors are made with: the
    /// next one, if it is on its way to that.
    async fn fix_embedding_model(&self, tenant: TenantId, id: CollectionId, model: &str) -> StoreResult<String>;
    /// Says how many numbers the vectors of a collection's model, or of its next one, have, unless that is known; answers
    /// how many they have then. `NotFound`: it has not this model.
    async fn fix_dimension(&self, tenant: TenantId, id: CollectionId, model: &str, dimension: u32) -> StoreResult<u32>;
    /// Has vectors of another model made of all that is in the collection. The model that it has ends the way to another.
    async fn change_embedding_model(
        &self,
        tenant: TenantId,
        id: CollectionId,
        model: &str,
        at: Timestamp,
    ) -> StoreResult<()>;
    /// Has the documents that lack vectors of the next model tried again; answers how many.
    async fn retry_embedding(&self, tenant: TenantId, id: CollectionId, at: Timestamp) -> StoreResult<u64>;
}

/// Documents as rows, and the jobs that they came with.
#[async_trait]
pub trait Documents: Send + Sync {
    async fn add_document(&self, tenant: TenantId, document: &NewDocument) -> StoreResult<Added>;
    async fn document(&self, tenant: TenantId, id: DocumentId) -> StoreResult<Option<Document>>;
    async fn document_by_source(
        &self,
        tenant: TenantId,
        collection: CollectionId,
        origin: DocumentOrigin,
        source: &str,
    ) -> StoreResult<Option<Document>>;
    /// The newest first.
    async fn documents(&self, tenant: TenantId, filter: &DocumentFilter) -> StoreResult<Page<Document>>;
    /// With its chunks, vectors and links. A duplicate of it takes its place. Answers the hash of its content, if no other
    /// document has that.
    async fn remove_document(&self, tenant: TenantId, id: DocumentId, at: Timestamp) -> StoreResult<Option<String>>;
    /// Has it read anew; what there is of it stays until then.
    async fn requeue_document(&self, tenant: TenantId, id: DocumentId, at: Timestamp) -> StoreResult<Document>;

    /// Links a document to an agent, or takes the link away.
    async fn link_document(&self, tenant: TenantId, id: DocumentId, agent: AgentId, linked: bool) -> StoreResult<()>;
    async fn agents_of_document(&self, tenant: TenantId, id: DocumentId) -> StoreResult<Vec<AgentId>>;

    async fn create_job(&self, tenant: TenantId, job: &IngestJob) -> StoreResult<()>;
    async fn job(&self, tenant: TenantId, id: IngestJobId) -> StoreResult<Option<IngestJob>>;
    /// The newest first.
    async fn jobs(&self, tenant: TenantId, filter: &JobFilter) -> StoreResult<Page<IngestJob>>;
    async fn set_job_state(&self, tenant: TenantId, id: IngestJobId, state: JobState) -> StoreResult<()>;
    /// Has all documents of a job that failed read again; answers how many.
    async fn retry_job(&self, tenant: TenantId, id: IngestJobId, at: Timestamp) -> StoreResult<u64>;
}

/// The work on documents that wait for it.
#[async_trait]
pub trait Ingest: Send + Sync {
    /// The one that waits longest for this work: what somebody sent before files of folders, and these before those of the workspace. Each
    /// claim counts as an attempt.
    async fn claim_document(
        &self,
        tenant: TenantId,
        work: IngestWork,
        claim: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreResult<Option<ClaimedDocument>>;
    /// `NotFound`: the claim is over, or the document gone.
    async fn extend_claim(&self, tenant: TenantId, claim: &ClaimedDocument, until: Timestamp) -> StoreResult<()>;
    /// Notes how far its reading is.
    async fn save_facts(&self, tenant: TenantId, claim: &ClaimedDocument, facts: &ReadingFacts) -> StoreResult<()>;
    /// Puts these chunks into the place of those that there are; they are found by words from now on.
    async fn save_chunks(
        &self,
        tenant: TenantId,
        claim: &ClaimedDocument,
        read: &ReadDocument,
        at: Timestamp,
    ) -> StoreResult<()>;
    async fn save_vectors(
        &self,
        tenant: TenantId,
        claim: &ClaimedDocument,
        model: &str,
        vectors: &[ChunkVector],
    ) -> StoreResult<()>;
    /// Gives the claim back: with a problem it is tried again at `again`, or has failed for good.
    async fn end_claim(
        &self,
        tenant: TenantId,
        claim: &ClaimedDocument,
        end: &ClaimEnd,
        at: Timestamp,
    ) -> StoreResult<()>;
}

/// What indexes are built from.
#[async_trait]
pub trait Chunks: Send + Sync {
    /// Changes after `seq`, at most `limit`, each document with what it is now.
    async fn document_changes(&self, tenant: TenantId, seq: u64, limit: u32) -> StoreResult<Vec<DocumentChange>>;
    /// The number of the last change.
    async fn last_document_change(&self, tenant: TenantId) -> StoreResult<u64>;
    /// All chunks of a document, in order.
    async fn document_chunks(&self, tenant: TenantId, number: u32) -> StoreResult<Vec<ChunkRow>>;
    /// Those chunks of a document that have a vector of the model.
    async fn document_vectors(&self, tenant: TenantId, number: u32, model: &str) -> StoreResult<Vec<ChunkVector>>;
    /// These chunks, in this order; those that are gone are left out.
    async fn chunks(&self, tenant: TenantId, keys: &[ChunkKey]) -> StoreResult<Vec<(ChunkKey, ChunkRow)>>;
}

/// All that is kept of documents.
pub trait DocumentStore: Collections + EmbeddedCollections + Documents + Ingest + Chunks {}

impl<T: Collections + EmbeddedCollections + Documents + Ingest + Chunks> DocumentStore for T {}

/// How the work on a document ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimEnd {
    /// All of it is found.
    Ready,
    /// It is found by words; vectors are made of it once others have come as far.
    Read,
    /// What is text is found; it waits for [`IngestWork::Ocr`].
    Ocr(ReadingFacts),
    /// It is tried again then.
    Again { problem: DocumentProblem, at: Timestamp },
    /// Nobody tries again by himself.
    Failed(DocumentProblem),
}
