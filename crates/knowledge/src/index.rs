//! Finds chunks by their words and by their vectors.
//!
//! There is one for each tenant and embedding model, in a directory of its own, which can be removed and built anew from
//! the store at any time. What [`Index::commit`] has returned from is durable; after a sudden end an index is as its last
//! commit left it, words and vectors alike, since one file names both.

mod best;
mod codes;
mod coverage;
mod exact;
mod language;
mod narrow;
mod query;
mod statistics;
mod text;
mod types;
mod vector_file;
mod vectors;
mod words;

pub use coverage::word_coverage;
pub use exact::{ExactMatch, ExactMatches, holds_exactly};
pub(crate) use language::Stems;
pub use types::{ChunkEntry, ChunkKey, Hit, IndexError, IndexStats};
pub(crate) use words::{fold, is_word};

use crate::document_set::DocumentSet;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use steward_core::locks::{read, write};
use text::{TextIndex, TextSnapshot};
use vector_file::FileState;
use vectors::{VectorIndex, VectorSnapshot};

/// Counted up when files or the words of texts change their form.
const FORMAT: u32 = 2;
const HEAD: &str = "index.json";
const LOCK: &str = "lock";
const WORDS: &str = "words";

/// What an index is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    format: u32,
    model: String,
    dimension: usize,
}

/// What a commit writes beside the words.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Commit {
    applied: u64,
    vectors: FileState,
}

/// May be used by several threads. A search sees the last commit, also while one is being made; nothing here waits for
/// anything but disks and processors, so call it where blocking is allowed.
pub struct Index {
    dir: PathBuf,
    head: Head,
    writing: Mutex<Writing>,
    committed: RwLock<Arc<Snapshot>>,
    /// Holds the directory for this process.
    _lock: File,
}

struct Writing {
    text: TextIndex,
    vectors: VectorIndex,
    /// The last change that was applied, committed or not.
    applied: u64,
    broken: Option<String>,
}

struct Snapshot {
    applied: u64,
    text: TextSnapshot,
    vectors: VectorSnapshot,
    dead_vectors: u64,
    vector_bytes: u64,
}

impl Index {
    /// Creates it if the directory is missing or empty.
    pub fn open(dir: &Path, model: &str, dimension: usize) -> Result<Self, IndexError> {
        std::fs::create_dir_all(dir)?;
        let lock = File::options().write(true).create(true).truncate(false).open(dir.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(IndexError::InUse { dir: dir.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let head = Head { format: FORMAT, model: model.to_owned(), dimension };
        check_head(dir, &head)?;
        let damaged = |reason: String| IndexError::Damaged { dir: dir.to_owned(), reason };
        let unreadable = |error: IndexError| match error {
            IndexError::Text(error) => damaged(error.to_string()),
            error => error,
        };
        let text = unless_damaged(dir, || TextIndex::open(&dir.join(WORDS))).map_err(unreadable)?;
        let commit: Commit = match text.payload().map_err(unreadable)? {
            Some(commit) => serde_json::from_str(&commit).map_err(|error| damaged(error.to_string()))?,
            None => Commit::default(),
        };
        let vectors = VectorIndex::open(dir, dimension, commit.vectors)?;
        let writing = Writing { text, vectors, applied: commit.applied, broken: None };
        let snapshot = writing.snapshot().map_err(unreadable)?;
        Ok(Self {
            dir: dir.to_owned(),
            head,
            writing: Mutex::new(writing),
            committed: RwLock::new(Arc::new(snapshot)),
            _lock: lock,
        })
    }

    /// Deletes the files of an index, so that the next [`Self::open`] makes an empty one.
    pub fn remove(dir: &Path) -> Result<(), IndexError> {
        match std::fs::remove_dir_all(dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            done => Ok(done?),
        }
    }

    /// The last change that is durably in; those after it are to be applied (again) in their order.
    pub fn applied(&self) -> u64 {
        self.snapshot().applied
    }

    /// Replaces everything that is in of a document; no chunks remove it. `change` numbers rise, one for each call, and one
    /// that is in already is passed over. It is found and durable from the next [`Self::commit`] on.
    pub fn apply(&self, change: u64, document: u32, chunks: &[ChunkEntry<'_>]) -> Result<(), IndexError> {
        let mut writing = self.writing()?;
        if change <= writing.applied {
            return Ok(());
        }
        for vector in chunks.iter().filter_map(|chunk| chunk.vector) {
            writing.vectors.check(vector)?;
        }
        let Writing { text, vectors, .. } = &mut *writing;
        let done = text.replace(document, chunks).and_then(|()| vectors.replace(document, chunks));
        self.note(&mut writing, done)?;
        writing.applied = change;
        Ok(())
    }

    /// Makes what was applied durable and found.
    pub fn commit(&self) -> Result<(), IndexError> {
        let mut writing = self.writing()?;
        if writing.applied == self.applied() {
            return Ok(());
        }
        let done = writing.commit();
        let snapshot = self.note(&mut writing, done)?;
        *write(&self.committed) = Arc::new(snapshot);
        Ok(())
    }

    /// Gives the memory for writing back and ends its threads, until something is applied again. It waits for the segments
    /// that are being merged. What was not committed is lost and is not in [`Self::applied`].
    pub fn rest(&self) -> Result<(), IndexError> {
        let mut writing = self.writing()?;
        if writing.applied != self.applied() {
            writing.broken = Some("it was put to rest before what was applied was committed".to_owned());
        }
        let done = writing.text.stop_writing();
        self.note(&mut writing, done)
    }

    /// Chunks with the words of `query`, best first: the more of them and the rarer, the better. Words in quotation marks
    /// must all stand in a chunk, and those in which they stand one after the other come first. Scores are of the given
    /// documents alone.
    pub fn search_text(&self, query: &str, documents: &DocumentSet, k: usize) -> Result<Vec<Hit>, IndexError> {
        let snapshot = self.snapshot();
        unless_damaged(&self.dir, || snapshot.text.search(query, documents, k))
    }

    /// The chunks that hold rare terms which `query` names exactly, and those that hold all words in quotation marks.
    pub fn find_exact(&self, query: &str, documents: &DocumentSet) -> Result<ExactMatches, IndexError> {
        let snapshot = self.snapshot();
        unless_damaged(&self.dir, || snapshot.text.find_exact(query, documents))
    }

    /// Chunks whose vectors are nearest to `query`, by cosine.
    pub fn search_vectors(&self, query: &[f32], documents: &DocumentSet, k: usize) -> Result<Vec<Hit>, IndexError> {
        self.search_vectors_with(query, documents, k, vectors::depth(k))
    }

    /// With so many candidates compared in full; all of them make the search exact.
    pub fn search_vectors_with(
        &self,
        query: &[f32],
        documents: &DocumentSet,
        k: usize,
        depth: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        if query.len() != self.head.dimension {
            return Err(IndexError::WrongDimension { found: query.len(), wanted: self.head.dimension });
        }
        self.snapshot().vectors.search(query, documents, k, depth)
    }

    pub fn stats(&self) -> Result<IndexStats, IndexError> {
        let snapshot = self.snapshot();
        Ok(IndexStats {
            model: self.head.model.clone(),
            dimension: self.head.dimension,
            applied: snapshot.applied,
            chunks: snapshot.text.chunks(),
            vectors: snapshot.vectors.vectors(),
            dead_vectors: snapshot.dead_vectors,
            text_segments: snapshot.text.segments(),
            text_bytes: bytes_in(&self.dir.join(WORDS))?,
            vector_bytes: snapshot.vector_bytes,
            memory_bytes: snapshot.vectors.memory(),
        })
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&read(&self.committed))
    }

    fn writing(&self) -> Result<MutexGuard<'_, Writing>, IndexError> {
        // A thread that panicked may have left half of a change behind.
        let writing = self.writing.lock().map_err(|_| self.broken("a thread ended within a write"))?;
        match &writing.broken {
            Some(reason) => Err(self.broken(reason)),
            None => Ok(writing),
        }
    }

    fn broken(&self, reason: &str) -> IndexError {
        IndexError::Broken { dir: self.dir.clone(), reason: reason.to_owned() }
    }

    fn note<T>(&self, writing: &mut Writing, done: Result<T, IndexError>) -> Result<T, IndexError> {
        done.map_err(|error| {
            let reason = error.to_string();
            let broken = self.broken(&reason);
            writing.broken = Some(reason);
            broken
        })
    }
}

/// The index of words trusts its files and panics over broken ones.
fn unless_damaged<T>(dir: &Path, read: impl FnOnce() -> Result<T, IndexError>) -> Result<T, IndexError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(IndexError::Damaged { dir: dir.to_owned(), reason: "its words can't be read".to_owned() })
    })
}

impl Writing {
    /// Vectors first: they count only once the commit of the words names them.
    fn commit(&mut self) -> Result<Snapshot, IndexError> {
        let commit = Commit { applied: self.applied, vectors: self.vectors.sync()? };
        let payload = serde_json::to_string(&commit).map_err(std::io::Error::other)?;
        self.text.commit(&payload)?;
        self.vectors.committed()?;
        self.snapshot()
    }

    /// What was committed, which is all that was applied.
    fn snapshot(&self) -> Result<Snapshot, IndexError> {
        Ok(Snapshot {
            applied: self.applied,
            text: self.text.snapshot()?,
            vectors: self.vectors.snapshot(),
            dead_vectors: self.vectors.dead(),
            vector_bytes: self.vectors.bytes(),
        })
    }
}

fn check_head(dir: &Path, wanted: &Head) -> Result<(), IndexError> {
    let path = dir.join(HEAD);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if dir.join(WORDS).exists() {
                let reason = format!("it has no {HEAD}");
                return Err(IndexError::Damaged { dir: dir.to_owned(), reason });
            }
            return write_head(dir, wanted);
        }
        text => text?,
    };
    let found: Head = serde_json::from_str(&text)
        .map_err(|error| IndexError::Damaged { dir: dir.to_owned(), reason: format!("its {HEAD}: {error}") })?;
    if found == *wanted {
        return Ok(());
    }
    let name = |head: &Head| format!("{} with {} numbers (form {})", head.model, head.dimension, head.format);
    Err(IndexError::Foreign { dir: dir.to_owned(), found: name(&found), wanted: name(wanted) })
}

fn write_head(dir: &Path, head: &Head) -> Result<(), IndexError> {
    let unfinished = dir.join("index.json.new");
    let mut file = File::create(&unfinished)?;
    file.write_all(serde_json::to_string(head).map_err(std::io::Error::other)?.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(unfinished, dir.join(HEAD))?;
    File::open(dir)?.sync_all()?;
    Ok(())
}

fn bytes_in(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        // Files of merged segments may be deleted meanwhile.
        bytes += entry?.metadata().map_or(0, |metadata| metadata.len());
    }
    Ok(bytes)
}
