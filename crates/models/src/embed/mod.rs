//! Sentence embeddings in this process: all-MiniLM-L6-v2 on rten, without a shared library.

mod batch;
mod classify;
mod error;
mod kept;
mod lazy;
mod minilm;
mod pool;
mod wordpiece;

pub use classify::fit;
pub use error::EmbedError;
pub use lazy::LazyMiniLm;
pub use minilm::{DIMENSION, EmbedOptions, MAX_TOKENS, MiniLm};
