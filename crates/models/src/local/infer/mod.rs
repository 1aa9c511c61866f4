//! Inference: one thread that owns the model, its KV cache and a queue of jobs.

mod constraint;
mod evaluate;
mod generate;
mod job;
mod load;
mod prompt;
mod refusal;
mod sample;
mod score;
mod slots;
mod text;
mod worker;

pub(super) use constraint::Constraint;
pub(super) use job::{ChatJob, Finish, Job, Progress, Sampling, ScoreJob, Usage};
pub(super) use load::{LoadRequest, check_processor};
pub(super) use prompt::{ChatMessage, Prompt};
pub(super) use refusal::Refusal;
pub(super) use worker::{Shared, run};
