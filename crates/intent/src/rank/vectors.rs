//! Vectors of the tools, computed once per catalogue.

use std::sync::{Arc, Mutex, PoisonError};
use steward_core::ports::{Embedder, IntentError};
use steward_core::tool::ToolSpec;

/// Catalogues that are cached; an installation has one or a few.
const REMEMBERED: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub struct ToolVectors {
    /// Of its name and description.
    pub description: Vec<f32>,
    pub utterances: Vec<Vec<f32>>,
}

type Catalogue = Arc<Vec<ToolVectors>>;

static CACHE: Mutex<Vec<(String, Catalogue)>> = Mutex::new(Vec::new());

/// In the order of `tools`.
pub async fn of(tools: &[ToolSpec], embedder: &dyn Embedder) -> Result<Catalogue, IntentError> {
    let words: Vec<_> = tools.iter().map(|tool| (&tool.name, &tool.description, &tool.utterances)).collect();
    let key = steward_core::hash::of_json(&serde_json::json!([embedder.model(), words]));
    {
        let known = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, vectors)) = known.iter().find(|(name, _)| *name == key) {
            return Ok(Arc::clone(vectors));
        }
    }
    let mut texts = Vec::new();
    for tool in tools {
        texts.push(format!("{}: {}", tool.name.replace('_', " "), tool.description));
        texts.extend(tool.utterances.iter().cloned());
    }
    let vectors = embedder.embed_lasting(&texts).await?;
    let mut vectors = as_many(&texts, vectors)?.into_iter();
    let made: Vec<ToolVectors> = tools
        .iter()
        .map(|tool| ToolVectors {
            description: vectors.next().unwrap_or_default(),
            utterances: vectors.by_ref().take(tool.utterances.len()).collect(),
        })
        .collect();
    let made = Arc::new(made);
    let mut known = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= REMEMBERED {
        known.remove(0);
    }
    known.push((key, Arc::clone(&made)));
    Ok(made)
}

/// An error if the number of vectors is wrong.
pub async fn embed(texts: &[String], embedder: &dyn Embedder) -> Result<Vec<Vec<f32>>, IntentError> {
    as_many(texts, embedder.embed(texts).await?)
}

fn as_many(texts: &[String], vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, IntentError> {
    if vectors.len() != texts.len() {
        return Err(IntentError::Vectors { asked: texts.len(), got: vectors.len() });
    }
    Ok(vectors)
}

/// Cosine of two unit vectors.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
