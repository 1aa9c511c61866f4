use super::named::NamedRef;
use serde::{Deserialize, Serialize};
use steward_core::document::{ChunkArea, Chunking, Document, Rerank, SearchWeights};
use steward_core::governance::Classification;
use steward_core::ports::ChunkRow;
use steward_core::{AgentId, CollectionId, DocumentId, IngestJobId, Timestamp};
use utoipa::ToSchema;

/// A collection to make.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectionInput {
    /// Its name, unique.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// What is in it, for people.
    #[serde(default)]
    #[schema(max_length = 500)]
    pub description: String,
    /// How its documents are cut.
    #[serde(default)]
    pub chunking: Chunking,
    /// How its rankings are joined.
    #[serde(default)]
    pub weights: SearchWeights,
    /// What its documents are at least.
    #[schema(nullable = false)]
    pub classification: Option<Classification>,
    /// The model that its vectors are made with: `MODEL@CONNECTION`, `MODEL@auto`, or a folder of the models' folder. The
    /// one of the installation if left out.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub embedding_model: Option<String>,
    /// What may put into a better order what is found in it.
    #[serde(default)]
    pub rerank: Rerank,
    /// Whether everybody may search and read it; else only those with a grant, and who made it.
    #[serde(default)]
    pub open: bool,
}

/// What to change of a collection. What is left out stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectionPatch {
    /// Its name, unique.
    #[schema(nullable = false, min_length = 1, max_length = 100)]
    pub name: Option<String>,
    /// What is in it, for people.
    #[schema(nullable = false, max_length = 500)]
    pub description: Option<String>,
    /// How its documents are cut from now on; `POST /api/documents/reindex-all` does so with those that are there.
    #[schema(nullable = false)]
    pub chunking: Option<Chunking>,
    /// How its rankings are joined, from the next search on.
    #[schema(nullable = false)]
    pub weights: Option<SearchWeights>,
    /// What its documents are at least.
    #[schema(nullable = false)]
    pub classification: Option<Classification>,
    /// The model that its vectors are to be of. They are made anew, and those that there are answer meanwhile. The model that
    /// it has now ends that.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub embedding_model: Option<String>,
    /// What may put into a better order what is found in it.
    #[schema(nullable = false)]
    pub rerank: Option<Rerank>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddedAs {
    /// It is read next.
    New,
    /// The same source had other content before.
    Changed,
    /// It is there already.
    Unchanged,
    /// `document` has the same content.
    Duplicate,
}

/// A document that was handed in.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AddedDocument {
    /// What became of the file.
    pub added: AddedAs,
    /// The document that has the content.
    pub document: Document,
    /// The agents that it is linked to by this upload: the chosen one, and those with `auto_link_uploads`.
    pub linked: Vec<NamedRef>,
}

/// A document and who has it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DocumentDetails {
    /// The document.
    #[serde(flatten)]
    pub document: Document,
    /// Agents that it is linked to.
    pub agents: Vec<AgentId>,
}

/// A piece of a document.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Chunk {
    /// Its place in the document, from 0.
    pub index: u32,
    /// What it says.
    pub text: String,
    /// The headings that it stands under, the outermost first.
    pub headings: Vec<String>,
    /// The page where it begins, from 1.
    pub first_page: u32,
    /// The page where it ends.
    pub last_page: u32,
    /// Where it stands on these pages, if the format says.
    pub areas: Vec<ChunkArea>,
    /// How it was cut.
    pub method: String,
}

impl Chunk {
    pub(crate) fn of(index: u32, row: ChunkRow) -> Self {
        let ChunkRow { text, headings, first_page, last_page, areas, method } = row;
        Self { index, text, headings, first_page, last_page, areas, method }
    }
}

/// A link between a document and an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentLink {
    /// The document.
    pub document_id: DocumentId,
    /// The agent, by id or name.
    #[schema(min_length = 1, max_length = 200)]
    pub agent_id: String,
    /// Whether to link them or to take the link away.
    #[serde(default = "super::yes")]
    pub linked: bool,
}

/// A folder whose files become documents.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchScan {
    /// An absolute path on the server: a folder with all that is below it, or a file.
    #[schema(min_length = 1, max_length = 4096)]
    pub path: String,
    /// The collection that they go to, by id or name; `Documents` if left out, which is made where there is none.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub collection: Option<String>,
    /// The agent that they are linked to, by id or name.
    #[schema(nullable = false, max_length = 200)]
    pub agent_id: Option<String>,
}

/// A folder to watch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchInput {
    /// An absolute path on the server.
    #[schema(min_length = 1, max_length = 4096)]
    pub path: String,
    /// The collection that its files go to, by id or name; `Documents` if left out, which is made where there is none.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub collection: Option<String>,
}

/// What to search for, and where.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DocumentSearch {
    /// A question, or words; words in quotes are found as they stand.
    #[schema(min_length = 1, max_length = 1000)]
    pub query: String,
    /// Only in these collections, by id or name; all that one may see if left out.
    #[schema(max_items = 500)]
    pub collections: Vec<String>,
    /// Only in documents that are linked to this agent, by id or name.
    #[schema(nullable = false, max_length = 200)]
    pub agent_id: Option<String>,
    /// Only documents of this kind, such as `pdf`.
    #[schema(nullable = false, max_length = 40)]
    pub doc_type: Option<String>,
    /// Only documents whose name or path holds this.
    #[schema(nullable = false, max_length = 500)]
    pub source_file: Option<String>,
    /// Only documents that were added on this day or later (`2026-01-31`).
    #[schema(nullable = false, max_length = 40)]
    pub upload_date_from: Option<String>,
    /// Only documents that were added on this day or earlier.
    #[schema(nullable = false, max_length = 40)]
    pub upload_date_to: Option<String>,
    /// How many chunks to answer with; 10 if left out.
    #[schema(nullable = false, minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
    /// Which rankings to use.
    pub mode: SearchMode,
    /// How they are joined; as the collection has it if left out.
    #[schema(nullable = false)]
    pub weights: Option<SearchWeights>,
    /// What may put what was found into a better order; as the collections say if left out, where several do the least.
    #[schema(nullable = false)]
    pub rerank: Option<Rerank>,
    /// Whether documents are looked into although the answer to the same question is known.
    pub fresh: bool,
}

/// Which rankings a search uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// Words and meaning, joined.
    #[default]
    Hybrid,
    /// Words only.
    Text,
    /// Meaning only.
    Vectors,
}

/// A chunk that was found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FoundChunk {
    /// Its document.
    pub document: DocumentId,
    /// The document's collection.
    pub collection: CollectionId,
    /// The document's name.
    pub name: String,
    /// Its path, if it has one.
    pub source: String,
    /// What the document is.
    pub doc_type: String,
    /// When it was added.
    pub added_at: Timestamp,
    /// The chunk.
    pub chunk: Chunk,
    /// Words of the question that it holds exactly: it comes before all that hold fewer or less rare ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<String>,
    /// By which it is ranked among its equals.
    pub score: f64,
    /// Its place by words, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub text_rank: Option<u32>,
    /// What that place is by.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub text_score: Option<f32>,
    /// Its place by meaning, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub vector_rank: Option<u32>,
    /// What that place is by: the cosine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub vector_score: Option<f32>,
    /// What the re-ranker said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub rerank_score: Option<f64>,
}

/// What a search found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SearchResult {
    /// The best first.
    pub found: Vec<FoundChunk>,
    /// Documents that were looked into.
    pub documents: u64,
    /// Why only words were looked at, or nothing was re-ranked, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
    /// What put the best of it into their order: `cross-encoder`, or a model and its connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reranker: Option<String>,
    /// Whether it was known from the same question, maybe in other words.
    pub cached: bool,
    /// Milliseconds that it took.
    pub took_ms: u64,
}

/// What is really in use.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct VectorStoreStats {
    /// What keeps the vectors.
    pub backend: String,
    /// The model of collections that have none yet.
    pub embedding_model: String,
    /// Numbers in its vectors; 0: not known yet.
    pub dimension: u32,
    /// Address that this model is asked at; null: it is in this program, or one may not see its connection.
    #[schema(required)]
    pub endpoint: Option<String>,
    /// Whether an Ollama of this machine was found by itself.
    pub ollama_auto_detected: bool,
    /// The models of the collections that one may see.
    pub models: Vec<EmbeddingModelStats>,
    /// Whether a cross-encoder is installed, by which searches are re-ranked.
    pub cross_encoder: bool,
    /// Documents that one may see.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Their chunks with vectors.
    pub vectors: u64,
    /// Bytes of the index's files.
    pub index_bytes: u64,
    /// Changes that the index has yet to take in.
    pub behind: u64,
}

/// A model that vectors are of.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EmbeddingModelStats {
    /// Its name.
    pub model: String,
    /// Numbers in its vectors; 0: not known yet.
    pub dimension: u32,
    /// Collections that have it.
    pub collections: u64,
    /// Collections that are on their way to it.
    pub becoming: u64,
    /// Why it failed last, unless something worked after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<String>,
    /// When it failed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub failed_at: Option<Timestamp>,
}

/// What was set off.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Requeued {
    /// Documents that are read or embedded again.
    pub documents: u64,
    /// The longest chunk, characters.
    pub chunk_size_used: u32,
    /// Characters that chunks share.
    pub chunk_overlap_used: u32,
}

/// Whom it concerns.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct JobRetried {
    /// The job.
    pub job: IngestJobId,
    /// Documents that are read again.
    pub documents: u64,
}
