//! What agents really have to answer from, and the answers that are kept: nobody is told more than they may search.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::collections::visible_to;
use crate::dto::documents::{DocumentSearch, SearchResult};
use crate::dto::rag::{RagCacheCleared, RagCacheStats, RagCollection, RagDebug, RagQuestion, SampleChunk};
use crate::inputs::given;
use futures::TryStreamExt as _;
use std::collections::HashSet;
use steward_core::agent::Agent;
use steward_core::document::{Document, DocumentStatus};
use steward_core::ports::DocumentFilter;
use steward_core::{AgentId, CollectionId};
use steward_knowledge::CacheLimits;

const SAMPLES: usize = 5;
const SAMPLE_CHARS: usize = 300;
const PAGE: u32 = 500;

impl App {
    /// Of one agent's answers, or of all. `agent`: id or name.
    pub async fn rag_cache_stats(&self, caller: &Caller, agent: Option<&str>) -> AppResult<RagCacheStats> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let agent = self.named_agent(caller, agent).await?;
        self.cache_stats_of(caller, agent.map(|agent| agent.id)).await
    }

    /// Forgets the answers that are kept, of one agent or of all.
    pub async fn clear_rag_cache(&self, caller: &Caller, agent: Option<&str>) -> AppResult<RagCacheCleared> {
        authorize(caller, Action::Write, Resource::Collections)?;
        let agent = self.named_agent(caller, agent).await?;
        let visible = self.visible_collections(caller).await?;
        let removed = self.documents.clear_cache(agent.map(|agent| agent.id), visible.as_ref());
        Ok(RagCacheCleared { removed })
    }

    /// `query`: what it would find for the agent.
    pub async fn rag_debug(&self, caller: &Caller, agent: &str, query: Option<&str>) -> AppResult<RagDebug> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let agent = if let Ok(id) = agent.parse::<AgentId>() {
            self.agent_for(caller, Action::Read, id).await?
        } else {
            let found = self.usable_agent(caller, agent).await?;
            found.ok_or_else(|| AppError::not_found(format!("agent `{agent}`")))?
        };
        let visible_to = visible_to(caller);
        let filter = DocumentFilter { agent: Some(agent.id), visible_to, limit: PAGE, ..DocumentFilter::default() };
        let documents = self.documents.document_pages(filter).try_concat().await?;
        let mut collections = Vec::new();
        for collection in self.collections(caller).await? {
            let of: Vec<&Document> = documents.iter().filter(|one| one.collection == collection.id).collect();
            if !of.is_empty() {
                collections.push(RagCollection {
                    id: collection.id,
                    name: collection.name,
                    embedding_model: collection.embedding_model,
                    dimension: collection.embedding_dimension,
                    documents: of.len() as u64,
                    chunks: of.iter().map(|one| u64::from(one.chunks)).sum(),
                });
            }
        }
        let count = |status| documents.iter().filter(|one| one.status == status).count() as u64;
        let (embedding_model, dimension) = self.preferred_embedding().await?;
        let behind = match visible_to {
            None => {
                let last = self.store.last_document_change(self.tenant()).await?;
                self.documents.index_behind(last)
            }
            Some(_) => 0,
        };
        Ok(RagDebug {
            agent: agent.id,
            agent_name: agent.name.clone(),
            embedding_model,
            dimension,
            collections,
            documents: documents.len() as u64,
            chunks: documents.iter().map(|one| u64::from(one.chunks)).sum(),
            embedded: documents.iter().map(|one| u64::from(one.embedded)).sum(),
            waiting: count(DocumentStatus::Waiting) + count(DocumentStatus::Embedding),
            failed: count(DocumentStatus::Failed),
            sample_chunks: self.sample_chunks(&documents).await?,
            behind,
            cache: self.cache_stats_of(caller, Some(agent.id)).await?,
            question: match given(query) {
                Some(query) => Some(self.question_of(caller, &agent, query).await?),
                None => None,
            },
        })
    }

    async fn question_of(&self, caller: &Caller, agent: &Agent, query: &str) -> AppResult<RagQuestion> {
        let search = DocumentSearch {
            query: query.to_owned(),
            agent_id: Some(agent.id.to_string()),
            ..DocumentSearch::default()
        };
        let SearchResult { found, cached, notice, reranker, took_ms, .. } =
            self.search_documents(caller, search).await?;
        Ok(RagQuestion { query: query.to_owned(), found, cached, notice, reranker, took_ms })
    }

    async fn sample_chunks(&self, documents: &[Document]) -> AppResult<Vec<SampleChunk>> {
        let mut samples = Vec::new();
        for document in documents.iter().filter(|one| one.chunks > 0).take(SAMPLES) {
            let chunks = self.store.document_chunks(self.tenant(), document.number).await?;
            samples.extend(chunks.first().map(|chunk| SampleChunk {
                document: document.id,
                name: document.name.clone(),
                text: chunk.text.chars().take(SAMPLE_CHARS).collect(),
            }));
        }
        Ok(samples)
    }

    async fn cache_stats_of(&self, caller: &Caller, agent: Option<AgentId>) -> AppResult<RagCacheStats> {
        let visible = self.visible_collections(caller).await?;
        let stats = self.documents.cache_stats(agent, visible.as_ref());
        let limits = CacheLimits::default();
        Ok(RagCacheStats {
            entries: stats.entries,
            bytes: stats.bytes,
            hits: stats.hits,
            misses: stats.misses,
            saved_ms: stats.saved_ms,
            ttl_seconds: limits.life.as_secs(),
            similarity: limits.similarity,
            max_entries: limits.entries as u64,
            max_bytes: limits.bytes as u64,
        })
    }

    /// `None`: the caller may see all.
    async fn visible_collections(&self, caller: &Caller) -> AppResult<Option<HashSet<CollectionId>>> {
        if visible_to(caller).is_none() {
            return Ok(None);
        }
        Ok(Some(self.collections(caller).await?.into_iter().map(|one| one.id).collect()))
    }
}
