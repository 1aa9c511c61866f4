//! Passages for runs: the same search, within what the run's user may see.

use super::reserved::workspace_id;
use super::{DocumentService, LiveError, Quoted, Search, SearchFilter, dot};
use crate::dto::documents::SearchMode;
use async_trait::async_trait;
use std::collections::HashMap;
use steward_core::document::{Collection, Rerank, SearchWeights};
use steward_core::ports::{
    ChunkKey, DocumentPassage, FoundPassages, Knowledge, KnowledgeError, PassageQuery, Role, Users as _,
};
use steward_core::{CollectionId, UserId};
use steward_knowledge::quote::{parts, quote};
use steward_knowledge::{ExactMatch, holds_exactly, word_coverage};

/// Longest quotation of a passage, bytes.
const QUOTE: usize = 500;
/// Passages that the nearest are chosen from.
const RANKED: usize = 100;
/// Best ones by words alone that are looked at however far they are by meaning.
const BY_WORDS: u32 = 4;
/// How many times as many exact hits are looked at as passages are wanted.
const EXACT: usize = 2;
/// Parts of a passage that are compared with the question by meaning.
const LIKELY: usize = 2;
/// The same where the answer is no more than what is found.
const CLOSELY: usize = 4;

#[async_trait]
impl Knowledge for DocumentService {
    async fn passages(&self, query: PassageQuery<'_>) -> Result<FoundPassages, KnowledgeError> {
        let collections = self.searchable(&query).await?;
        if collections.is_empty() {
            return Ok(FoundPassages::default());
        }
        let workspace = collections.contains_key(&workspace_id()).then(workspace_id);
        let filter = SearchFilter {
            collections: collections.keys().copied().collect(),
            documents: query.documents.iter().copied().collect(),
            agent: (!query.everything && query.documents.is_empty()).then_some(query.agent),
            whole: workspace.filter(|_| query.workspace.is_some()),
            ..SearchFilter::default()
        };
        let search = Search {
            query: query.text,
            filter,
            mode: SearchMode::Hybrid,
            weights: SearchWeights::default(),
            limit: RANKED,
            quoted: if query.everything { Quoted::Required } else { Quoted::First },
            rerank: Rerank::Off,
            connection: None,
            user: query.user,
            fresh: true,
        };
        let failed = |error: LiveError| KnowledgeError::Index(error.to_string());
        let groups = self.groups(&search).await.map_err(failed)?;
        let meaning = self.meaning(query.text, query.user, groups).await;
        let mut ranked = self.ranked(&search, meaning).await.map_err(failed)?;
        // A number or a name that stands in one passage alone says more than all vectors.
        let mut place = 0;
        ranked.hits.retain(|hit| {
            place += 1;
            place <= query.limit
                || hit.text.is_some_and(|(rank, _)| rank <= BY_WORDS)
                || (hit.exact.weight > 0.0 && place <= query.limit * EXACT)
        });
        let keys: Vec<ChunkKey> = ranked.hits.iter().map(|hit| hit.key).collect();
        let rows = self.store.chunks(self.tenant, &keys).await?;
        let mut rows: HashMap<ChunkKey, _> = rows.into_iter().collect();
        let mut passages = Vec::with_capacity(keys.len());
        let mut exact = Vec::with_capacity(keys.len());
        for hit in ranked.hits {
            let row = rows.remove(&hit.key);
            let document = self.store.document(self.tenant, hit.facts.id).await?;
            let (Some(chunk), Some(document), Some(collection)) =
                (row, document, collections.get(&hit.facts.collection))
            else {
                continue;
            };
            exact.push(hit.exact);
            passages.push(DocumentPassage {
                document: document.id,
                classification: document.classification.max(collection.classification),
                collection: collection.name.clone(),
                name: document.name,
                origin: document.origin,
                source: document.source,
                index: hit.key.chunk,
                chunk,
                quote: String::new(),
                nearest: 0.0,
                cosine: hit.vector.map(|(_, cosine)| cosine),
            });
        }
        let likely = if query.closely { CLOSELY } else { LIKELY };
        self.quote(query.text, &mut passages, &exact, likely).await;
        let passages = in_order(passages, &exact);
        Ok(FoundPassages { passages, documents: ranked.documents, problem: ranked.notice })
    }
}

impl DocumentService {
    /// Finds the part of each passage that is nearest to the question; one with what the question names exactly is quoted.
    async fn quote(&self, question: &str, passages: &mut [DocumentPassage], exact: &[ExactMatch], most: usize) {
        let mut texts = vec![question.to_owned()];
        let mut likely = Vec::with_capacity(passages.len());
        for passage in &*passages {
            let all = parts(&passage.chunk.text);
            let mut by_words: Vec<(usize, f32)> =
                all.iter().map(|part| word_coverage(question, part)).enumerate().collect();
            by_words.sort_by(|a, b| b.1.total_cmp(&a.1));
            by_words.truncate(most);
            texts.extend(by_words.iter().map(|(at, _)| all[*at].to_owned()));
            likely.push(by_words);
        }
        // Without an embedder, words alone tell.
        let vectors = self.embedding.built_in().embed(&texts).await.unwrap_or_default();
        let asked = vectors.first();
        let near = |vector: Option<&Vec<f32>>| asked.zip(vector).map_or(0.0, |(asked, vector)| dot(asked, vector));
        let mut vectors = vectors.iter().skip(1);
        for ((passage, likely), exact) in passages.iter_mut().zip(likely).zip(exact) {
            let all = parts(&passage.chunk.text);
            let mut scores = vec![0.0; all.len()];
            for (at, words) in likely {
                scores[at] = words + near(vectors.next());
            }
            passage.nearest = scores.iter().copied().fold(0.0, f32::max);
            for (score, part) in scores.iter_mut().zip(&all) {
                *score += exact.terms.iter().map(|term| f32::from(u8::from(holds_exactly(part, term)))).sum::<f32>();
            }
            passage.quote = quote(&passage.chunk.text, &all, &scores, QUOTE);
        }
    }

    /// Whoever may not search collections still asks agents, whose links and files are theirs to use.
    async fn searchable(&self, query: &PassageQuery<'_>) -> Result<HashMap<CollectionId, Collection>, KnowledgeError> {
        let visible_to: Option<UserId> = match query.user {
            Some(id) => {
                let user = self.store.user(self.tenant, id).await?;
                // Who is gone sees nothing any more; operators see everything.
                let sees_all = user.is_some_and(|user| matches!(user.role, Role::Admin | Role::Operator));
                (!sees_all).then_some(id)
            }
            None => None,
        };
        let all = self.store.collections(self.tenant, visible_to).await?;
        let mut known: HashMap<CollectionId, Collection> = all.into_iter().map(|one| (one.id, one)).collect();
        let files = query.workspace.is_some_and(|folder| folder == *self.workspace.get());
        let workspace = self.store.collection(self.tenant, workspace_id()).await?;
        if let Some(workspace) = workspace {
            if files {
                known.insert(workspace.id, workspace);
            } else {
                known.remove(&workspace.id);
            }
        }
        Ok(known)
    }
}

/// Those first that hold what the question names exactly, then the nearest.
fn in_order(passages: Vec<DocumentPassage>, exact: &[ExactMatch]) -> Vec<DocumentPassage> {
    let mut both: Vec<(DocumentPassage, f32)> =
        passages.into_iter().zip(exact.iter().map(|found| found.weight)).collect();
    both.sort_by(|(a, first), (b, second)| second.total_cmp(first).then_with(|| b.nearest.total_cmp(&a.nearest)));
    both.into_iter().map(|(passage, _)| passage).collect()
}
