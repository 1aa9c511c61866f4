//! How well, and how fast, a collection with judged queries is searched.

mod beir;
mod metrics;

pub use beir::{BeirError, Collection, Entry, read as read_beir};
pub use metrics::{Judgements, Quality, Rankings, quality};

use crate::chunk::{Chunk, ChunkSettings, chunk};
use crate::document_set::DocumentSet;
use crate::fusion::{Fused, FusionWeights, fuse, put_exact_first, rerank};
use crate::index::{ChunkEntry, ChunkKey, Hit, Index, IndexError, IndexStats};
use crate::{Block, BlockKind, Extracted, Page};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};
use steward_core::ports::{EmbedError, Embedder};

/// Chunks that each ranking is made of: some documents have several.
const RANKED: usize = 300;
/// Texts embedded at a time.
const BATCH: usize = 128;
/// Chunks that a re-ranker reads, as in searches.
const RERANKED: usize = 20;
/// Documents of a commit.
const TOGETHER: usize = 500;

/// Scores texts by how well they answer a question.
pub type Scorer<'a> = dyn Fn(&str, &[&str]) -> Result<Vec<f32>, String> + Send + Sync + 'a;

#[derive(Debug, Clone, Copy, Default)]
pub struct EvaluationSettings {
    /// `max_tokens` comes from the embedder.
    pub chunks: ChunkSettings,
    pub fusion: FusionWeights,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// `bm25`, `vectors`, `rrf`, `exact` (the same with exact hits first, as searches are) or `reranked`.
    pub name: String,
    #[serde(flatten)]
    pub quality: Quality,
    /// Milliseconds of a search, embedding of the query included.
    pub p50_ms: f64,
    pub p99_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub documents: usize,
    pub chunks: usize,
    pub queries: usize,
    pub stages: Vec<Stage>,
    pub cutting_seconds: f64,
    pub embedding_seconds: f64,
    pub indexing_seconds: f64,
    /// Milliseconds to embed a query.
    pub embedding_p50_ms: f64,
    /// How many of the ten nearest chunks by plain comparison are among the ten that the search of vectors finds.
    pub vector_recall_at_10: f64,
    pub index: IndexStats,
}

/// A table of the stages, then what the collection came to.
impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("            nDCG@10  recall@10  recall@100     MRR    p50 ms    p99 ms\n")?;
        for Stage { name, quality, p50_ms, p99_ms } in &self.stages {
            let Quality { ndcg_at_10, recall_at_10, recall_at_100, mrr, .. } = quality;
            write!(f, "{name:<10}{ndcg_at_10:>9.4}{recall_at_10:>11.4}{recall_at_100:>12.4}{mrr:>8.4}")?;
            writeln!(f, "{p50_ms:>10.2}{p99_ms:>10.2}")?;
        }
        writeln!(
            f,
            "{} documents, {} chunks, {} queries; cut in {:.1} s, embedded in {:.1} s, indexed in {:.1} s",
            self.documents,
            self.chunks,
            self.queries,
            self.cutting_seconds,
            self.embedding_seconds,
            self.indexing_seconds
        )?;
        write!(
            f,
            "words {:.1} MB, vectors {:.1} MB on disk and {:.1} MB in memory; {:.4} of the ten nearest vectors were found",
            megabytes(self.index.text_bytes),
            megabytes(self.index.vector_bytes),
            megabytes(self.index.memory_bytes),
            self.vector_recall_at_10
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("the collection has more documents than can be numbered")]
    TooMany,
    #[error("the re-ranker failed: {0}")]
    Rerank(String),
    #[error("the model answered for {found} of {wanted} texts")]
    BadAnswer { found: usize, wanted: usize },
}

/// Builds an index in `dir`, which is empty, and asks every query; what `reranker` makes of the answers is a stage more.
/// `progress` hears how many of how many chunks are done.
pub async fn evaluate(
    collection: &Collection,
    dir: &Path,
    embedder: &dyn Embedder,
    reranker: Option<&Scorer<'_>>,
    settings: &EvaluationSettings,
    mut progress: impl FnMut(usize, usize),
) -> Result<Evaluation, EvaluationError> {
    let counter = embedder.token_counter();
    let cut = ChunkSettings { max_tokens: counter.max_tokens(), ..settings.chunks };
    let begun = Instant::now();
    let chunks: Vec<Vec<Chunk>> = collection
        .documents
        .iter()
        .map(|document| chunk(&as_extracted(document), &cut, &|text| counter.count(text)))
        .collect();
    let cutting = begun.elapsed();
    let count = chunks.iter().map(Vec::len).sum();
    let index = Index::open(dir, embedder.model(), embedder.dimension())?;
    let (mut embedding, mut indexing) = (Duration::ZERO, Duration::ZERO);
    let mut done = 0;
    let mut change = 0;
    for together in chunks.chunks(TOGETHER) {
        let texts: Vec<String> = together.iter().flatten().map(Chunk::embedding_text).collect();
        let begun = Instant::now();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            vectors.extend(embed(embedder, batch).await?);
            done += batch.len();
            progress(done, count);
        }
        embedding += begun.elapsed();
        let begun = Instant::now();
        let mut vectors = vectors.into_iter();
        for chunks in together {
            let vectors: Vec<Vec<f32>> = vectors.by_ref().take(chunks.len()).collect();
            let document = u32::try_from(change).map_err(|_| EvaluationError::TooMany)?;
            change += 1;
            apply(&index, change, document, chunks, &vectors)?;
        }
        index.commit()?;
        indexing += begun.elapsed();
    }
    let begun = Instant::now();
    index.rest()?;
    indexing += begun.elapsed();
    let asked = ask(collection, &index, embedder, reranker.map(|scorer| (scorer, chunks.as_slice())), settings).await?;
    Ok(Evaluation {
        documents: collection.documents.len(),
        chunks: count,
        queries: collection.queries.len(),
        stages: asked.stages,
        cutting_seconds: cutting.as_secs_f64(),
        embedding_seconds: embedding.as_secs_f64(),
        indexing_seconds: indexing.as_secs_f64(),
        embedding_p50_ms: asked.embedding_p50_ms,
        vector_recall_at_10: asked.vector_recall_at_10,
        index: index.stats()?,
    })
}

fn as_extracted(document: &Entry) -> Extracted {
    let paragraph = |text: &str| Block { kind: BlockKind::Paragraph, text: text.to_owned(), area: None };
    let blocks = document.text.split("\n\n").map(paragraph).collect();
    let page = Page { number: 1, blocks, ..Page::default() };
    let title = (!document.title.trim().is_empty()).then(|| document.title.clone());
    Extracted { doc_type: "text".to_owned(), title, pages: vec![page], warnings: Vec::new() }
}

async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Vec<f32>>, EvaluationError> {
    let vectors = embedder.embed(texts).await?;
    if vectors.len() == texts.len() {
        return Ok(vectors);
    }
    Err(EvaluationError::BadAnswer { found: vectors.len(), wanted: texts.len() })
}

fn apply(
    index: &Index,
    change: u64,
    document: u32,
    chunks: &[Chunk],
    vectors: &[Vec<f32>],
) -> Result<(), EvaluationError> {
    let headings: Vec<String> = chunks.iter().map(Chunk::heading).collect();
    let parts = chunks.iter().zip(&headings).zip(vectors);
    let entries: Vec<ChunkEntry<'_>> = parts
        .map(|((chunk, heading), vector)| ChunkEntry {
            index: chunk.index,
            heading,
            text: &chunk.text,
            vector: Some(vector),
        })
        .collect();
    Ok(index.apply(change, document, &entries)?)
}

struct Asked {
    stages: Vec<Stage>,
    embedding_p50_ms: f64,
    vector_recall_at_10: f64,
}

#[derive(Default)]
struct Found {
    rankings: Rankings,
    times: Vec<Duration>,
}

impl Found {
    fn add(&mut self, collection: &Collection, query: &Entry, keys: impl Iterator<Item = ChunkKey>, took: Duration) {
        let mut seen = HashSet::new();
        let name = |document: u32| collection.documents.get(document as usize).map(|document| document.id.clone());
        let documents = keys.filter(|key| seen.insert(key.document)).filter_map(|key| name(key.document));
        self.rankings.insert(query.id.clone(), documents.collect());
        self.times.push(took);
    }

    fn stage(self, name: &str, judgements: &Judgements) -> Stage {
        let (p50_ms, p99_ms) = percentiles(self.times);
        Stage { name: name.to_owned(), quality: quality(&self.rankings, judgements), p50_ms, p99_ms }
    }
}

async fn ask(
    collection: &Collection,
    index: &Index,
    embedder: &dyn Embedder,
    reranker: Option<(&Scorer<'_>, &[Vec<Chunk>])>,
    settings: &EvaluationSettings,
) -> Result<Asked, EvaluationError> {
    let all = DocumentSet::all();
    let (mut bm25, mut vectors, mut rrf) = (Found::default(), Found::default(), Found::default());
    let (mut exact_first, mut reordered) = (Found::default(), Found::default());
    let mut embedding = Vec::new();
    let mut exact = 0;
    let mut wanted = 0;
    for query in &collection.queries {
        let begun = Instant::now();
        let vector = embed(embedder, std::slice::from_ref(&query.text)).await?.swap_remove(0);
        let embedding_took = begun.elapsed();
        let begun = Instant::now();
        let by_text = index.search_text(&query.text, &all, RANKED)?;
        let text_took = begun.elapsed();
        let begun = Instant::now();
        let by_vector = index.search_vectors(&vector, &all, RANKED)?;
        let vector_took = embedding_took + begun.elapsed();
        let keys = |hits: &[Hit]| hits.iter().map(Hit::key).collect::<Vec<ChunkKey>>();
        let begun = Instant::now();
        let fused = fuse(&keys(&by_text), &keys(&by_vector), settings.fusion);
        let both_took = text_took + vector_took + begun.elapsed();
        bm25.add(collection, query, by_text.iter().map(Hit::key), text_took);
        vectors.add(collection, query, by_vector.iter().map(Hit::key), vector_took);
        rrf.add(collection, query, fused.iter().map(|one| one.key), both_took);
        let begun = Instant::now();
        let fused = put_exact_first(fused, &index.find_exact(&query.text, &all)?);
        let all_took = both_took + begun.elapsed();
        exact_first.add(collection, query, fused.iter().map(|one| one.key), all_took);
        if let Some((scorer, chunks)) = reranker {
            let begun = Instant::now();
            let keys = in_better_order(&query.text, &fused, &by_text, chunks, scorer)?;
            reordered.add(collection, query, keys.into_iter(), all_took + begun.elapsed());
        }
        embedding.push(embedding_took);
        let ten = keys(&index.search_vectors(&vector, &all, 10)?);
        let nearest = keys(&index.search_vectors_with(&vector, &all, 10, usize::MAX)?);
        exact += ten.iter().filter(|key| nearest.contains(key)).count();
        wanted += nearest.len();
    }
    let judgements = &collection.judgements;
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let vector_recall_at_10 = exact as f64 / wanted.max(1) as f64;
    let stages = [("bm25", bm25), ("vectors", vectors), ("rrf", rrf), ("exact", exact_first)];
    let mut stages: Vec<Stage> = stages.into_iter().map(|(name, found)| found.stage(name, judgements)).collect();
    if reranker.is_some() {
        stages.push(reordered.stage("reranked", judgements));
    }
    Ok(Asked { stages, embedding_p50_ms: percentiles(embedding).0, vector_recall_at_10 })
}

/// All that was found, the best by what a re-ranker says of them and by their words.
fn in_better_order(
    question: &str,
    fused: &[Fused],
    by_text: &[Hit],
    chunks: &[Vec<Chunk>],
    scorer: &Scorer<'_>,
) -> Result<Vec<ChunkKey>, EvaluationError> {
    let (best, rest) = fused.split_at(fused.len().min(RERANKED));
    let text_of = |key: ChunkKey| {
        let of_document = chunks.get(key.document as usize)?;
        of_document.iter().find(|chunk| chunk.index == key.chunk).map(Chunk::embedding_text)
    };
    let texts: Vec<String> = best.iter().map(|one| text_of(one.key).unwrap_or_default()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let said = scorer(question, &texts).map_err(EvaluationError::Rerank)?;
    if said.len() != texts.len() {
        return Err(EvaluationError::BadAnswer { found: said.len(), wanted: texts.len() });
    }
    let keyword = |key: ChunkKey| by_text.iter().find(|hit| hit.key() == key).map(|hit| f64::from(hit.score));
    let keyword: Vec<Option<f64>> = best.iter().map(|one| keyword(one.key)).collect();
    let said: Vec<Option<f64>> = said.into_iter().map(|score| Some(f64::from(score))).collect();
    let mut ordered: Vec<(ChunkKey, f64)> = best.iter().map(|one| one.key).zip(rerank(&keyword, &said)).collect();
    ordered.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Ok(ordered.into_iter().map(|(key, _)| key).chain(rest.iter().map(|one| one.key)).collect())
}

/// The middle and the slowest but one in a hundred, milliseconds.
fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |percent: usize| {
        let last = times.len().saturating_sub(1);
        times.get((last * percent).div_ceil(100)).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    (at(50), at(99))
}
