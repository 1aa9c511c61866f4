use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Constraint, Prompt, Refusal};

/// Work for the inference thread. A dropped receiver cancels it.
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

/// What a chat job reports, in order: `Started`, `Text`…, `Done`; or `Failed` at any point.
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
