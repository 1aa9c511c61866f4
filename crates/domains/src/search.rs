//! Finds the domains that a request means, by words and, where a caller has them, by similarities of embeddings.

use std::collections::HashMap;

use steward_core::text::stem;

use crate::chunks::{Chunk, words_of};

/// How much a word counts in a name or an alias.
const NAME: f32 = 3.0;
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.4;
/// How much a word that no chunk has counts, as a share of the rarest one that some have.
const UNKNOWN: f32 = 0.2;

/// An index of chunks.
#[derive(Debug, Clone)]
pub struct Search {
    /// For each word the chunks that have it, with how much it counts there.
    postings: HashMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
    mean: f32,
    domains: Vec<String>,
}

/// A domain that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub domain: String,
    /// Its best chunk.
    pub chunk: usize,
    pub score: f32,
}

impl Search {
    pub fn new(chunks: &[Chunk]) -> Self {
        let mut postings: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
        let mut lengths = Vec::with_capacity(chunks.len());
        for (at, chunk) in chunks.iter().enumerate() {
            let mut counts: HashMap<String, f32> = HashMap::new();
            for (words, weight) in [(&chunk.names, NAME), (&chunk.words, 1.0)] {
                let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
                for pair in stems.windows(2) {
                    // `track_name` is found as `trackname` too.
                    *counts.entry(pair.concat()).or_default() += weight * 0.5;
                }
                for word in stems {
                    *counts.entry(word).or_default() += weight;
                }
            }
            lengths.push(counts.values().sum());
            for (word, count) in counts {
                postings.entry(word).or_default().push((at, count));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean over some thousand chunks")]
        let mean = lengths.iter().sum::<f32>() / lengths.len().max(1) as f32;
        Self { postings, lengths, mean, domains: chunks.iter().map(|chunk| chunk.domain.clone()).collect() }
    }

    /// The best domains, best first. `similarities`: of each chunk to the request, as cosines.
    pub fn find(&self, request: &str, similarities: Option<&[f32]>, limit: usize) -> Vec<Hit> {
        let mut scores = self.by_words(request);
        if let Some(similarities) = similarities.filter(|all| all.len() == scores.len()) {
            for (score, similarity) in scores.iter_mut().zip(similarities) {
                *score += if similarity.is_finite() { similarity.clamp(0.0, 1.0) } else { 0.0 };
            }
        }
        let mut best: HashMap<&str, Hit> = HashMap::new();
        for (chunk, score) in scores.iter().enumerate().filter(|(_, score)| **score > 0.0) {
            let domain = self.domains[chunk].as_str();
            let hit = best.entry(domain).or_insert_with(|| Hit { domain: domain.to_owned(), chunk, score: *score });
            if *score > hit.score {
                (hit.chunk, hit.score) = (chunk, *score);
            }
        }
        let mut hits: Vec<Hit> = best.into_values().collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.domain.cmp(&b.domain)));
        hits.truncate(limit);
        hits
    }

    /// How much of what the request says each chunk has, from 0 to 1: rare words say more.
    #[expect(clippy::cast_precision_loss, reason = "counts of some thousand chunks")]
    fn by_words(&self, request: &str) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.lengths.len()];
        let mut words: Vec<String> = words_of(request).iter().map(|word| stem(word)).collect();
        words.sort_unstable();
        words.dedup();
        let all = self.lengths.len() as f32;
        let mut whole = 0.0;
        for word in &words {
            let Some(found) = self.postings.get(word) else {
                // Said in words that no domain has: similarities count for more then.
                whole += UNKNOWN * (1.0 + 2.0 * all).ln();
                continue;
            };
            let having = found.len() as f32;
            let weight = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            whole += weight;
            for (chunk, count) in found {
                let length = 1.0 - LENGTH + LENGTH * self.lengths[*chunk] / self.mean.max(1.0);
                scores[*chunk] += weight * count / (count + SATURATION * length);
            }
        }
        if whole > 0.0 {
            for score in &mut scores {
                *score /= whole;
            }
        }
        scores
    }
}
