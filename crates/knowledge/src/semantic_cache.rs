//! What was found for a question, for those who ask the same again in other words.
//!
//! Vectors alone can't tell: two questions that differ in a number, a name or a `not` have a cosine above 0.98. So a kept
//! answer is taken only where [`asks_the_same`] as well (`docs/decisions/046-semantic-cache.md`).

mod questions;

pub use questions::asks_the_same;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use steward_core::Timestamp;

/// Most chunks of an answer that is kept.
const MAX_CHUNKS: usize = 50;
/// Longest chunk of an answer that is kept, characters.
const MAX_CHUNK_CHARS: usize = 4000;
/// Scopes whose figures are kept.
const MAX_SCOPES: usize = 1000;

/// What may be kept. Cut-off answers would be others than those of a search, so what is too large is not kept at all.
pub trait Cacheable {
    /// Characters of each of its chunks.
    fn chunk_chars(&self) -> impl Iterator<Item = usize>;
    /// What it takes of memory, roughly.
    fn bytes(&self) -> usize;
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheLimits {
    pub entries: usize,
    pub bytes: usize,
    pub life: Duration,
    /// Least cosine of two questions that may be the same.
    pub similarity: f32,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { entries: 1000, bytes: 16 << 20, life: Duration::from_hours(24), similarity: 0.95 }
    }
}

/// Figures of one or more scopes since the program began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    pub entries: u64,
    pub bytes: u64,
    pub hits: u64,
    pub misses: u64,
    /// What the searches took whose answers were taken again, milliseconds.
    pub saved_ms: u64,
}

struct Entry<A> {
    question: String,
    /// `None`: it was searched for by words alone.
    vector: Option<Vec<f32>>,
    answer: Arc<A>,
    bytes: usize,
    took_ms: u64,
    at: Timestamp,
    used: u64,
}

struct Bucket<A> {
    entries: Vec<Entry<A>>,
    hits: u64,
    misses: u64,
    saved_ms: u64,
    used: u64,
}

impl<A> Default for Bucket<A> {
    fn default() -> Self {
        Self { entries: Vec::new(), hits: 0, misses: 0, saved_ms: 0, used: 0 }
    }
}

/// `K` is all that an answer depends on but the question and the documents: who asks, where, and how it is ranked.
pub struct SemanticCache<K, A> {
    limits: CacheLimits,
    buckets: HashMap<K, Bucket<A>>,
    /// The change of documents that all entries are as of.
    version: u64,
    entries: usize,
    bytes: usize,
    /// Counts uses, to know the oldest.
    tick: u64,
}

impl<K: Clone + Eq + Hash, A: Cacheable> SemanticCache<K, A> {
    pub fn new(limits: CacheLimits) -> Self {
        Self { limits, buckets: HashMap::new(), version: 0, entries: 0, bytes: 0, tick: 0 }
    }

    /// The answer to just this question. `version`: the last change of documents.
    pub fn same(&mut self, key: &K, question: &str, version: u64, now: Timestamp) -> Option<Arc<A>> {
        let question = normal(question);
        self.hit(key, version, now, |entries, _| entries.iter().position(|entry| entry.question == question))
    }

    /// The answer to the nearest question that asks the same.
    pub fn alike(&mut self, key: &K, question: &str, vector: &[f32], version: u64, now: Timestamp) -> Option<Arc<A>> {
        let question = normal(question);
        self.hit(key, version, now, |entries, limits| {
            let near = |entry: &Entry<A>| entry.vector.as_deref().map_or(-1.0, |kept| cosine(kept, vector));
            let mut found: Vec<(usize, f32)> = entries.iter().map(near).enumerate().collect();
            found.retain(|(_, cosine)| *cosine >= limits.similarity);
            found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            found.into_iter().map(|(at, _)| at).find(|at| asks_the_same(&entries[*at].question, &question))
        })
    }

    /// Counts a search that was made, and keeps its answer if it fits and no document was changed since `version`.
    #[expect(clippy::too_many_arguments, reason = "all that an entry is")]
    pub fn keep(
        &mut self,
        key: &K,
        question: &str,
        vector: Option<Vec<f32>>,
        answer: &Arc<A>,
        took_ms: u64,
        version: u64,
        now: Timestamp,
    ) {
        self.at(version);
        self.tick += 1;
        let tick = self.tick;
        let bucket = self.buckets.entry(key.clone()).or_default();
        bucket.misses += 1;
        bucket.used = tick;
        let mut chunks = 0;
        let fits = answer.chunk_chars().all(|chars| {
            chunks += 1;
            chars <= MAX_CHUNK_CHARS && chunks <= MAX_CHUNKS
        });
        let question = normal(question);
        let numbers = vector.as_ref().map_or(0, Vec::len) * size_of::<f32>();
        let bytes = answer.bytes() + question.len() + numbers + size_of::<Entry<A>>();
        if fits && version == self.version && bytes <= self.limits.bytes {
            let answer = Arc::clone(answer);
            let known = bucket.entries.iter().position(|entry| entry.question == question);
            if let Some(known) = known.map(|at| bucket.entries.swap_remove(at)) {
                self.entries -= 1;
                self.bytes -= known.bytes;
            }
            bucket.entries.push(Entry { question, vector, answer, bytes, took_ms, at: now, used: tick });
            self.entries += 1;
            self.bytes += bytes;
        }
        self.make_room();
    }

    /// Forgets the answers of the scopes that are meant; answers how many.
    pub fn clear(&mut self, meant: impl Fn(&K) -> bool) -> u64 {
        let before = self.entries;
        for (_, bucket) in self.buckets.iter_mut().filter(|(key, _)| meant(key)) {
            self.entries -= bucket.entries.len();
            self.bytes -= bucket.entries.iter().map(|entry| entry.bytes).sum::<usize>();
            bucket.entries.clear();
        }
        (before - self.entries) as u64
    }

    /// Figures of the scopes that are meant.
    pub fn stats(&self, meant: impl Fn(&K) -> bool) -> CacheStats {
        let mut stats = CacheStats::default();
        for (_, bucket) in self.buckets.iter().filter(|(key, _)| meant(key)) {
            stats.entries += bucket.entries.len() as u64;
            stats.bytes += bucket.entries.iter().map(|entry| entry.bytes as u64).sum::<u64>();
            stats.hits += bucket.hits;
            stats.misses += bucket.misses;
            stats.saved_ms += bucket.saved_ms;
        }
        stats
    }

    fn hit(
        &mut self,
        key: &K,
        version: u64,
        now: Timestamp,
        pick: impl Fn(&[Entry<A>], CacheLimits) -> Option<usize>,
    ) -> Option<Arc<A>> {
        self.at(version);
        if version != self.version {
            return None;
        }
        let (limits, bucket) = (self.limits, self.buckets.get_mut(key)?);
        for gone in bucket.entries.extract_if(.., |entry| now >= entry.at.plus(limits.life)) {
            self.entries -= 1;
            self.bytes -= gone.bytes;
        }
        let entry = pick(&bucket.entries, limits).and_then(|at| bucket.entries.get_mut(at))?;
        self.tick += 1;
        entry.used = self.tick;
        bucket.used = self.tick;
        bucket.hits += 1;
        bucket.saved_ms += entry.took_ms;
        Some(Arc::clone(&entry.answer))
    }

    /// A later change of documents ends all that is kept.
    fn at(&mut self, version: u64) {
        if version > self.version {
            self.clear(|_| true);
            self.version = version;
        }
    }

    /// Lets go of what was used least recently.
    fn make_room(&mut self) {
        while self.entries > self.limits.entries || self.bytes > self.limits.bytes {
            let all = self.buckets.iter().flat_map(|(key, bucket)| {
                bucket.entries.iter().enumerate().map(move |(at, entry)| (entry.used, key, at))
            });
            let Some((key, at)) = all.min_by_key(|(used, ..)| *used).map(|(_, key, at)| (key.clone(), at)) else {
                return;
            };
            if let Some(bucket) = self.buckets.get_mut(&key) {
                let gone = bucket.entries.swap_remove(at);
                self.entries -= 1;
                self.bytes -= gone.bytes;
            }
        }
        while self.buckets.len() > MAX_SCOPES {
            let oldest = self.buckets.iter().min_by_key(|(_, bucket)| bucket.used).map(|(key, _)| key.clone());
            let Some(gone) = oldest.and_then(|key| self.buckets.remove(&key)) else {
                return;
            };
            self.entries -= gone.entries.len();
            self.bytes -= gone.entries.iter().map(|entry| entry.bytes).sum::<usize>();
        }
    }
}

fn normal(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Of vectors of length 1.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() == b.len() { a.iter().zip(b).map(|(x, y)| x * y).sum() } else { -1.0 }
}

#[cfg(test)]
mod tests;
