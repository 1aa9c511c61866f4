//! Searches, and the answers that are kept for those who ask the same again. What may be seen is part of what an answer is
//! kept under, and so is all else that it depends on.

use super::DocumentService;
use super::live_index::LiveError;
use super::ranking::{ModelGroup, Search};
use super::reranking::{Found, RERANKED, Reranker};
use crate::dto::documents::SearchMode;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use steward_core::locks::lock;
use steward_core::ports::{ChunkKey, ChunkRow};
use steward_core::{AgentId, CollectionId, DocumentId, Timestamp};
use steward_knowledge::{CacheStats, SemanticCache};

/// All that an answer depends on but the question and the documents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    agent: Option<AgentId>,
    collections: BTreeSet<CollectionId>,
    documents: BTreeSet<DocumentId>,
    doc_type: Option<String>,
    source_file: Option<String>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    mode: SearchMode,
    weights: ([u32; 2], bool),
    limit: usize,
    /// The models of the collections.
    models: Vec<ModelGroup>,
    /// What puts it into order at last.
    reranker: Option<String>,
}

pub(super) type KnownAnswers = SemanticCache<Scope, Found>;

impl DocumentService {
    /// The best chunks of the documents that fit, and whether they were known already.
    pub(crate) async fn find(&self, search: &Search<'_>) -> Result<(Arc<Found>, bool), LiveError> {
        let begun = self.clock.now();
        // As of now: what changes from here on ends what is kept below.
        let version = self.store.last_document_change(self.tenant).await?;
        if version == 0 || search.filter.collections.is_empty() {
            return Ok((Arc::default(), false));
        }
        let groups = self.groups(search).await?;
        let reranker = self.reranker(search).await;
        let scope = scope(search, groups.clone(), reranker.as_ref().map(Reranker::name));
        if !search.fresh
            && let Some(known) = lock(&self.known_answers).same(&scope, search.query, version, begun)
        {
            return Ok((known, true));
        }
        let meaning = self.meaning(search.query, search.user, groups).await;
        // One model is enough to tell whether two questions are alike; all of them must have answered.
        let vector = meaning.vectors.iter().flatten().next().cloned().filter(|_| meaning.notice.is_none());
        if !search.fresh
            && let Some(vector) = &vector
            && let Some(known) = lock(&self.known_answers).alike(&scope, search.query, vector, version, begun)
        {
            return Ok((known, true));
        }
        let wide = Search { limit: search.limit.max(if reranker.is_some() { RERANKED } else { 0 }), ..search.clone() };
        let ranked = self.ranked(&wide, meaning).await?;
        let keys: Vec<ChunkKey> = ranked.hits.iter().map(|hit| hit.key).collect();
        let mut rows: HashMap<ChunkKey, ChunkRow> = self.store.chunks(self.tenant, &keys).await?.into_iter().collect();
        let hits = ranked.hits.into_iter().filter_map(|hit| rows.remove(&hit.key).map(|row| (hit, row))).collect();
        let mut found = Found { hits, documents: ranked.documents, notice: ranked.notice, reranker: None };
        if let Some(reranker) = reranker {
            self.rerank(&reranker, search, &mut found).await;
            found.hits.truncate(search.limit);
        }
        let found = Arc::new(found);
        if found.notice.is_none() {
            let now = self.clock.now();
            let took_ms = u64::try_from(now.since(begun).as_millis()).unwrap_or(u64::MAX);
            lock(&self.known_answers).keep(&scope, search.query, vector, &found, took_ms, version, now);
        }
        Ok((found, false))
    }

    /// Figures of the answers that are kept for an agent, or for all, within these collections. `None`: within any.
    pub(crate) fn cache_stats(&self, agent: Option<AgentId>, visible: Option<&HashSet<CollectionId>>) -> CacheStats {
        lock(&self.known_answers).stats(|scope| is_within(scope, agent, visible))
    }

    /// Forgets them; answers how many.
    pub(crate) fn clear_cache(&self, agent: Option<AgentId>, visible: Option<&HashSet<CollectionId>>) -> u64 {
        lock(&self.known_answers).clear(|scope| is_within(scope, agent, visible))
    }
}

fn is_within(scope: &Scope, agent: Option<AgentId>, visible: Option<&HashSet<CollectionId>>) -> bool {
    agent.is_none_or(|agent| scope.agent == Some(agent))
        && visible.is_none_or(|visible| scope.collections.iter().all(|one| visible.contains(one)))
}

fn scope(search: &Search<'_>, models: Vec<ModelGroup>, reranker: Option<&str>) -> Scope {
    let filter = &search.filter;
    Scope {
        agent: filter.agent,
        collections: filter.collections.iter().copied().collect(),
        documents: filter.documents.iter().copied().collect(),
        doc_type: filter.doc_type.clone(),
        source_file: filter.source_file.clone(),
        from: filter.from,
        until: filter.until,
        mode: search.mode,
        weights: ([search.weights.text.to_bits(), search.weights.vectors.to_bits()], search.weights.exact_first),
        limit: search.limit,
        models,
        reranker: reranker.map(str::to_owned),
    }
}
