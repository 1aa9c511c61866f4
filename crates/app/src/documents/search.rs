//! Search by words and by meaning, within what the caller may see.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::collections::{check_weights, visible_to};
use crate::document_service::{LiveError, Quoted, RankedChunk, Search, SearchFilter};
use crate::dto::documents::{Chunk, DocumentSearch, EmbeddingModelStats, FoundChunk, SearchResult, VectorStoreStats};
use std::collections::{BTreeMap, HashSet};
use steward_core::document::{Collection, SearchWeights};
use steward_core::model::Provider;
use steward_core::ports::ChunkRow;
use steward_core::{CollectionId, Timestamp};

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 100;
const MAX_QUERY: usize = 1000;
const DAY_MS: i64 = 86_400_000;

impl App {
    pub async fn search_documents(&self, caller: &Caller, input: DocumentSearch) -> AppResult<SearchResult> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let begun = self.now();
        let query = input.query.trim();
        if query.is_empty() || query.chars().count() > MAX_QUERY {
            return Err(AppError::invalid(
                "query",
                "there is nothing to search for, or too much",
                format!("send 1 to {MAX_QUERY} characters"),
            ));
        }
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let collections = self.wanted_collections(caller, &input.collections).await?;
        let agent = self.named_agent(caller, input.agent_id.as_deref()).await?;
        let connection = agent.as_ref().and_then(|agent| agent.connection);
        let agent = agent.map(|agent| agent.id);
        let rerank = input.rerank.or_else(|| collections.iter().map(|one| one.rerank).min()).unwrap_or_default();
        let weights = match (input.weights, collections.as_slice()) {
            (Some(weights), _) => {
                check_weights(weights)?;
                weights
            }
            (None, [only]) => only.weights,
            _ => SearchWeights::default(),
        };
        let filter = SearchFilter {
            collections: collections.iter().map(|one| one.id).collect(),
            agent,
            doc_type: input.doc_type.clone().filter(|text| !text.is_empty()),
            source_file: input.source_file.as_ref().map(|text| text.to_lowercase()).filter(|text| !text.is_empty()),
            from: input.upload_date_from.as_deref().map(|text| day("upload_date_from", text)).transpose()?,
            until: input
                .upload_date_to
                .as_deref()
                .map(|text| day("upload_date_to", text).map(|at| Timestamp(at.0.saturating_add(DAY_MS))))
                .transpose()?,
            ..SearchFilter::default()
        };
        let limit = limit as usize;
        let (mode, fresh, user) = (input.mode, input.fresh, Some(caller.user()));
        let search =
            Search { query, filter, mode, weights, limit, quoted: Quoted::Required, rerank, connection, fresh, user };
        let (found, cached) = self.documents.find(&search).await.map_err(|error| unavailable(&error))?;
        let took_ms = u64::try_from(self.now().since(begun).as_millis()).unwrap_or(u64::MAX);
        Ok(SearchResult {
            found: found.hits.iter().map(shown).collect(),
            documents: found.documents,
            notice: found.notice.clone(),
            reranker: found.reranker.clone(),
            cached,
            took_ms,
        })
    }

    /// What keeps the vectors, and how many there are of those that the caller may see.
    pub async fn vector_store_stats(&self, caller: &Caller) -> AppResult<VectorStoreStats> {
        authorize(caller, Action::Read, Resource::Collections)?;
        let collections = self.collections(caller).await?;
        let last = self.store.last_document_change(self.tenant()).await?;
        let all = visible_to(caller).is_none();
        let stats = self.documents.index_stats().filter(|_| all);
        let (embedding_model, dimension) = self.preferred_embedding().await?;
        Ok(VectorStoreStats {
            models: self.models_of(&collections).await?,
            cross_encoder: self.documents.cross_encoder.get().is_some(),
            backend: "flat scan of 1-bit codes, re-scored".to_owned(),
            embedding_model,
            dimension,
            endpoint: self.embedding_endpoint(caller).await,
            ollama_auto_detected: self
                .connections
                .list()
                .await
                .iter()
                .any(|one| one.connection.provider == Provider::Ollama && one.from != "saved"),
            documents: collections.iter().map(|one| one.documents).sum(),
            chunks: collections.iter().map(|one| one.chunks).sum(),
            index_bytes: stats.as_ref().map_or(0, |stats| stats.text_bytes + stats.vector_bytes),
            vectors: stats.map_or(0, |stats| stats.vectors),
            behind: if all { self.documents.index_behind(last) } else { 0 },
        })
    }

    /// Where the model of new collections is asked, unless it is in this program; `None` too if the caller may not see
    /// that connection.
    async fn embedding_endpoint(&self, caller: &Caller) -> Option<String> {
        let embedding = &self.documents.embedding;
        let model = embedding.of_new_collections().await.ok()?;
        let connection = embedding.connection_of(&model).await.ok()??;
        authorize(caller, Action::Read, crate::connections::of(&connection)).ok()?;
        Some(connection.base_url)
    }

    /// The model of collections that have none yet, and the numbers in its vectors, if they are known.
    pub(crate) async fn preferred_embedding(&self) -> AppResult<(String, u32)> {
        let embedding = &self.documents.embedding;
        let preferred = embedding.preferred();
        if preferred == embedding.built_in().model() {
            let dimension = u32::try_from(embedding.built_in().dimension()).unwrap_or(u32::MAX);
            return Ok((preferred, dimension));
        }
        let known = self.store.collection_vectors(self.tenant()).await?;
        let of_it = known.into_iter().find(|one| one.model.as_deref() == Some(preferred.as_str()));
        Ok((preferred, of_it.and_then(|one| one.dimension).unwrap_or(0)))
    }

    async fn models_of(&self, visible: &[Collection]) -> AppResult<Vec<EmbeddingModelStats>> {
        let visible: HashSet<CollectionId> = visible.iter().map(|one| one.id).collect();
        let mut found: BTreeMap<(String, u32), (u64, u64)> = BTreeMap::new();
        let known = self.store.collection_vectors(self.tenant()).await?;
        for one in known.into_iter().filter(|one| visible.contains(&one.collection)) {
            if let Some(model) = one.model {
                found.entry((model, one.dimension.unwrap_or(0))).or_default().0 += 1;
            }
            if let Some(model) = one.next {
                found.entry((model, one.next_dimension.unwrap_or(0))).or_default().1 += 1;
            }
        }
        let stats = found.into_iter().map(|((model, dimension), (collections, becoming))| {
            let health = self.documents.embedding.health_of(&model).unwrap_or_default();
            EmbeddingModelStats {
                model,
                dimension,
                collections,
                becoming,
                problem: health.problem,
                failed_at: health.failed_at,
            }
        });
        Ok(stats.collect())
    }

    async fn wanted_collections(&self, caller: &Caller, wanted: &[String]) -> AppResult<Vec<Collection>> {
        if wanted.is_empty() {
            return self.collections(caller).await;
        }
        let mut collections = Vec::with_capacity(wanted.len());
        for name in wanted {
            collections.push(self.named_collection(caller, Action::Read, name).await?);
        }
        Ok(collections)
    }
}

fn shown((hit, row): &(RankedChunk, ChunkRow)) -> FoundChunk {
    FoundChunk {
        document: hit.facts.id,
        collection: hit.facts.collection,
        name: hit.facts.name.clone(),
        source: hit.facts.source.clone(),
        doc_type: hit.facts.doc_type.clone(),
        added_at: hit.facts.added_at,
        chunk: Chunk::of(hit.key.chunk, row.clone()),
        exact: hit.exact.terms.clone(),
        score: hit.score,
        text_rank: hit.text.map(|(rank, _)| rank),
        text_score: hit.text.map(|(_, score)| score),
        vector_rank: hit.vector.map(|(rank, _)| rank),
        vector_score: hit.vector.map(|(_, score)| score),
        rerank_score: hit.rerank,
    }
}

fn day(field: &str, text: &str) -> AppResult<Timestamp> {
    Timestamp::of_date(text.trim())
        .ok_or_else(|| AppError::invalid(field, format!("`{text}` is no date"), "write it as 2026-01-31, in UTC"))
}

fn unavailable(error: &LiveError) -> AppError {
    tracing::error!(%error, "a search of documents failed");
    AppError::unavailable("the index of documents can't be used")
}
