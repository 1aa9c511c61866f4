use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use steward_core::ports::ChunkKey;

/// A chunk as it is put into an index.
#[derive(Debug, Clone, Copy)]
pub struct ChunkEntry<'a> {
    pub index: u32,
    /// The headings that it stands under, and the title of its document: found like its text, but more telling.
    pub heading: &'a str,
    pub text: &'a str,
    /// `None` as long as it was not embedded: its words are found meanwhile.
    pub vector: Option<&'a [f32]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    pub document: u32,
    pub chunk: u32,
    /// BM25 of a text, cosine of a vector.
    pub score: f32,
}

impl Hit {
    pub fn key(&self) -> ChunkKey {
        ChunkKey { document: self.document, chunk: self.chunk }
    }

    /// Better ones first; equal ones by their numbers.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.key().cmp(&other.key()))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexStats {
    pub model: String,
    pub dimension: usize,
    /// The last change that is durably in.
    pub applied: u64,
    pub chunks: u64,
    pub vectors: u64,
    /// Rows of vectors that were replaced or removed and still take space.
    pub dead_vectors: u64,
    pub text_segments: usize,
    pub text_bytes: u64,
    pub vector_bytes: u64,
    /// What the vectors take of memory.
    pub memory_bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Remove it (see [`super::Index::remove`]) and apply every change again.
    #[error("the index {dir} must be built anew: {reason}")]
    Damaged { dir: PathBuf, reason: String },
    /// Also to be built anew.
    #[error("the index {dir} was built for {found}, not for {wanted}")]
    Foreign { dir: PathBuf, found: String, wanted: String },
    #[error("the index {dir} is open already")]
    InUse { dir: PathBuf },
    #[error("a vector has {found} numbers, and this index is for {wanted}")]
    WrongDimension { found: usize, wanted: usize },
    #[error("a vector has a number that is none")]
    NotANumber,
    /// It must be opened again; what was not committed is applied again then.
    #[error("the index {dir} must be opened again, since a write failed: {reason}")]
    Broken { dir: PathBuf, reason: String },
    #[error("the index cannot be read or written: {0}")]
    Io(#[from] std::io::Error),
    #[error("the index of words failed: {0}")]
    Text(#[from] tantivy::TantivyError),
}

impl IndexError {
    /// Whether removing the directory and applying every change again mends it.
    pub fn needs_rebuild(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Foreign { .. })
    }
}
