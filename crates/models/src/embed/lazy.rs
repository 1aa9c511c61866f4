use super::tokenizer::Tokenizer;
use super::vector_cache::VectorCache;
use super::{DIMENSION, EmbedError, MAX_TOKENS, MiniLm, cores};
use crate::memory;
use async_trait::async_trait;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::live::Live;
use steward_core::locks::lock;
use steward_core::ports;

/// Stored beside each vector.
const MODEL: &str = "all-MiniLM-L6-v2";

type Work = fn(&LazyMiniLm, &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

/// Loads its model at first use, and frees the memory after a while without work. Clones share the model.
#[derive(Clone)]
pub struct LazyMiniLm {
    inner: Arc<Inner>,
}

struct Inner {
    files: Live<ModelFiles>,
    idle: Option<Duration>,
    /// Whether it is the built-in model, whose dimension is known.
    built_in: bool,
    state: Mutex<State>,
}

struct ModelFiles {
    dir: PathBuf,
    cache: Option<VectorCache>,
}

impl ModelFiles {
    fn new(dir: PathBuf, cache: Option<PathBuf>) -> Self {
        Self { dir, cache: cache.map(VectorCache::new) }
    }
}

#[derive(Default)]
struct State {
    model: Option<Arc<MiniLm>>,
    counter: Option<Arc<ModelCounter>>,
    used: Option<Instant>,
    /// A task is waiting to drop the model.
    watched: bool,
}

impl LazyMiniLm {
    /// Keeps the model once it is loaded, and has no cache.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self::with(dir, None, None)
    }

    /// Drops the model after `idle` without work; `cache` keeps lasting vectors for the next start.
    pub fn with(dir: impl Into<PathBuf>, idle: Option<Duration>, cache: Option<PathBuf>) -> Self {
        let files = Live::new(ModelFiles::new(dir.into(), cache));
        Self { inner: Arc::new(Inner { files, idle, built_in: true, state: Mutex::default() }) }
    }

    /// Another model than the built-in one.
    pub(super) fn another(dir: PathBuf, idle: Option<Duration>) -> Self {
        let files = Live::new(ModelFiles::new(dir, None));
        Self { inner: Arc::new(Inner { files, idle, built_in: false, state: Mutex::default() }) }
    }

    /// Its files are elsewhere from the next text on.
    pub fn change_folder(&self, dir: impl Into<PathBuf>, cache: Option<PathBuf>) {
        let mut state = lock(&self.inner.state);
        self.inner.files.replace(ModelFiles::new(dir.into(), cache));
        (state.model, state.counter) = (None, None);
    }

    pub fn folder(&self) -> PathBuf {
        self.inner.files.get().dir.clone()
    }

    pub fn is_loaded(&self) -> bool {
        lock(&self.inner.state).model.is_some()
    }

    /// Blocks while it loads or works.
    pub fn embed_blocking(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.inner.model()?;
        let vectors = model.embed(texts);
        lock(&self.inner.state).used = Some(Instant::now());
        vectors
    }

    /// Like [`Self::embed_blocking`], but through the cache.
    fn embed_lasting_blocking(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let files = self.inner.files.get();
        let Some(cache) = &files.cache else {
            return self.embed_blocking(texts);
        };
        let model = self.inner.model_id();
        let mut found = cache.find(&model, texts);
        let missing: Vec<usize> = (0..texts.len()).filter(|i| found[*i].is_none()).collect();
        let wanted: Vec<&str> = missing.iter().map(|i| texts[*i]).collect();
        let made: Vec<(&str, Vec<f32>)> = wanted.iter().copied().zip(self.embed_blocking(&wanted)?).collect();
        if !made.is_empty() {
            cache.add(&model, &made);
        }
        for (index, (_, vector)) in missing.into_iter().zip(made) {
            found[index] = Some(vector);
        }
        Ok(found.into_iter().flatten().collect())
    }

    async fn run_blocking(&self, texts: &[String], work: Work) -> Result<Vec<Vec<f32>>, ports::EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let this = self.clone();
        let texts = texts.to_vec();
        let result = tokio::task::spawn_blocking(move || {
            let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
            work(&this, &borrowed)
        })
        .await
        .map_err(|e| ports::EmbedError::Broken(e.to_string()))?;
        self.watch();
        result.map_err(|error| match &error {
            EmbedError::FileMissing { path } => ports::EmbedError::Missing(path.display().to_string()),
            _ => ports::EmbedError::Broken(error.to_string()),
        })
    }

    /// Starts a task that drops the model once it was idle for long enough. Needs a runtime.
    fn watch(&self) {
        let Some(idle) = self.inner.idle else {
            return;
        };
        let mut state = lock(&self.inner.state);
        if state.watched || state.model.is_none() {
            return;
        }
        state.watched = true;
        drop(state);
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            let mut wait = idle;
            loop {
                tokio::time::sleep(wait).await;
                let Some(inner) = inner.upgrade() else {
                    return;
                };
                let mut state = lock(&inner.state);
                let since = state.used.map_or(Duration::MAX, |used| used.elapsed());
                let busy = state.model.as_ref().is_some_and(|m| Arc::strong_count(m) > 1);
                if since >= idle && !busy {
                    let put_away = (state.model.take(), state.counter.take());
                    state.watched = false;
                    drop(state);
                    drop(put_away);
                    // Nobody waits for it.
                    drop(tokio::task::spawn_blocking(memory::give_back));
                    return;
                }
                wait = idle.saturating_sub(since).max(idle / 8);
            }
        });
    }
}

/// The tokenizer, which the model reads texts by as well: a copy takes 3 MB.
struct ModelCounter(Arc<Tokenizer>);

impl ports::TokenCounter for ModelCounter {
    fn count(&self, text: &str) -> usize {
        self.0.encode(text, usize::MAX).len().saturating_sub(2)
    }

    fn max_tokens(&self) -> usize {
        MAX_TOKENS - 2
    }
}

impl Inner {
    /// Differs for other model files.
    fn model_id(&self) -> String {
        let mut id = MODEL.to_owned();
        for name in ["model.onnx", "tokenizer.json"] {
            let file = std::fs::metadata(self.files.get().dir.join(name));
            let written = file.as_ref().ok().and_then(|file| file.modified().ok());
            let length = file.map_or(0, |file| file.len());
            let _ = write!(id, " {length} {written:?}");
        }
        id
    }

    /// Loads under the lock: a second caller would only load it again.
    fn model(&self) -> Result<Arc<MiniLm>, EmbedError> {
        let mut state = lock(&self.state);
        state.used = Some(Instant::now());
        if let Some(model) = &state.model {
            return Ok(Arc::clone(model));
        }
        let words = state.counter.as_ref().map(|counter| Arc::clone(&counter.0));
        let model =
            Arc::new(MiniLm::load_any(&self.files.get().dir, cores(), self.built_in.then_some(DIMENSION), words)?);
        state.model = Some(Arc::clone(&model));
        Ok(model)
    }
}

#[async_trait]
impl ports::Embedder for LazyMiniLm {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ports::EmbedError> {
        self.run_blocking(texts, Self::embed_blocking).await
    }

    async fn embed_lasting(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ports::EmbedError> {
        self.run_blocking(texts, Self::embed_lasting_blocking).await
    }

    fn token_counter(&self) -> Arc<dyn ports::TokenCounter> {
        let mut state = lock(&self.inner.state);
        if let Some(counter) = &state.counter {
            return counter.clone();
        }
        let words = match &state.model {
            Some(model) => Ok(Arc::clone(&model.onnx.words)),
            None => Tokenizer::load(&self.inner.files.get().dir.join("tokenizer.json")).map(Arc::new),
        };
        match words {
            Ok(words) => {
                let counter = Arc::new(ModelCounter(words));
                state.counter = Some(Arc::clone(&counter));
                counter
            }
            // Without the model no text is embedded, so a rough count is good enough.
            Err(_) => Arc::new(ports::RoughCounter),
        }
    }

    fn classifier(&self, fitted: &'static [u8]) -> Result<Arc<dyn ports::Classifier>, ports::EmbedError> {
        match super::classifier::Fitted::read(Box::new(self.clone()), fitted) {
            Some(fitted) => Ok(Arc::new(fitted)),
            None => Err(ports::EmbedError::Broken("the classifier's weights are not of this program".to_owned())),
        }
    }

    fn model(&self) -> &str {
        MODEL
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }
}
