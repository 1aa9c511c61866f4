//! Puts the best of what was found into a better order, by a model that reads each passage together with the question.

mod by_model;

use super::DocumentService;
use super::classification::DocumentClassification;
use super::ranking::{RankedChunk, Search};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use steward_core::DocumentId;
use steward_core::document::Rerank;
use steward_core::model::Connection;
use steward_core::ports::{ChunkRow, StoreResult};
use steward_knowledge::{Cacheable, embedding_text, rerank};
use steward_models::embed::CrossEncoder;

/// How many of the best are read. A small cross-encoder takes 50 ms of a processor for each.
pub(super) const RERANKED: usize = 20;
/// Longest wait for a cross-encoder.
const CROSS_ENCODER: Duration = Duration::from_secs(4);
const CROSS_ENCODER_NAME: &str = "cross-encoder";

/// What a search found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub hits: Vec<(RankedChunk, ChunkRow)>,
    /// Documents that were looked into.
    pub documents: u64,
    /// Why there is no ranking by meaning, or by a re-ranker.
    pub notice: Option<String>,
    /// What put the best into their order.
    pub reranker: Option<String>,
}

impl Cacheable for Found {
    fn chunk_chars(&self) -> impl Iterator<Item = usize> {
        self.hits.iter().map(|(_, row)| row.text.chars().count())
    }

    fn bytes(&self) -> usize {
        let of = |(hit, row): &(RankedChunk, ChunkRow)| {
            let headings: usize = row.headings.iter().map(|one| one.len() + size_of::<String>()).sum();
            let facts = hit.facts.name.len() + hit.facts.source.len() + hit.facts.doc_type.len();
            let areas = row.areas.len() * size_of::<steward_core::document::ChunkArea>();
            let terms: usize = hit.exact.terms.iter().map(|one| one.len() + size_of::<String>()).sum();
            size_of::<(RankedChunk, ChunkRow)>() + terms + row.text.len() + headings + facts + areas + row.method.len()
        };
        self.hits.iter().map(of).sum()
    }
}

impl Found {
    pub fn not_reranked(&mut self, why: &str) {
        let why = format!("what was found was not re-ranked: {why}");
        self.notice = Some(match self.notice.take() {
            Some(before) => format!("{before}; {why}"),
            None => why,
        });
    }

    /// The first get the order of the scores, the others stay behind them.
    pub fn reorder(&mut self, scores: &[f64]) {
        let rest = self.hits.split_off(scores.len().min(self.hits.len()));
        let keyword: Vec<Option<f64>> =
            self.hits.iter().map(|(hit, _)| hit.text.map(|(_, score)| score.into())).collect();
        let reranker: Vec<Option<f64>> = scores.iter().copied().map(Some).collect();
        let joined = rerank(&keyword, &reranker);
        for (((hit, _), score), said) in self.hits.iter_mut().zip(joined).zip(scores) {
            hit.score = score;
            hit.rerank = Some(*said);
        }
        // Equal ones stay as they were, and exact hits first.
        let order = |a: &RankedChunk, b: &RankedChunk| {
            b.exact.weight.total_cmp(&a.exact.weight).then_with(|| b.score.total_cmp(&a.score))
        };
        self.hits.sort_by(|(a, _), (b, _)| order(a, b));
        self.hits.extend(rest);
    }
}

/// What reads the passages of a search.
pub(super) enum Reranker {
    CrossEncoder(CrossEncoder),
    Model(Box<Connection>, String),
}

impl Reranker {
    pub fn name(&self) -> &str {
        match self {
            Self::CrossEncoder(_) => CROSS_ENCODER_NAME,
            Self::Model(_, name) => name,
        }
    }
}

impl DocumentService {
    pub(super) async fn reranker(&self, search: &Search<'_>) -> Option<Reranker> {
        if search.rerank == Rerank::Off {
            return None;
        }
        if let Some(found) = &*self.cross_encoder.get() {
            return Some(Reranker::CrossEncoder(found.clone()));
        }
        if search.rerank != Rerank::Auto {
            return None;
        }
        let connection = self.embedding.endpoints()?.capable(search.connection).await?;
        let name = format!("{}@{}", connection.model, connection.name);
        Some(Reranker::Model(Box::new(connection), name))
    }

    /// Without a re-ranker that answers, the order stays as it is, and the answer says why.
    pub(super) async fn rerank(&self, reranker: &Reranker, search: &Search<'_>, found: &mut Found) {
        let count = found.hits.len().min(RERANKED);
        if count < 2 {
            return;
        }
        let texts: Vec<String> =
            found.hits[..count].iter().map(|(_, row)| embedding_text(&row.headings, &row.text)).collect();
        let scores = match reranker {
            Reranker::CrossEncoder(model) => by_cross_encoder(model, search.query, texts).await,
            Reranker::Model(connection, _) => {
                let documents = found.hits[..count].iter().map(|(hit, _)| hit.facts.id).collect();
                let highest = match self.highest_of(documents).await {
                    Ok(highest) => highest,
                    Err(error) => return found.not_reranked(&error.to_string()),
                };
                match self.embedding.endpoints() {
                    Some(endpoints) => endpoints.scores(connection, (search.query, search.user), &texts, highest).await,
                    None => return,
                }
            }
        };
        match scores {
            Ok(scores) => {
                found.reorder(&scores);
                found.reranker = Some(reranker.name().to_owned());
            }
            Err(why) => found.not_reranked(&why),
        }
    }

    async fn highest_of(&self, documents: BTreeSet<DocumentId>) -> StoreResult<DocumentClassification> {
        let labels = self.labels().await?;
        let mut highest = DocumentClassification::default();
        for id in documents {
            if let Some(document) = self.store.document(self.tenant, id).await? {
                let collection = self.store.collection(self.tenant, document.collection).await?;
                highest = highest.higher(self.classification_of(&document, collection.as_ref(), &labels));
            }
        }
        Ok(highest)
    }
}

async fn by_cross_encoder(model: &CrossEncoder, question: &str, texts: Vec<String>) -> Result<Vec<f64>, String> {
    let given_up = Arc::new(AtomicBool::new(false));
    let (model, question, ended) = (model.clone(), question.to_owned(), Arc::clone(&given_up));
    let work = tokio::task::spawn_blocking(move || {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        model.scores(&question, &texts, &|| ended.load(Ordering::Relaxed))
    });
    let done = tokio::time::timeout(CROSS_ENCODER, work).await;
    given_up.store(true, Ordering::Relaxed);
    match done {
        Ok(Ok(Ok(scores))) => Ok(scores.into_iter().map(f64::from).collect()),
        Ok(Ok(Err(error))) => Err(error.to_string()),
        Ok(Err(_)) => Err("the cross-encoder ended unexpectedly".to_owned()),
        Err(_) => Err(format!("the cross-encoder took longer than {} seconds", CROSS_ENCODER.as_secs())),
    }
}
