//! Search by words and by meaning, within what the caller may see.

use super::index::{LiveError, Opened};
use super::service::DocumentService;
use crate::app::{Action, App, AppError, Caller, Resource, authorize};
use crate::collections::visible_to;
use crate::dto::documents::{Chunk, DocumentSearch, FoundChunk, SearchMode, SearchResult, VectorStoreStats};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use steward_core::document::{Collection, SearchWeights};
use steward_core::ports::{ChunkKey, ChunkRow, DocumentFacts};
use steward_core::{AgentId, CollectionId, Timestamp};
use steward_knowledge::document_set::DocumentSet;
use steward_knowledge::fusion::{FusionWeights, fuse};
use steward_knowledge::index::Hit;

/// Chunks of each ranking that are joined.
const CANDIDATES: usize = 100;
const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 100;
const MAX_QUERY: usize = 1000;
const DAY_MS: i64 = 86_400_000;

/// Which documents to look into.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchFilter {
    /// Collections that may be seen and are wanted.
    pub collections: HashSet<CollectionId>,
    pub agent: Option<AgentId>,
    pub doc_type: Option<String>,
    pub source_file: Option<String>,
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl SearchFilter {
    fn fits(&self, facts: &DocumentFacts) -> bool {
        self.collections.contains(&facts.collection)
            && self.agent.is_none_or(|agent| facts.agents.contains(&agent))
            && self.doc_type.as_deref().is_none_or(|wanted| facts.doc_type.eq_ignore_ascii_case(wanted))
            && self.from.is_none_or(|from| facts.added_at >= from)
            && self.until.is_none_or(|until| facts.added_at < until)
            && self.source_file.as_deref().is_none_or(|wanted| {
                facts.source.to_lowercase().contains(wanted) || facts.name.to_lowercase().contains(wanted)
            })
    }
}

/// What was found, before its texts are read.
pub(crate) struct Ranked {
    pub hits: Vec<RankedChunk>,
    pub documents: u64,
    /// Why there is no ranking by meaning.
    pub notice: Option<String>,
}

pub(crate) struct RankedChunk {
    pub key: ChunkKey,
    pub facts: DocumentFacts,
    pub score: f64,
    pub text: Option<(u32, f32)>,
    pub vector: Option<(u32, f32)>,
}

impl App {
    pub async fn search_documents(&self, caller: &Caller, input: DocumentSearch) -> Result<SearchResult, AppError> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let begun = self.now();
        let query = input.query.trim();
        if query.is_empty() || query.chars().count() > MAX_QUERY {
            return Err(AppError::invalid(
                "query",
                "there is nothing to search for, or too much",
                format!("send 1 to {MAX_QUERY} characters"),
            ));
        }
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let collections = self.wanted_collections(caller, &input.collections).await?;
        let agent = match input.agent_id.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            Some(agent) => Some(self.agent_by_id_or_name(caller, agent).await?.id),
            None => None,
        };
        let weights = match collections.as_slice() {
            [only] => only.weights,
            _ => SearchWeights::default(),
        };
        let filter = SearchFilter {
            collections: collections.iter().map(|one| one.id).collect(),
            agent,
            doc_type: input.doc_type.clone().filter(|text| !text.is_empty()),
            source_file: input.source_file.as_ref().map(|text| text.to_lowercase()).filter(|text| !text.is_empty()),
            from: input.upload_date_from.as_deref().map(|text| day("upload_date_from", text)).transpose()?,
            until: input
                .upload_date_to
                .as_deref()
                .map(|text| day("upload_date_to", text).map(|at| Timestamp(at.0.saturating_add(DAY_MS))))
                .transpose()?,
        };
        let ranked = self.documents.ranked(query, &filter, input.mode, weights, limit as usize).await;
        let ranked = ranked.map_err(|error| unavailable(&error))?;
        let keys: Vec<ChunkKey> = ranked.hits.iter().map(|hit| hit.key).collect();
        let rows = self.documents.store.chunks(self.tenant(), &keys).await?;
        let mut rows: HashMap<ChunkKey, _> = rows.into_iter().collect();
        let found: Vec<FoundChunk> =
            ranked.hits.into_iter().filter_map(|hit| rows.remove(&hit.key).map(|row| found(hit, row))).collect();
        let took_ms = u64::try_from(self.now().since(begun).as_millis()).unwrap_or(u64::MAX);
        Ok(SearchResult { found, documents: ranked.documents, notice: ranked.notice, took_ms })
    }

    /// What keeps the vectors, and how many there are of those that the caller may see.
    pub async fn vector_store_stats(&self, caller: &Caller) -> Result<VectorStoreStats, AppError> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let collections = self.collections(caller).await?;
        let last = self.documents.store.last_document_change(self.tenant()).await?;
        let all = visible_to(caller).is_none();
        let stats = self.documents.index.stats().filter(|_| all);
        Ok(VectorStoreStats {
            backend: "flat scan of 1-bit codes, re-scored".to_owned(),
            embedding_model: self.documents.embedder.model().to_owned(),
            dimension: u32::try_from(self.documents.embedder.dimension()).unwrap_or(u32::MAX),
            documents: collections.iter().map(|one| one.documents).sum(),
            chunks: collections.iter().map(|one| one.chunks).sum(),
            index_bytes: stats.as_ref().map_or(0, |stats| stats.text_bytes + stats.vector_bytes),
            vectors: stats.map_or(0, |stats| stats.vectors),
            behind: if all { self.documents.index.behind(last) } else { 0 },
        })
    }

    async fn wanted_collections(&self, caller: &Caller, wanted: &[String]) -> Result<Vec<Collection>, AppError> {
        if wanted.is_empty() {
            return self.collections(caller).await;
        }
        let mut collections = Vec::with_capacity(wanted.len());
        for name in wanted {
            collections.push(self.named_collection(caller, Action::Read, name).await?);
        }
        Ok(collections)
    }
}

impl DocumentService {
    /// The best chunks of the documents that fit the filter. Nothing else is scored or counted.
    pub(crate) async fn ranked(
        &self,
        query: &str,
        filter: &SearchFilter,
        mode: SearchMode,
        weights: SearchWeights,
        limit: usize,
    ) -> Result<Ranked, LiveError> {
        let Some(opened) = self.index.up_to_date().await? else {
            return Ok(Ranked { hits: Vec::new(), documents: 0, notice: None });
        };
        let numbers = opened.matching(|facts| filter.fits(facts));
        let documents = numbers.len() as u64;
        let allowed: DocumentSet = numbers.into_iter().collect();
        let (vector, notice) = if mode == SearchMode::Text || documents == 0 {
            (None, None)
        } else {
            match self.embedder.embed(&[query.to_owned()]).await {
                Ok(vectors) => (vectors.into_iter().next(), None),
                Err(error) => (None, Some(format!("only words were looked at: {error}"))),
            }
        };
        let count = CANDIDATES.max(limit);
        let (target, words) = (Arc::clone(&opened), query.to_owned());
        let searched = tokio::task::spawn_blocking(move || {
            let text = match mode {
                SearchMode::Vectors => Vec::new(),
                _ => target.index.search_text(&words, &allowed, count)?,
            };
            let vectors = match vector {
                Some(vector) => target.index.search_vectors(&vector, &allowed, count)?,
                None => Vec::new(),
            };
            Ok::<_, LiveError>((text, vectors))
        });
        let (text, vectors) = searched.await.map_err(|_| LiveError::Ended)??;
        let hits = joined(&opened, &text, &vectors, weights, limit);
        Ok(Ranked { hits, documents, notice })
    }
}

fn joined(opened: &Opened, text: &[Hit], vectors: &[Hit], weights: SearchWeights, limit: usize) -> Vec<RankedChunk> {
    let weights =
        FusionWeights { text: f64::from(weights.text), vector: f64::from(weights.vectors), ..FusionWeights::default() };
    let keys = |hits: &[Hit]| hits.iter().map(Hit::key).collect::<Vec<_>>();
    let scores = |hits: &[Hit]| hits.iter().map(|hit| (hit.key(), hit.score)).collect::<HashMap<_, _>>();
    let (by_text, by_vector) = (scores(text), scores(vectors));
    fuse(&keys(text), &keys(vectors), weights)
        .into_iter()
        .take(limit)
        .filter_map(|fused| {
            Some(RankedChunk {
                facts: opened.facts(fused.key.document)?,
                text: fused.text_rank.zip(by_text.get(&fused.key).copied()),
                vector: fused.vector_rank.zip(by_vector.get(&fused.key).copied()),
                key: fused.key,
                score: fused.score,
            })
        })
        .collect()
}

fn found(hit: RankedChunk, row: ChunkRow) -> FoundChunk {
    FoundChunk {
        document: hit.facts.id,
        collection: hit.facts.collection,
        name: hit.facts.name,
        source: hit.facts.source,
        doc_type: hit.facts.doc_type,
        added_at: hit.facts.added_at,
        chunk: Chunk::of(hit.key.chunk, row),
        score: hit.score,
        text_rank: hit.text.map(|(rank, _)| rank),
        text_score: hit.text.map(|(_, score)| score),
        vector_rank: hit.vector.map(|(rank, _)| rank),
        vector_score: hit.vector.map(|(_, score)| score),
    }
}

fn day(field: &str, text: &str) -> Result<Timestamp, AppError> {
    Timestamp::of_date(text.trim())
        .ok_or_else(|| AppError::invalid(field, format!("`{text}` is no date"), "write it as 2026-01-31, in UTC"))
}

fn unavailable(error: &LiveError) -> AppError {
    tracing::error!(%error, "a search of documents failed");
    AppError::unavailable("the index of documents can't be used")
}
