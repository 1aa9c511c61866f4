use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use tokio::sync::mpsc;

use super::load::{self, BATCH_TOKENS, LoadRequest, ModelInfo, PROMPT_SLOTS};
use super::prompt::Prompter;
use super::slots::Slots;
use super::{Job, Refusal};
use crate::local::LocalModelError;

/// What the inference thread and the server know of each other.
#[derive(Default)]
pub(crate) struct Shared {
    /// Thousandths of the file that are loaded.
    progress: AtomicU32,
    info: OnceLock<ModelInfo>,
    ending: AtomicBool,
}

impl Shared {
    /// The model's facts once it is loaded.
    pub fn info(&self) -> Option<&ModelInfo> {
        self.info.get()
    }

    /// Thousandths of the file that are loaded.
    pub fn progress(&self) -> u32 {
        self.progress.load(Ordering::Relaxed)
    }

    /// Makes the thread stop after the batch at hand.
    pub fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    pub(super) fn ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Notes the progress; `false` asks llama.cpp to give up.
    pub(super) fn loading(&self, done: f32) -> bool {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=1000")]
        let thousandths = (done.clamp(0.0, 1.0) * 1000.0) as u32;
        self.progress.store(thousandths, Ordering::Relaxed);
        !self.ending()
    }
}

/// The model with everything that changes while it works.
pub(super) struct Worker<'m> {
    pub model: &'m LlamaModel,
    pub context: LlamaContext<'m>,
    pub batch: LlamaBatch<'m>,
    pub slots: Slots<LlamaToken>,
    pub prompter: Prompter<'m>,
    pub window: u32,
    pub shared: Arc<Shared>,
}

/// Loads the model and works until the queue is closed or the end is asked for.
///
/// # Errors
/// Only while loading; later failures are answers to their jobs.
pub(crate) fn run(
    request: &LoadRequest,
    shared: &Arc<Shared>,
    mut jobs: mpsc::Receiver<Job>,
) -> Result<(), LocalModelError> {
    let started = Instant::now();
    let backend = load::backend()?;
    let model = load::model(&backend, request, shared)?;
    let context = load::context(&backend, &model, request)?;
    let window = context.n_ctx();
    let prompter = Prompter::new(&model)
        .map_err(|refusal| LocalModelError::Load { path: request.path.clone(), reason: refusal.message })?;
    let _ = shared.info.set(ModelInfo {
        window,
        window_trained: model.n_ctx_train(),
        parameters: model.n_params(),
        bytes: model.size(),
        vocabulary: model.n_vocab(),
        load_ms: started.elapsed().as_millis(),
    });
    let mut worker = Worker {
        model: &model,
        context,
        batch: LlamaBatch::new(BATCH_TOKENS, 1),
        slots: Slots::new(PROMPT_SLOTS, window as usize),
        prompter,
        window,
        shared: Arc::clone(shared),
    };
    while let Some(job) = jobs.blocking_recv() {
        if shared.ending() {
            break;
        }
        match job {
            Job::Chat(chat) => worker.chat(*chat),
            Job::Score(score) => worker.score(*score),
        }
    }
    Ok(())
}

/// Why an evaluation ended without its result.
pub(super) enum Ended {
    /// Nobody waits for it any more.
    Cancelled,
    Refused(Refusal),
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
