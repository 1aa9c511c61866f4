//! Inference: one thread owns the model, its KV cache and a queue of jobs.

mod generate;
mod load;
mod prompt;
mod prompt_cache;
mod sample;
mod score;

pub(super) use load::{LoadRequest, check_processor};
pub(super) use prompt::{ChatMessage, Prompt};
pub(super) use sample::Constraint;

use super::LocalModelError;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use load::{BATCH_TOKENS, ModelInfo, PROMPT_SLOTS};
use prompt::Prompter;
use prompt_cache::Slots;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Shared by the inference thread and the server.
#[derive(Default)]
pub(crate) struct Shared {
    /// Thousandths of the file that are loaded.
    progress: AtomicU32,
    info: OnceLock<ModelInfo>,
    ending: AtomicBool,
}

impl Shared {
    /// `None` until the model is loaded.
    pub fn info(&self) -> Option<&ModelInfo> {
        self.info.get()
    }

    pub fn progress(&self) -> u32 {
        self.progress.load(Ordering::Relaxed)
    }

    /// The thread stops after the current batch.
    pub fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    pub(crate) fn ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Records the progress; `false` makes llama.cpp give up.
    pub(crate) fn loading(&self, done: f32) -> bool {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=1000")]
        let thousandths = (done.clamp(0.0, 1.0) * 1000.0) as u32;
        self.progress.store(thousandths, Ordering::Relaxed);
        !self.ending()
    }
}

struct Worker<'m> {
    pub model: &'m LlamaModel,
    pub context: LlamaContext<'m>,
    pub batch: LlamaBatch<'m>,
    pub slots: Slots<LlamaToken>,
    pub prompter: Prompter<'m>,
    pub window: u32,
    pub shared: Arc<Shared>,
}

/// Works until the queue is closed or the end is asked for. Fails only while loading; later errors go to their jobs.
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

pub(crate) enum Ended {
    Cancelled,
    Refused(Refusal),
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Dropping the receiver of `reply` cancels a job.
pub(crate) enum Job {
    Chat(Box<ChatJob>),
    Score(Box<ScoreJob>),
}

pub(crate) struct ChatJob {
    pub prompt: Prompt,
    pub sampling: Sampling,
    pub constraint: Constraint,
    pub stop: Vec<String>,
    /// `None`: until the window is full.
    pub max_tokens: Option<u32>,
    pub reply: mpsc::UnboundedSender<Progress>,
}

pub(crate) struct ScoreJob {
    pub prompt: Prompt,
    pub candidates: Vec<String>,
    /// Whether the end of the turn is scored as part of each candidate.
    pub end_of_turn: bool,
    pub reply: oneshot::Sender<Result<Scores, Refusal>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Sampling {
    /// 0 takes the likeliest token each time.
    pub temperature: f32,
    pub top_k: usize,
    pub top_p: f32,
    pub min_p: f32,
    pub frequency_penalty: f32,
    pub presence_penalty: f32,
    pub repeat_penalty: f32,
    pub seed: u64,
}

/// In order: `Started`, `Text`…, `Done`; or `Failed` at any point.
pub(crate) enum Progress {
    Started,
    Text(String),
    Done(Finish, Usage),
    Failed(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Usage {
    pub prompt_tokens: usize,
    pub cached_tokens: usize,
    pub completion_tokens: usize,
    pub prompt_time: Duration,
    pub completion_time: Duration,
}

pub(crate) struct Scores {
    pub scores: Vec<Score>,
    pub usage: Usage,
}

pub(crate) struct Score {
    pub candidate: String,
    pub logprob_sum: f64,
    pub tokens: usize,
}

/// Why a request was refused, in the terms of the OpenAI dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: u16,
    pub kind: &'static str,
    pub code: &'static str,
    pub param: Option<&'static str>,
    pub message: String,
}

impl Refusal {
    pub fn invalid(param: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            code: "invalid_value",
            param: Some(param),
            message: message.into(),
        }
    }

    pub fn with(self, status: u16, code: &'static str) -> Self {
        Self { status, code, ..self }
    }

    pub fn unsupported(param: &'static str, message: impl Into<String>) -> Self {
        Self::invalid(param, message).with(400, "unsupported_parameter")
    }

    pub fn too_long(param: &'static str, tokens: usize, window: u32) -> Self {
        let message = format!(
            "the prompt has {tokens} tokens, the model's window is {window} and must also hold the answer; shorten the prompt or start the model with a larger context"
        );
        Self::invalid(param, message).with(400, "context_length_exceeded")
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self { status: 500, kind: "server_error", code: "inference_failed", param: None, message: message.into() }
    }
}
