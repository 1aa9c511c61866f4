use crate::extracted::{ExtractFailure, Extracted};
use crate::governance::{FoundData, PiiKind};
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model is not installed: {0}; run `make setup`")]
    Missing(String),
    #[error("the embedding model cannot be used: {0}")]
    Broken(String),
}

/// A text and the labels that it is an example of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Labelled {
    pub text: String,
    pub labels: Vec<usize>,
}

/// Scores how much a text resembles the examples of each label.
#[async_trait]
pub trait Classifier: Send + Sync {
    /// One score per label, around 0 for no match and 1 for a sure one.
    async fn scores(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Turns texts into vectors of length 1.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector per text, in order.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
    /// Like [`Self::embed`] for recurring texts that are nobody's, such as tool descriptions; may be cached in a file.
    async fn embed_lasting(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(texts).await
    }
    /// Counts what the model reads of a text, without loading more of it than that takes.
    fn token_counter(&self) -> Arc<dyn TokenCounter> {
        Arc::new(RoughCounter)
    }
    /// Fails if it was fitted to another model, or the embedder classifies nothing.
    fn classifier(&self, _fitted: &'static [u8]) -> Result<Arc<dyn Classifier>, EmbedError> {
        Err(EmbedError::Missing("it classifies nothing".to_owned()))
    }
    /// Name of the model, stored beside each vector.
    fn model(&self) -> &str;
    fn dimension(&self) -> usize;
}

/// How much of a text a model reads.
pub trait TokenCounter: Send + Sync {
    /// Tokens of the text, without those that the model adds itself.
    fn count(&self, text: &str) -> usize;
    /// What is beyond is cut off.
    fn max_tokens(&self) -> usize;
}

/// Three bytes a token: more than most texts have.
#[derive(Debug)]
pub struct RoughCounter;

impl TokenCounter for RoughCounter {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }

    fn max_tokens(&self) -> usize {
        254
    }
}

/// Finds personal data and secrets in text.
pub trait PersonalData: Send + Sync {
    /// The kinds that a text has, each once.
    fn kinds_in(&self, text: &str) -> Vec<PiiKind>;
    /// Each place of it, in order, none within another.
    fn find(&self, text: &str) -> Vec<FoundData>;
}

/// Reads documents of any format.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// `name` is what people call the file. Dropping the future ends the work.
    async fn extract(&self, file: &Path, name: &str) -> Result<Extracted, ExtractFailure>;
}
