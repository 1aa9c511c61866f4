use crate::document::{
    ChunkArea, Chunking, Document, DocumentOrigin, DocumentProblem, DocumentStatus, ReadingFacts, Rerank, SearchWeights,
};
use crate::governance::Classification;
use crate::{AgentId, CollectionId, DocumentId, IngestJobId, Timestamp, UserId};
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
