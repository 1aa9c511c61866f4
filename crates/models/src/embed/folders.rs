//! Embedding models besides the built-in one: each a folder with `model.onnx` and `tokenizer.json`, beside that of the
//! built-in model.

use super::LazyMiniLm;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::live::Live;
use steward_core::locks::lock;
use steward_core::ports::{EmbedError, Embedder as _};

/// What sentence-transformers writes beside a model.
const PROMPTS: &str = "config_sentence_transformers.json";

pub struct ModelFolders {
    dir: Live<PathBuf>,
    idle: Option<Duration>,
    known: Mutex<HashMap<String, Arc<FolderModel>>>,
}

/// A model that is loaded at first use.
pub struct FolderModel {
    model: LazyMiniLm,
    prompts: Prompts,
}

#[derive(Default, Deserialize)]
struct Config {
    #[serde(default)]
    prompts: Prompts,
}

/// What texts begin with, as some models want it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Prompts {
    query: String,
    #[serde(alias = "document")]
    passage: String,
}

impl ModelFolders {
    /// The memory of a model is freed after `idle` without work.
    pub fn new(dir: impl Into<PathBuf>, idle: Option<Duration>) -> Self {
        Self { dir: Live::new(dir.into()), idle, known: Mutex::default() }
    }

    /// The models are in this folder from the next text on.
    pub fn change_folder(&self, dir: impl Into<PathBuf>) {
        let mut known = lock(&self.known);
        self.dir.replace(dir.into());
        known.clear();
    }

    /// `None`: there is no such folder with a model.
    pub fn find(&self, name: &str) -> Option<Arc<FolderModel>> {
        let mut parts = Path::new(name).components();
        let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else {
            return None;
        };
        let dir = self.dir.get().join(name);
        if !dir.join("model.onnx").is_file() {
            return None;
        }
        let mut known = lock(&self.known);
        let found = known.entry(name.to_owned()).or_insert_with(|| {
            let read = std::fs::read(dir.join(PROMPTS)).ok();
            let config: Config = read.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
            Arc::new(FolderModel { model: LazyMiniLm::another(dir, self.idle), prompts: config.prompts })
        });
        Some(Arc::clone(found))
    }
}

impl FolderModel {
    /// One vector of length 1 for each text. `question`: they are asked, not read.
    pub async fn embed(&self, texts: &[String], question: bool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let prompt = if question { &self.prompts.query } else { &self.prompts.passage };
        if prompt.is_empty() {
            return self.model.embed(texts).await;
        }
        let texts: Vec<String> = texts.iter().map(|text| format!("{prompt}{text}")).collect();
        self.model.embed(&texts).await
    }
}
