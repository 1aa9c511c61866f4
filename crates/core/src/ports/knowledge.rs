//! Embeddings.

use async_trait::async_trait;

/// Why texts could not be embedded.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    /// The model's files are not there.
    #[error("the embedding model is not installed: {0}; run `make setup`")]
    Missing(String),
    /// They are there, and wrong.
    #[error("the embedding model cannot be used: {0}")]
    Broken(String),
}

/// Turns texts into vectors of length 1.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector per text, in order.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
    /// Name of the model, stored beside each vector.
    fn model(&self) -> &str;
    /// Length of its vectors.
    fn dimension(&self) -> usize;
}
