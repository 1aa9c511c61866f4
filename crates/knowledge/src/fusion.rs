//! Puts several rankings together.

use crate::index::{ChunkKey, ExactMatches};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Weights of reciprocal rank fusion: `text/(rank_constant + rank) + vector/(rank_constant + rank)`, ranks from 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FusionWeights {
    pub text: f64,
    pub vector: f64,
    pub rank_constant: f64,
}

impl Default for FusionWeights {
    fn default() -> Self {
        Self { text: 0.3, vector: 0.7, rank_constant: 60.0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fused {
    pub key: ChunkKey,
    pub score: f64,
    /// From 1; `None` if that ranking does not have it.
    pub text_rank: Option<u32>,
    pub vector_rank: Option<u32>,
}

/// Both rankings in one, best first. Of equal scores the better rank of vectors comes first, then that of text, then the
/// lower key. A key counts once in each ranking, where it stands first.
pub fn fuse(text: &[ChunkKey], vectors: &[ChunkKey], weights: FusionWeights) -> Vec<Fused> {
    fuse_all(text, &[vectors], weights)
}

/// The same, where several models rank, each other chunks.
pub fn fuse_all<V: AsRef<[ChunkKey]>>(text: &[ChunkKey], vectors: &[V], weights: FusionWeights) -> Vec<Fused> {
    let mut found: HashMap<ChunkKey, Fused> = HashMap::with_capacity(2 * text.len());
    let part = |weight: f64, rank: u32| weight / (weights.rank_constant + f64::from(rank));
    for (rank, key) in (1..).zip(text) {
        let one = found.entry(*key).or_insert(Fused { key: *key, score: 0.0, text_rank: None, vector_rank: None });
        if one.text_rank.is_none() {
            one.text_rank = Some(rank);
            one.score += part(weights.text, rank);
        }
    }
    for (rank, key) in vectors.iter().flat_map(|ranking| (1..).zip(ranking.as_ref())) {
        let one = found.entry(*key).or_insert(Fused { key: *key, score: 0.0, text_rank: None, vector_rank: None });
        if one.vector_rank.is_none() {
            one.vector_rank = Some(rank);
            one.score += part(weights.vector, rank);
        }
    }
    let mut fused: Vec<Fused> = found.into_values().collect();
    let last = |rank: Option<u32>| rank.unwrap_or(u32::MAX);
    fused.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| last(a.vector_rank).cmp(&last(b.vector_rank)))
            .then_with(|| last(a.text_rank).cmp(&last(b.text_rank)))
            .then_with(|| a.key.cmp(&b.key))
    });
    fused
}

/// The same chunks with those first that hold what the question names exactly, the most and rarest terms before others, and
/// by their places among equals. Scores stay as they are. Rare terms are found although no ranking has their chunk.
pub fn put_exact_first(mut fused: Vec<Fused>, exact: &ExactMatches) -> Vec<Fused> {
    let known: HashSet<ChunkKey> = fused.iter().map(|one| one.key).collect();
    let mut missing: Vec<ChunkKey> = exact.chunks.keys().filter(|key| !known.contains(key)).copied().collect();
    missing.sort_unstable();
    fused.extend(missing.into_iter().map(|key| Fused { key, score: 0.0, text_rank: None, vector_rank: None }));
    let weight = |one: &Fused| exact.chunks.get(&one.key).map_or(0.0, |found| found.weight);
    fused.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    fused
}

/// How much it counts what the words say, and what a re-ranker says, once both are from 0 to 1.
const KEYWORD: f64 = 0.3;
const RERANKER: f64 = 0.7;

/// A score for each candidate, from the scores that both gave to it, each scaled to 0..1 over the candidates first.
/// `None`: this one gave none, which counts as the lowest.
pub fn rerank(keyword: &[Option<f64>], reranker: &[Option<f64>]) -> Vec<f64> {
    let keyword = scaled(keyword);
    let reranker = scaled(reranker);
    let both = keyword.iter().zip(&reranker);
    both.map(|(keyword, reranker)| KEYWORD * keyword + RERANKER * reranker).collect()
}

/// From 0 for the lowest to 1 for the highest; all are 1 if there is no difference, since then it says nothing against
/// any.
fn scaled(scores: &[Option<f64>]) -> Vec<f64> {
    let known = || scores.iter().flatten().copied().filter(|score| score.is_finite());
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    let scale = |score: &Option<f64>| match score.filter(|score| score.is_finite()) {
        None => 0.0,
        Some(_) if high <= low => 1.0,
        Some(score) => (score - low) / (high - low),
    };
    scores.iter().map(scale).collect()
}

#[cfg(test)]
mod tests {
    use super::{FusionWeights, fuse, fuse_all, put_exact_first, rerank};
    use crate::index::{ChunkKey, ExactMatch, ExactMatches};

    fn key(document: u32) -> ChunkKey {
        ChunkKey { document, chunk: 0 }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 5e-8, "{a} is not {b}");
    }

    #[test]
    fn published_scores_come_out() {
        let weights = FusionWeights::default();
        close(fuse(&[key(1)], &[key(1)], weights)[0].score, 0.016_393_4);
        close(fuse(&[key(1)], &[], weights)[0].score, 0.004_918_0);
        close(fuse(&[], &[key(1)], weights)[0].score, 0.011_475_4);
        let both = fuse(&[key(1)], &[key(2), key(3), key(1)], weights);
        assert_eq!(both[0].key, key(1));
        close(both[0].score, 0.3 / 61.0 + 0.7 / 63.0);
        close(both[0].score, 0.016_029_1);
        assert_eq!((both[0].text_rank, both[0].vector_rank), (Some(1), Some(3)));
    }

    #[test]
    fn the_best_of_each_model_have_the_same_place() {
        let fused = fuse_all(&[key(3)], &[vec![key(1), key(2)], vec![key(3)]], FusionWeights::default());
        let places: Vec<_> = fused.iter().map(|one| (one.key.document, one.vector_rank)).collect();
        assert_eq!(places, [(3, Some(1)), (1, Some(1)), (2, Some(2))]);
    }

    #[test]
    fn exact_hits_come_first_and_scores_stay() {
        let fused = fuse(&[key(1), key(2)], &[key(3), key(2)], FusionWeights::default());
        let mut exact = ExactMatches::default();
        for (document, weight) in [(1, 2.0), (4, 2.0), (2, 5.0)] {
            exact.chunks.insert(key(document), ExactMatch { weight, terms: Vec::new() });
        }
        let ordered = put_exact_first(fused.clone(), &exact);
        assert_eq!(ordered.iter().map(|one| one.key.document).collect::<Vec<_>>(), [2, 1, 4, 3]);
        assert_eq!(ordered[3], *fused.iter().find(|one| one.key == key(3)).unwrap());
        assert_eq!(put_exact_first(fused.clone(), &ExactMatches::default()), fused);
    }

    #[test]
    fn a_key_that_stands_twice_counts_once() {
        let twice = fuse(&[key(1), key(1)], &[], FusionWeights::default());
        assert_eq!(twice, fuse(&[key(1)], &[], FusionWeights::default()));
    }

    #[test]
    fn scores_of_different_scales_are_compared_as_parts_of_their_range() {
        let scores = rerank(&[Some(12.0), Some(2.0), None], &[Some(-4.0), Some(6.0), Some(1.0)]);
        close(scores[0], 0.3);
        close(scores[1], 0.7);
        close(scores[2], 0.35);
        assert_eq!(rerank(&[], &[]), Vec::<f64>::new());
        close(rerank(&[Some(3.0)], &[None])[0], 0.3);
        close(rerank(&[Some(f64::NAN)], &[Some(0.1)])[0], 0.7);
    }
}
