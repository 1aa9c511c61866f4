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
    /// As [`Self::embed`], for texts that come again at each start and are nobody's: what tools do. Their vectors may be
    /// kept in a file.
    async fn embed_lasting(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(texts).await
    }
    /// Name of the model, stored beside each vector.
    fn model(&self) -> &str;
    /// Length of its vectors.
    fn dimension(&self) -> usize;
}
