//! Documents, the collections that they are in, and how far their ingest has come.

use crate::extracted::OcrEngine;
use crate::governance::Classification;
use crate::{CollectionId, DocumentId, IngestJobId, Timestamp, UserId, WatchedPathId};
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// How a text is cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Chunking {
    /// Longest chunk, characters.
    #[schema(minimum = 200, maximum = 4000)]
    pub max_chars: u32,
    /// Characters of the chunk before that a chunk begins with.
    #[schema(maximum = 2000)]
    pub overlap: u32,
}

impl Default for Chunking {
    fn default() -> Self {
        Self { max_chars: 1500, overlap: 300 }
    }
}

/// How much the two rankings count when they are joined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchWeights {
    /// Of the words.
    #[schema(minimum = 0, maximum = 1)]
    pub text: f32,
    /// Of the meaning.
    #[schema(minimum = 0, maximum = 1)]
    pub vectors: f32,
    /// Whether passages come before all others that hold rare codes, numbers and names of the question.
    pub exact_first: bool,
}

impl Default for SearchWeights {
    fn default() -> Self {
        Self { text: 0.3, vectors: 0.7, exact_first: true }
    }
}

/// A set of documents that are searched, shared and embedded alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Collection {
    /// Its id.
    pub id: CollectionId,
    /// Unique, whatever the case.
    pub name: String,
    /// What is in it, for people.
    pub description: String,
    /// How its documents are cut from now on.
    pub chunking: Chunking,
    /// How its rankings are joined.
    pub weights: SearchWeights,
    /// The model that its vectors are of; fixed by its first document. Unset: none was embedded yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub embedding_model: Option<String>,
    /// Numbers in these vectors. Unset: none was made yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub embedding_dimension: Option<u32>,
    /// How far it is on its way to another model; the vectors of `embedding_model` answer until all are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub re_embedding: Option<ReEmbedding>,
    /// Whether what is found in it is put into a better order by a model that reads it.
    #[serde(default)]
    pub rerank: Rerank,
    /// What its documents are at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub classification: Option<Classification>,
    /// Who made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub created_by: Option<UserId>,
    /// When, in milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// How many documents it has.
    pub documents: u64,
    /// How many chunks these have.
    pub chunks: u64,
}

/// A collection's way to another embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReEmbedding {
    /// The model that its vectors will be of.
    pub model: String,
    /// Documents that have all vectors of it.
    pub done: u64,
    /// Documents that need them.
    pub documents: u64,
}

/// What may put the passages that were found into a better order.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Rerank {
    /// Nothing.
    Off,
    /// The cross-encoder of this server, where one is installed.
    #[default]
    Local,
    /// The same, else the model of the agent's connection, if it is a capable one. That costs tokens.
    Auto,
}

/// Where a document came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DocumentOrigin {
    /// Somebody sent it.
    Upload,
    /// A file on the server; `source` is its path.
    Path,
    /// A file of the workspace; `source` is its path there.
    Workspace,
    /// A reference file of a skill package; `source` is the package's name and the file's path in it.
    Package,
}

impl DocumentOrigin {
    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How far the ingest of a document has come.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema, strum::Display, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DocumentStatus {
    /// Its turn comes.
    Waiting,
    /// Its text is found by words; vectors are still made.
    Embedding,
    /// It is found by words and by meaning.
    Ready,
    /// It could not be read or embedded; `problem` says why.
    Failed,
    /// Another document of the collection has the same content.
    Duplicate,
}

impl DocumentStatus {
    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Why a document, or a part of its ingest, failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DocumentProblem {
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// A file that is, or will be, found by its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// What indexes call it.
    #[serde(skip)]
    pub number: u32,
    /// The collection that it is in.
    pub collection: CollectionId,
    /// The file's name.
    pub name: String,
    /// Where it came from.
    pub origin: DocumentOrigin,
    /// Which one there: a path, or its hash.
    pub source: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// How far it has come.
    pub status: DocumentStatus,
    /// Why it failed, or why it has no vectors yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<DocumentProblem>,
    /// Tries so far.
    pub attempts: u32,
    /// How many of its chunks there are.
    pub chunks: u32,
    /// How many of them have vectors.
    pub embedded: u32,
    /// What reading it found.
    pub facts: ReadingFacts,
    /// What it is said to be; with what its collection says, the higher counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub classification: Option<Classification>,
    /// With which others it was handed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub job: Option<IngestJobId>,
    /// Who handed it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub added_by: Option<UserId>,
    /// When, in milliseconds since 1970 UTC.
    pub added_at: Timestamp,
    /// When anything of it last changed.
    pub changed_at: Timestamp,
}

/// What reading a file found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct ReadingFacts {
    /// What the content is: `pdf`, `docx`, `html`, … Empty: it was not read yet.
    pub doc_type: String,
    /// Its own title.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub title: Option<String>,
    /// Pages, sheets, slides or chapters.
    pub pages: u32,
    /// Pages that are pictures and were not read.
    pub scans: u32,
    /// How the characters of such pages were recognised. Unset: nobody has tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ocr: Option<OcrFacts>,
    /// What could not be read, in sentences.
    pub warnings: Vec<String>,
}

/// How the characters of pages that are pictures were recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct OcrFacts {
    /// Pages that are pictures.
    pub pages: u32,
    /// How many of them were looked at; fewer than `pages`: it is under way.
    pub done: u32,
    /// Percent, the mean of the pages on which there is a text. Unset: there is none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub confidence: Option<u8>,
    /// Those that were looked at, in order; empty in lists of documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<OcrPage>,
}

/// A page that is a picture, and who read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OcrPage {
    /// From 1.
    pub page: u32,
    /// Whose reading was kept. Unset: no engine found a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub engine: Option<OcrEngine>,
    /// Percent.
    pub confidence: u8,
}

/// Whether the documents of a job go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum JobState {
    /// Files are still looked for.
    Scanning,
    /// All files are known, and are worked on or done.
    Running,
    /// None of its documents is begun.
    Paused,
    /// Somebody ended it; what was waiting is gone.
    Cancelled,
}

impl JobState {
    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Documents that were handed in together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct IngestJob {
    /// Its id.
    pub id: IngestJobId,
    /// The collection that its documents are in.
    pub collection: CollectionId,
    /// What it is, for people, such as the folder.
    pub label: String,
    /// Whether it goes on.
    pub state: JobState,
    /// Who began it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub created_by: Option<UserId>,
    /// When, in milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// How far its documents are.
    pub progress: JobProgress,
}

/// Documents of a job by how far they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JobProgress {
    /// Whose turn comes.
    pub waiting: u64,
    /// That are found by words so far.
    pub embedding: u64,
    /// Done.
    pub ready: u64,
    /// That could not be read.
    pub failed: u64,
    /// That were there already.
    pub duplicate: u64,
}

/// A folder whose files are documents, also those that come later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WatchedPath {
    /// Its id.
    pub id: WatchedPathId,
    /// The collection that its files go to.
    pub collection: CollectionId,
    /// An absolute path on the server.
    pub path: String,
    /// When it was last looked through.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub scanned_at: Option<Timestamp>,
    /// Why it could not be looked through.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<DocumentProblem>,
}

/// A part of a page in fractions of its width and height, from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChunkArea {
    /// The page, from 1.
    pub page: u32,
    /// From the left.
    pub x: f32,
    /// From above.
    pub y: f32,
    /// To the right.
    pub width: f32,
    /// Down.
    pub height: f32,
}
