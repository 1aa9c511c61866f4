//! An index of a tenant while the program runs: opened when it is first needed, closed when nobody uses it, and brought
//! up to date from the order in which documents changed. It can be removed at any time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;
use steward_core::locks::{lock, read, write};
use steward_core::ports::{ChunkRow, ChunkVector, Clock, DocumentChange, DocumentFacts, StoreError};
use steward_core::{TenantId, Timestamp};
use steward_knowledge::{ChunkEntry, Index, IndexError, IndexStats};
use steward_store::Store;

/// Changes that are taken in between two commits.
const BATCH: u32 = 200;
/// How often opening is tried while a search still holds the index that was closed.
const OPEN_TRIES: u32 = 40;
const OPEN_PAUSE: Duration = Duration::from_millis(50);
/// How long an index that nobody uses stays open.
const IDLE: Duration = Duration::from_mins(5);

pub(super) struct LiveIndex {
    tenant: TenantId,
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    of: IndexOf,
    dir: PathBuf,
    opened: RwLock<Option<Arc<Opened>>>,
    used: Mutex<Timestamp>,
    /// The last change that was in when it was closed.
    complete: AtomicU64,
    /// What it held when it was closed, for it is closed while nobody searches.
    rested: Mutex<Option<IndexStats>>,
    /// One at a time opens it and takes changes in.
    writing: tokio::sync::Mutex<()>,
}

/// What an index is of.
#[derive(Debug, Clone)]
pub(super) struct IndexOf {
    /// The model whose vectors are in it.
    pub model: String,
    pub dimension: usize,
    /// Whether the words are in it too.
    pub words: bool,
}

pub(super) struct Opened {
    pub index: Index,
    known: RwLock<Known>,
}

/// What filters look at, up to a change.
#[derive(Default)]
struct Known {
    seq: u64,
    documents: HashMap<u32, DocumentFacts>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LiveError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a task of the index ended unexpectedly")]
    Ended,
}

impl Opened {
    /// The numbers of the documents that fit.
    pub fn matching(&self, fits: impl Fn(&DocumentFacts) -> bool) -> Vec<u32> {
        let known = read(&self.known);
        known.documents.iter().filter(|(_, facts)| fits(facts)).map(|(number, _)| *number).collect()
    }

    pub fn facts(&self, document: u32) -> Option<DocumentFacts> {
        read(&self.known).documents.get(&document).cloned()
    }

    pub fn seq(&self) -> u64 {
        read(&self.known).seq
    }

    fn learn(&self, changes: &[DocumentChange]) {
        let mut known = write(&self.known);
        for change in changes {
            known.seq = known.seq.max(change.seq);
            match &change.facts {
                Some(facts) => known.documents.insert(change.document, facts.clone()),
                None => known.documents.remove(&change.document),
            };
        }
    }
}

impl LiveIndex {
    pub fn new(tenant: TenantId, store: Arc<Store>, clock: Arc<dyn Clock>, of: IndexOf, dir: PathBuf) -> Self {
        Self {
            tenant,
            store,
            clock,
            of,
            dir,
            opened: RwLock::default(),
            used: Mutex::new(Timestamp(0)),
            complete: AtomicU64::new(0),
            rested: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
        }
    }

    /// The index with all that was changed so far; `None`: there is nothing to be found.
    pub async fn up_to_date(&self) -> Result<Option<Arc<Opened>>, LiveError> {
        *lock(&self.used) = self.clock.now();
        let last = self.store.last_document_change(self.tenant).await?;
        if last == 0 {
            return Ok(None);
        }
        match self.current() {
            Some(opened) if opened.seq() >= last => Ok(Some(opened)),
            _ => self.take_in().await.map(Some),
        }
    }

    /// Takes in what was changed; closes the index if nobody searched for a while and nothing was. A failure is logged:
    /// the next search tries again.
    pub async fn catch_up(&self) {
        let last = match self.store.last_document_change(self.tenant).await {
            Ok(last) => last,
            Err(error) => {
                tracing::error!(%error, "the changes of documents can't be read");
                return;
            }
        };
        let current = self.current();
        let seq = current.as_ref().map_or(self.complete.load(Ordering::Relaxed), |opened| opened.seq());
        let idle = self.clock.now() >= lock(&self.used).plus(IDLE);
        if seq >= last {
            if let Some(opened) = current.filter(|_| idle) {
                self.complete.store(seq, Ordering::Relaxed);
                *lock(&self.rested) = opened.index.stats().ok();
                self.put(None);
                let rested = tokio::task::spawn_blocking(move || opened.index.rest()).await;
                if let Ok(Err(error)) = rested {
                    tracing::warn!(%error, "the index of documents could not be tidied up");
                }
            }
            return;
        }
        if let Err(error) = self.take_in().await {
            tracing::error!(%error, "the index of documents could not take changes in");
        }
    }

    pub fn behind(&self, last: u64) -> u64 {
        last.saturating_sub(self.current().map_or(self.complete.load(Ordering::Relaxed), |opened| opened.seq()))
    }

    pub fn stats(&self) -> Option<IndexStats> {
        match self.current() {
            Some(opened) => opened.index.stats().ok(),
            None => lock(&self.rested).clone(),
        }
    }

    fn current(&self) -> Option<Arc<Opened>> {
        read(&self.opened).clone()
    }

    fn put(&self, opened: Option<Arc<Opened>>) {
        *write(&self.opened) = opened;
    }

    async fn take_in(&self) -> Result<Arc<Opened>, LiveError> {
        let _one = self.writing.lock().await;
        let opened = if let Some(opened) = self.current() {
            opened
        } else {
            let opened = Arc::new(self.open().await?);
            self.put(Some(Arc::clone(&opened)));
            opened
        };
        let taken = self.follow(&opened).await;
        if let Err(error) = taken {
            // What is open may be half of a batch ahead of its files; the next one begins from these.
            self.put(None);
            return Err(error);
        }
        Ok(opened)
    }

    async fn open(&self) -> Result<Opened, LiveError> {
        let (dir, IndexOf { model, dimension, .. }) = (self.dir.clone(), self.of.clone());
        let opened = tokio::task::spawn_blocking(move || {
            // A search may still hold the one that was just closed.
            let mut tries = 0;
            loop {
                match Index::open(&dir, &model, dimension) {
                    Err(error) if error.needs_rebuild() => {
                        tracing::warn!(%error, "the index of documents is built anew");
                        Index::remove(&dir)?;
                        return Index::open(&dir, &model, dimension);
                    }
                    Err(IndexError::InUse { .. }) if tries < OPEN_TRIES => {
                        tries += 1;
                        std::thread::sleep(OPEN_PAUSE);
                    }
                    other => return other,
                }
            }
        });
        let index = opened.await.map_err(|_| LiveError::Ended)??;
        Ok(Opened { index, known: RwLock::default() })
    }

    /// The chunks of a document and their vectors. Where words are not in the index, chunks without vectors aren't either.
    async fn content(&self, document: u32, count: u32) -> Result<(Vec<ChunkRow>, Vec<ChunkVector>), LiveError> {
        let mut vectors = self.store.document_vectors(self.tenant, document, &self.of.model).await?;
        vectors.retain(|one| one.vector.len() == self.of.dimension);
        let chunks = if self.of.words {
            self.store.document_chunks(self.tenant, document).await?
        } else if vectors.is_empty() {
            Vec::new()
        } else {
            vec![ChunkRow::default(); count as usize]
        };
        Ok((chunks, vectors))
    }

    async fn follow(&self, opened: &Arc<Opened>) -> Result<(), LiveError> {
        let applied = opened.index.applied();
        loop {
            let changes = self.store.document_changes(self.tenant, opened.seq(), BATCH).await?;
            if changes.is_empty() {
                return Ok(());
            }
            let mut news = Vec::new();
            for change in changes.iter().filter(|change| change.content > applied) {
                let (chunks, vectors) = match &change.facts {
                    Some(facts) => self.content(change.document, facts.chunks).await?,
                    None => (Vec::new(), Vec::new()),
                };
                let name = change.facts.as_ref().filter(|_| self.of.words).map(|facts| facts.name.clone());
                let name = name.unwrap_or_default();
                news.push((change.seq, change.document, name, chunks, vectors));
            }
            if !news.is_empty() {
                let target = Arc::clone(opened);
                let written = tokio::task::spawn_blocking(move || {
                    for (seq, document, name, chunks, vectors) in &news {
                        put_in(&target.index, *seq, *document, name, chunks, vectors)?;
                    }
                    target.index.commit()
                });
                written.await.map_err(|_| LiveError::Ended)??;
            }
            opened.learn(&changes);
        }
    }
}

fn put_in(
    index: &Index,
    seq: u64,
    document: u32,
    name: &str,
    chunks: &[ChunkRow],
    vectors: &[ChunkVector],
) -> Result<(), IndexError> {
    let vectors: HashMap<u32, &[f32]> = vectors.iter().map(|one| (one.chunk, one.vector.as_slice())).collect();
    let headings: Vec<String> = chunks.iter().map(|row| format!("{name}\n{}", row.headings.join("\n"))).collect();
    let entries: Vec<ChunkEntry<'_>> = (0u32..)
        .zip(chunks.iter().zip(&headings))
        .map(|(index, (row, heading))| ChunkEntry {
            index,
            heading,
            text: &row.text,
            vector: vectors.get(&index).copied(),
        })
        .collect();
    index.apply(seq, document, &entries)
}
