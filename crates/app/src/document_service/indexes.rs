//! The indexes of a tenant: one for all words, which has the vectors of the built-in model too, and one for the vectors of
//! each other model that a collection has or is on its way to.

use super::live_index::{IndexOf, LiveIndex};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use steward_core::TenantId;
use steward_core::hash::sha256;
use steward_core::locks::lock;
use steward_core::ports::{Clock, Embedder};
use steward_knowledge::{Index, IndexStats};
use steward_store::Store;

/// The folder of the index of all words, and that of the others.
const WORDS: &str = "index";
const OTHERS: &str = "index-of-models";

/// A model and the numbers of its vectors.
pub(super) type ModelKey = (String, u32);

pub(super) struct Indexes {
    tenant: TenantId,
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    data_dir: PathBuf,
    words: Arc<LiveIndex>,
    built_in: ModelKey,
    others: Mutex<HashMap<ModelKey, Arc<LiveIndex>>>,
}

impl Indexes {
    pub fn new(
        tenant: TenantId,
        store: Arc<Store>,
        embedder: &dyn Embedder,
        clock: Arc<dyn Clock>,
        data_dir: PathBuf,
    ) -> Self {
        let of = IndexOf { model: embedder.model().to_owned(), dimension: embedder.dimension(), words: true };
        let built_in = (of.model.clone(), u32::try_from(of.dimension).unwrap_or(u32::MAX));
        let words = LiveIndex::new(tenant, Arc::clone(&store), Arc::clone(&clock), of, data_dir.join(WORDS));
        Self { tenant, store, clock, data_dir, words: Arc::new(words), built_in, others: Mutex::default() }
    }

    pub fn words(&self) -> &LiveIndex {
        &self.words
    }

    /// The index of the vectors of a model.
    pub fn of(&self, key: &ModelKey) -> Arc<LiveIndex> {
        if *key == self.built_in {
            return Arc::clone(&self.words);
        }
        let mut others = lock(&self.others);
        let found = others.entry(key.clone()).or_insert_with(|| {
            let of = IndexOf { model: key.0.clone(), dimension: key.1 as usize, words: false };
            let dir = self.data_dir.join(OTHERS).join(folder(key));
            Arc::new(LiveIndex::new(self.tenant, Arc::clone(&self.store), Arc::clone(&self.clock), of, dir))
        });
        Arc::clone(found)
    }

    /// Of all that are open; `None`: that of the words isn't.
    pub fn stats(&self) -> Option<IndexStats> {
        let mut stats = self.words.stats()?;
        let others: Vec<Arc<LiveIndex>> = lock(&self.others).values().cloned().collect();
        for other in others.iter().filter_map(|other| other.stats()) {
            stats.vectors += other.vectors;
            stats.vector_bytes += other.vector_bytes + other.text_bytes;
        }
        Some(stats)
    }

    /// Takes in what was changed, and removes the indexes of models that no collection has any more.
    pub async fn catch_up(&self) {
        self.words.catch_up().await;
        let vectors = match self.store.collection_vectors(self.tenant).await {
            Ok(vectors) => vectors,
            Err(error) => {
                tracing::error!(%error, "the models of collections can't be read");
                return;
            }
        };
        let used: HashSet<ModelKey> = vectors
            .into_iter()
            .flat_map(|one| [one.model.zip(one.dimension), one.next.zip(one.next_dimension)])
            .flatten()
            .filter(|key| *key != self.built_in)
            .collect();
        for key in &used {
            self.of(key).catch_up().await;
        }
        let left: Vec<ModelKey> = lock(&self.others).keys().filter(|key| !used.contains(*key)).cloned().collect();
        for key in left {
            lock(&self.others).remove(&key);
        }
        let root = self.data_dir.join(OTHERS);
        let wanted: HashSet<String> = used.iter().map(folder).collect();
        let removed = tokio::task::spawn_blocking(move || {
            for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
                if !entry.file_name().to_str().is_some_and(|name| wanted.contains(name)) {
                    Index::remove(&entry.path())?;
                }
            }
            Ok::<(), steward_knowledge::IndexError>(())
        });
        if let Ok(Err(error)) = removed.await {
            tracing::warn!(%error, "the index of a model that is not used any more stays");
        }
    }
}

fn folder((model, dimension): &ModelKey) -> String {
    sha256(format!("{model} {dimension}").as_bytes())[..16].to_owned()
}
