//! Two rankings of chunks, joined, within what a filter lets through.

use super::DocumentService;
use super::live_index::{LiveError, Opened};
use crate::dto::documents::SearchMode;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use steward_core::document::SearchWeights;
use steward_core::ports::{ChunkKey, DocumentFacts};
use steward_core::{AgentId, CollectionId, DocumentId, Timestamp};
use steward_knowledge::{DocumentSet, FusionWeights, Hit, fuse};

/// Chunks of each ranking that are joined.
const CANDIDATES: usize = 100;

/// Which documents to look into.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchFilter {
    /// Collections that may be seen and are wanted.
    pub collections: HashSet<CollectionId>,
    /// Only these documents; empty: any.
    pub documents: HashSet<DocumentId>,
    pub agent: Option<AgentId>,
    /// The collection that is looked into whichever agent is asked for.
    pub whole: Option<CollectionId>,
    pub doc_type: Option<String>,
    pub source_file: Option<String>,
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl SearchFilter {
    fn fits(&self, facts: &DocumentFacts) -> bool {
        self.collections.contains(&facts.collection)
            && (self.documents.is_empty() || self.documents.contains(&facts.id))
            && (self.whole == Some(facts.collection) || self.agent.is_none_or(|agent| facts.agents.contains(&agent)))
            && self.doc_type.as_deref().is_none_or(|wanted| facts.doc_type.eq_ignore_ascii_case(wanted))
            && self.from.is_none_or(|from| facts.added_at >= from)
            && self.until.is_none_or(|until| facts.added_at < until)
            && self.source_file.as_deref().is_none_or(|wanted| {
                facts.source.to_lowercase().contains(wanted) || facts.name.to_lowercase().contains(wanted)
            })
    }
}

/// A search, and how its rankings are joined.
#[derive(Debug, Clone)]
pub(crate) struct Search<'a> {
    pub query: &'a str,
    pub filter: SearchFilter,
    pub mode: SearchMode,
    pub weights: SearchWeights,
    pub limit: usize,
    /// Whether documents are looked into although the answer may be known.
    pub fresh: bool,
}

/// What was found, before its texts are read.
pub(super) struct Ranked {
    pub hits: Vec<RankedChunk>,
    pub documents: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct RankedChunk {
    pub key: ChunkKey,
    pub facts: DocumentFacts,
    pub score: f64,
    pub text: Option<(u32, f32)>,
    pub vector: Option<(u32, f32)>,
}

impl DocumentService {
    /// The best chunks of the documents that fit the filter. Nothing else is scored or counted. `vector`: what the question
    /// means, if that counts.
    pub(super) async fn ranked(&self, search: &Search<'_>, vector: Option<Vec<f32>>) -> Result<Ranked, LiveError> {
        let Some(opened) = self.index.up_to_date().await? else {
            return Ok(Ranked { hits: Vec::new(), documents: 0 });
        };
        let Search { query, filter, mode, weights, limit, .. } = search;
        let (mode, weights, limit) = (*mode, *weights, *limit);
        let numbers = opened.matching(|facts| filter.fits(facts));
        let documents = numbers.len() as u64;
        let allowed: DocumentSet = numbers.into_iter().collect();
        let count = CANDIDATES.max(limit);
        let (target, words) = (Arc::clone(&opened), (*query).to_owned());
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
        Ok(Ranked { hits, documents })
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
