//! Documents: what a file says, its chunks, and the indexes that find them.
//!
//! Files are read by [`extract`], pages that are pictures by [`ocr`], both in processes of their
//! own ([`confined`]); what was found is an [`Extracted`]. Indexes can be built anew from the rows of the store at any time.

mod chunk;
pub mod confined;
mod document_set;
pub mod evaluate;
pub mod extract;
pub mod fusion;
pub mod index;
mod matrix;
pub mod ocr;
pub mod quote;
mod semantic_cache;

pub use chunk::{Chunk, ChunkMethod, ChunkSettings, chunk, embedding_text};
pub use document_set::DocumentSet;
pub use fusion::{Fused, FusionWeights, fuse, fuse_all, put_exact_first, rerank};
pub use index::{
    ChunkEntry, ChunkKey, ExactMatch, ExactMatches, Hit, Index, IndexError, IndexStats, holds_exactly, word_coverage,
};
pub use semantic_cache::{CacheLimits, CacheStats, Cacheable, SemanticCache, asks_the_same};
pub use steward_core::extracted::{Area, Block, BlockKind, Extracted, Page};
