//! Embeddings.

use async_trait::async_trait;
use std::sync::Arc;

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

/// A text and the labels that it is an example of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Labelled {
    pub text: String,
    pub labels: Vec<usize>,
}

/// Tells how far a text is like the examples of each label.
#[async_trait]
pub trait Classifier: Send + Sync {
    /// One score per label, around 0 for none and 1 for sure.
    async fn scores(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
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
    /// A classifier that was fitted to vectors of this model.
    ///
    /// # Errors
    /// When it was not, or the embedder classifies nothing.
    fn classifier(&self, _fitted: &'static [u8]) -> Result<Arc<dyn Classifier>, EmbedError> {
        Err(EmbedError::Missing("it classifies nothing".to_owned()))
    }
    /// Name of the model, stored beside each vector.
    fn model(&self) -> &str;
    /// Length of its vectors.
    fn dimension(&self) -> usize;
}
