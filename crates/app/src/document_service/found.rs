//! What a search found, and the order that a re-ranker gives to it.

use super::ranking::RankedChunk;
use steward_core::ports::ChunkRow;
use steward_knowledge::{Cacheable, rerank};

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
            size_of::<(RankedChunk, ChunkRow)>() + row.text.len() + headings + facts + areas + row.method.len()
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
        // Equal ones stay as they were.
        self.hits.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score));
        self.hits.extend(rest);
    }
}
