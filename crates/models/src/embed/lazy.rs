use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use steward_core::ports;

use super::kept::Kept;
use super::{DIMENSION, EmbedError, EmbedOptions, MiniLm};

/// The name that is stored beside each vector.
const MODEL: &str = "all-MiniLM-L6-v2";

/// What embeds texts, and may block.
type Work = fn(&LazyMiniLm, &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

/// An embedder that loads its model when it is first asked, and gives the memory back after a
/// while without work. Clones share the model.
#[derive(Clone)]
pub struct LazyMiniLm {
    inner: Arc<Inner>,
}

struct Inner {
    dir: PathBuf,
    options: EmbedOptions,
    idle: Option<Duration>,
    kept: Option<Kept>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    model: Option<Arc<MiniLm>>,
    used: Option<Instant>,
    /// Whether a task waits to drop the model.
    watched: bool,
}

impl LazyMiniLm {
    /// An embedder over the model in `dir`, which is not touched yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self::with(dir, EmbedOptions::default(), None)
    }

    /// As [`Self::new`], with settings; the model is dropped after `idle` without work.
    pub fn with(dir: impl Into<PathBuf>, options: EmbedOptions, idle: Option<Duration>) -> Self {
        Self::keeping(dir, options, idle, None)
    }

    /// As [`Self::with`]; `file` keeps the vectors of lasting texts for the next start.
    pub fn keeping(
        dir: impl Into<PathBuf>,
        options: EmbedOptions,
        idle: Option<Duration>,
        file: Option<PathBuf>,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                dir: dir.into(),
                options,
                idle,
                kept: file.map(Kept::new),
                state: Mutex::default(),
            }),
        }
    }

    /// Whether the model is in memory.
    pub fn is_loaded(&self) -> bool {
        self.inner.lock().model.is_some()
    }

    /// Gives the memory back as soon as no call uses it.
    pub fn unload(&self) {
        self.inner.lock().model = None;
    }

    /// Blocks while it loads or works.
    ///
    /// # Errors
    /// As [`MiniLm::load`] and [`MiniLm::embed`].
    pub fn embed_blocking(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.inner.model()?;
        let vectors = model.embed(texts);
        self.inner.lock().used = Some(Instant::now());
        vectors
    }

    /// As [`Self::embed_blocking`], looking first at what was kept, and keeping what is made.
    fn embed_lasting_blocking(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let Some(kept) = &self.inner.kept else {
            return self.embed_blocking(texts);
        };
        let model = self.inner.which();
        let mut found = kept.find(&model, texts);
        let missing: Vec<usize> = (0..texts.len()).filter(|i| found[*i].is_none()).collect();
        let wanted: Vec<&str> = missing.iter().map(|i| texts[*i]).collect();
        let made: Vec<(&str, Vec<f32>)> = wanted.iter().copied().zip(self.embed_blocking(&wanted)?).collect();
        if !made.is_empty() {
            kept.add(&model, &made);
        }
        for (index, (_, vector)) in missing.into_iter().zip(made) {
            found[index] = Some(vector);
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Works on a thread where it may block.
    async fn beside(&self, texts: &[String], work: Work) -> Result<Vec<Vec<f32>>, ports::EmbedError> {
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

    /// Has a task drop the model once it was idle for long enough. Needs a runtime.
    fn watch(&self) {
        let Some(idle) = self.inner.idle else {
            return;
        };
        let mut state = self.inner.lock();
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
                let mut state = inner.lock();
                let since = state.used.map_or(Duration::MAX, |used| used.elapsed());
                let busy = state.model.as_ref().is_some_and(|m| Arc::strong_count(m) > 1);
                if since >= idle && !busy {
                    state.model = None;
                    state.watched = false;
                    return;
                }
                wait = idle.saturating_sub(since).max(idle / 8);
            }
        });
    }
}

impl Inner {
    /// Tells this model's files from others.
    fn which(&self) -> String {
        let mut which = MODEL.to_owned();
        for name in ["model.onnx", "tokenizer.json"] {
            let file = std::fs::metadata(self.dir.join(name));
            let written = file.as_ref().ok().and_then(|file| file.modified().ok());
            let length = file.map_or(0, |file| file.len());
            let _ = write!(which, " {length} {written:?}");
        }
        which
    }

    /// The lock is held while loading: others would only load it a second time.
    fn model(&self) -> Result<Arc<MiniLm>, EmbedError> {
        let mut state = self.lock();
        state.used = Some(Instant::now());
        if let Some(model) = &state.model {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(MiniLm::load_with(&self.dir, self.options)?);
        state.model = Some(Arc::clone(&model));
        Ok(model)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ports::Embedder for LazyMiniLm {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ports::EmbedError> {
        self.beside(texts, Self::embed_blocking).await
    }

    async fn embed_lasting(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ports::EmbedError> {
        self.beside(texts, Self::embed_lasting_blocking).await
    }

    fn classifier(&self, fitted: &'static [u8]) -> Result<Arc<dyn ports::Classifier>, ports::EmbedError> {
        match super::classify::Fitted::read(self.clone(), fitted) {
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

impl std::fmt::Debug for LazyMiniLm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LazyMiniLm")
            .field("dir", &self.inner.dir)
            .field("loaded", &self.is_loaded())
            .finish_non_exhaustive()
    }
}
