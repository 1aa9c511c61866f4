//! Rankings of chunks, by words and by vectors, joined, within what a filter lets through.

use super::DocumentService;
use super::embedding::Purpose;
use super::indexes::ModelKey;
use super::live_index::{LiveError, Opened};
use crate::dto::documents::SearchMode;
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use steward_core::document::{Rerank, SearchWeights};
use steward_core::ports::{ChunkKey, DocumentFacts};
use steward_core::{AgentId, CollectionId, ConnectionId, DocumentId, Timestamp, UserId};
use steward_knowledge::{DocumentSet, ExactMatch, ExactMatches, FusionWeights, Hit, fuse_all, put_exact_first};

/// Chunks of each ranking that are joined.
const CANDIDATES: usize = 100;
/// Of passages that hold quoted words so many are ranked by meaning.
const QUOTED: usize = 2000;
/// Taken out of messages, whose quoted words need not be held.
const QUOTES: &[char] = &['"', '“', '”', '„', '«', '»', '「', '」', '『', '』', '＂'];
/// How often a search is made again because a collection came to another model.
const SWITCHES: usize = 3;

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

/// What words in quotation marks mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoted {
    /// Only passages that hold all of them are found.
    Required,
    /// These come first: a message quotes for many reasons.
    First,
}

/// A search, and how its rankings are joined.
#[derive(Debug, Clone)]
pub(crate) struct Search<'a> {
    pub query: &'a str,
    pub filter: SearchFilter,
    pub mode: SearchMode,
    pub weights: SearchWeights,
    pub limit: usize,
    pub quoted: Quoted,
    pub rerank: Rerank,
    /// The connection whose model may re-rank; `None`: the one that is used by default.
    pub connection: Option<ConnectionId>,
    /// Whether documents are looked into although the answer may be known.
    pub fresh: bool,
    /// Who asks, and pays for models that are asked for it.
    pub user: Option<UserId>,
}

/// Collections whose vectors are of one model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ModelGroup {
    pub key: ModelKey,
    pub collections: BTreeSet<CollectionId>,
}

/// What a question means to the models of the collections.
#[derive(Debug, Clone, Default)]
pub(super) struct Meaning {
    pub groups: Vec<ModelGroup>,
    /// One for each group; `None`: its model made none.
    pub vectors: Vec<Option<Vec<f32>>>,
    /// Why some are missing.
    pub notice: Option<String>,
}

/// What was found, before its texts are read.
pub(super) struct Ranked {
    pub hits: Vec<RankedChunk>,
    pub documents: u64,
    pub notice: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct RankedChunk {
    pub key: ChunkKey,
    pub facts: DocumentFacts,
    pub score: f64,
    /// What it holds of what the question names exactly.
    pub exact: ExactMatch,
    pub text: Option<(u32, f32)>,
    /// Its place among the vectors of its collection's model, and the cosine.
    pub vector: Option<(u32, f32)>,
    /// What a re-ranker said.
    pub rerank: Option<f64>,
}

impl DocumentService {
    /// The collections of a search by the models of their vectors.
    pub(super) async fn groups(&self, search: &Search<'_>) -> Result<Vec<ModelGroup>, LiveError> {
        if search.mode == SearchMode::Text {
            return Ok(Vec::new());
        }
        let mut groups: BTreeMap<ModelKey, BTreeSet<CollectionId>> = BTreeMap::new();
        for one in self.store.collection_vectors(self.tenant).await? {
            if let Some(key) = one.model.zip(one.dimension)
                && search.filter.collections.contains(&one.collection)
            {
                groups.entry(key).or_default().insert(one.collection);
            }
        }
        Ok(groups.into_iter().map(|(key, collections)| ModelGroup { key, collections }).collect())
    }

    /// What the question means to each model; where one fails, words alone count.
    pub(super) async fn meaning(&self, query: &str, user: Option<UserId>, groups: Vec<ModelGroup>) -> Meaning {
        let question = [query.to_owned()];
        let asked = groups.iter().map(|group| async {
            let (model, dimension) = &group.key;
            let made = self.embedding.embed(model, &question, Purpose::Question(user)).await;
            let vector = made.map_err(|problem| problem.message)?.pop().unwrap_or_default();
            if vector.len() == *dimension as usize {
                return Ok(vector);
            }
            Err(format!(
                "`{model}` makes vectors of {} numbers, those of the collection have {dimension}",
                vector.len()
            ))
        });
        let answers: Vec<Result<Vec<f32>, String>> = join_all(asked).await;
        let mut problems: Vec<String> = answers.iter().filter_map(|one| one.as_ref().err().cloned()).collect();
        problems.dedup();
        let which = if problems.len() < answers.len() {
            "only words were looked at in some collections"
        } else {
            "only words were looked at"
        };
        let notice = (!problems.is_empty()).then(|| format!("{which}: {}", problems.join("; ")));
        Meaning { groups, vectors: answers.into_iter().map(Result::ok).collect(), notice }
    }

    /// The best chunks of the documents that fit the filter. Nothing else is scored or counted. Where a collection comes to
    /// another model meanwhile, its vectors of the one from before may be gone already: it is asked again.
    pub(super) async fn ranked(&self, search: &Search<'_>, meaning: Meaning) -> Result<Ranked, LiveError> {
        let mut meaning = meaning;
        let mut tries = 0;
        loop {
            let ranked = self.ranked_once(search, &meaning).await?;
            tries += 1;
            let now = self.groups(search).await?;
            if now == meaning.groups || tries > SWITCHES {
                return Ok(ranked);
            }
            meaning = self.meaning(search.query, search.user, now).await;
        }
    }

    async fn ranked_once(&self, search: &Search<'_>, meaning: &Meaning) -> Result<Ranked, LiveError> {
        let notice = meaning.notice.clone();
        let Some(opened) = self.indexes.words().up_to_date().await? else {
            return Ok(Ranked { hits: Vec::new(), documents: 0, notice });
        };
        let Search { query, filter, mode, weights, limit, quoted, .. } = search;
        let (mode, weights, limit, quoted) = (*mode, *weights, *limit, *quoted);
        let numbers = opened.matching(|facts| filter.fits(facts));
        let documents = numbers.len() as u64;
        let allowed: DocumentSet = numbers.into_iter().collect();
        let mut asked: Vec<(Arc<Opened>, Vec<f32>, DocumentSet)> = Vec::new();
        for (group, vector) in meaning.groups.iter().zip(&meaning.vectors) {
            let Some(vector) = vector else { continue };
            let Some(index) = self.indexes.of(&group.key).up_to_date().await? else { continue };
            let within = opened.matching(|facts| filter.fits(facts) && group.collections.contains(&facts.collection));
            asked.push((index, vector.clone(), within.into_iter().collect()));
        }
        let count = CANDIDATES.max(limit);
        let (target, words) = (Arc::clone(&opened), (*query).to_owned());
        let searched = tokio::task::spawn_blocking(move || {
            let mut exact = target.index.find_exact(&words, &allowed)?;
            let held = exact.quoted.take().filter(|_| quoted == Quoted::Required);
            if let Some(held) = &held {
                exact.chunks.retain(|key, _| held.contains(key));
            }
            let (words, wanted) = match &held {
                // Places of the others don't count, so that more are looked at.
                Some(held) => (words, count.max(held.len().min(QUOTED))),
                None => (words.replace(QUOTES, " "), count),
            };
            let text = match mode {
                SearchMode::Vectors => Vec::new(),
                _ => target.index.search_text(&words, &allowed, count)?,
            };
            let mut vectors = Vec::with_capacity(asked.len());
            for (opened, vector, set) in &asked {
                let set = match &held {
                    Some(held) => held.iter().map(|key| key.document).filter(|one| set.contains(*one)).collect(),
                    None => set.clone(),
                };
                let mut hits = opened.index.search_vectors(vector, &set, wanted)?;
                hits.retain(|hit| held.as_ref().is_none_or(|held| held.contains(&hit.key())));
                vectors.push(hits);
            }
            let nothing_quoted = held.is_some_and(|held| held.is_empty());
            Ok::<_, LiveError>((text, vectors, exact, nothing_quoted))
        });
        let (text, vectors, mut exact, nothing_quoted) = searched.await.map_err(|_| LiveError::Ended)??;
        // Words alone, and vectors alone, are shown as they are.
        if mode != SearchMode::Hybrid || !weights.exact_first {
            exact = ExactMatches::default();
        }
        let mut notice = notice;
        if nothing_quoted {
            let none =
                "no passage holds all of the words in quotation marks; leave the marks out to find others".to_owned();
            notice = Some(notice.map_or(none.clone(), |before| format!("{before}; {none}")));
        }
        let hits = joined(&opened, &text, &vectors, (weights, &exact), limit);
        Ok(Ranked { hits, documents, notice })
    }
}

/// `vectors`: a ranking for each model. Cosines of two models say nothing about each other, so their places count.
fn joined(
    opened: &Opened,
    text: &[Hit],
    vectors: &[Vec<Hit>],
    (weights, exact): (SearchWeights, &ExactMatches),
    limit: usize,
) -> Vec<RankedChunk> {
    let weights =
        FusionWeights { text: f64::from(weights.text), vector: f64::from(weights.vectors), ..FusionWeights::default() };
    let keys = |hits: &[Hit]| hits.iter().map(Hit::key).collect::<Vec<_>>();
    let scores = |hits: &[Hit]| hits.iter().map(|hit| (hit.key(), hit.score)).collect::<HashMap<_, _>>();
    let by_text = scores(text);
    let by_vector: HashMap<_, _> = vectors.iter().flat_map(|hits| scores(hits)).collect();
    let vectors: Vec<Vec<_>> = vectors.iter().map(|hits| keys(hits)).collect();
    put_exact_first(fuse_all(&keys(text), &vectors, weights), exact)
        .into_iter()
        .take(limit)
        .filter_map(|fused| {
            Some(RankedChunk {
                facts: opened.facts(fused.key.document)?,
                text: fused.text_rank.zip(by_text.get(&fused.key).copied()),
                vector: fused.vector_rank.zip(by_vector.get(&fused.key).copied()),
                key: fused.key,
                score: fused.score,
                exact: exact.chunks.get(&fused.key).cloned().unwrap_or_default(),
                rerank: None,
            })
        })
        .collect()
}
