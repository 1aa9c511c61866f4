use super::documents::FoundChunk;
use serde::Serialize;
use steward_core::{AgentId, CollectionId, DocumentId};
use utoipa::ToSchema;

/// The answers that are kept for those who ask the same again, as far as one may see what they are from.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RagCacheStats {
    /// Answers that are kept.
    pub entries: u64,
    /// What they take of memory.
    pub bytes: u64,
    /// Searches since the start whose answer was known.
    pub hits: u64,
    /// Searches since the start whose answer was not.
    pub misses: u64,
    /// Milliseconds that the hits took when they were searched for.
    pub saved_ms: u64,
    /// How long an answer is kept, unless a document changes before.
    pub ttl_seconds: u64,
    /// Least cosine of two questions that may be the same.
    pub similarity: f32,
    /// Most answers of all that are kept.
    pub max_entries: u64,
    /// What all of them may take of memory.
    pub max_bytes: u64,
}

/// What became of the answers that were kept.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RagCacheCleared {
    /// Answers that are not kept any more.
    pub removed: u64,
}

/// What an agent has to answer from, as far as one may see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RagDebug {
    /// The agent.
    pub agent: AgentId,
    /// Its name.
    pub agent_name: String,
    /// The model of collections that have none yet.
    pub embedding_model: String,
    /// Numbers in its vectors; 0: not known yet.
    pub dimension: u32,
    /// Collections with documents that are linked to it.
    pub collections: Vec<RagCollection>,
    /// Documents that are linked to it.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Their chunks with vectors.
    pub embedded: u64,
    /// Documents of them whose turn comes.
    pub waiting: u64,
    /// Documents of them that could not be read.
    pub failed: u64,
    /// The first chunk of some of them.
    pub sample_chunks: Vec<SampleChunk>,
    /// Changes that the index has yet to take in; 0 for those who may not see all documents.
    pub behind: u64,
    /// Answers that are kept for the agent.
    pub cache: RagCacheStats,
    /// What the question in `query` finds in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub question: Option<RagQuestion>,
}

/// Linked documents of a collection.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RagCollection {
    /// The collection.
    pub id: CollectionId,
    /// Its name.
    pub name: String,
    /// The model that its vectors are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub embedding_model: Option<String>,
    /// Numbers in these vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub dimension: Option<u32>,
    /// Documents in it that are linked to the agent.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
}

/// The beginning of a chunk.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SampleChunk {
    /// Its document.
    pub document: DocumentId,
    /// The document's name.
    pub name: String,
    /// Its first 300 characters.
    pub text: String,
}

/// What a question finds.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RagQuestion {
    /// The question.
    pub query: String,
    /// Chunks of documents that are linked to the agent, the best first.
    pub found: Vec<FoundChunk>,
    /// Whether the answer was known.
    pub cached: bool,
    /// Why only words were looked at, or nothing was re-ranked, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
    /// What put the best of it into their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reranker: Option<String>,
    /// Milliseconds that it took.
    pub took_ms: u64,
}
