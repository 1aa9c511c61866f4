//! Vectors of texts, each made once per request.

use super::error::IntentError;
use super::vectors::{cosine, embed};
use std::collections::HashMap;
use steward_core::ports::Embedder;

/// An embedder that remembers.
pub struct Known<'a> {
    embedder: &'a dyn Embedder,
    vectors: HashMap<String, Vec<f32>>,
}

impl<'a> Known<'a> {
    /// Knows nothing yet.
    pub fn new(embedder: &'a dyn Embedder) -> Self {
        Self { embedder, vectors: HashMap::new() }
    }

    /// Makes the vectors of texts that have none.
    pub async fn learn(&mut self, mut texts: Vec<String>) -> Result<(), IntentError> {
        texts.retain(|text| !self.vectors.contains_key(text));
        texts.sort_unstable();
        texts.dedup();
        if texts.is_empty() {
            return Ok(());
        }
        let made = embed(&texts, self.embedder).await?;
        self.vectors.extend(texts.into_iter().zip(made));
        Ok(())
    }

    /// How alike two texts are, -1 to 1; 0 where one of them has no vector.
    pub fn likeness(&self, a: &str, b: &str) -> f32 {
        match (self.vectors.get(a), self.vectors.get(b)) {
            (Some(a), Some(b)) => cosine(a, b),
            _ => 0.0,
        }
    }
}
