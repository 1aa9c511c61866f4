//! Sends the exam's requests, within its limits of time and tokens.

use super::rules::without_reasoning;
use crate::openai::Client;
use futures::StreamExt;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::message::Message;
use steward_core::model::{
    Connection, ModelChunk, ModelError, ModelErrorClass, ModelRequest, RequestOptions, Strategy, Usage,
};
use steward_core::prompt::estimate_tokens;
use steward_core::tool::{ToolCall, ToolSpec};

#[derive(Debug, Clone, Copy)]
pub struct ExamLimits {
    pub whole: Duration,
    pub request: Duration,
    /// Prompts included.
    pub tokens: u64,
}

impl Default for ExamLimits {
    fn default() -> Self {
        Self { whole: Duration::from_mins(1), request: Duration::from_secs(20), tokens: 15_000 }
    }
}

/// Reasons for skipping a check that would have told something.
pub(super) const UNFINISHED: [&str; 3] =
    ["time was up", "the exam's tokens were used up", "the model did not answer in time"];

/// Longest wait asked for by a server that is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Extra tokens per answer for a reasoning model.
const THOUGHT: u32 = 800;

#[derive(Debug, Default)]
pub(super) struct Reply {
    pub chunks: Vec<ModelChunk>,
    pub text: String,
    pub reasoning: String,
    pub usage: Usage,
    pub finish: String,
    /// Time to the first piece, and to the end.
    pub first: Duration,
    pub total: Duration,
}

impl Reply {
    pub fn answer(&self) -> &str {
        without_reasoning(&self.text).trim()
    }
}

#[derive(Debug)]
pub(super) enum NoReply {
    /// The exam has no time or tokens left.
    Over(&'static str),
    Failed(ModelError),
}

impl NoReply {
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Failed(error) if error.class == ModelErrorClass::BadRequest)
    }

    pub fn why(&self) -> String {
        match self {
            Self::Over(what) => (*what).to_owned(),
            Self::Failed(error) => match &error.detail {
                Some(detail) => format!("{}: {detail}", error.message),
                None => error.message.clone(),
            },
        }
    }
}

pub(super) struct ExamSession<'a> {
    pub client: &'a Client,
    pub connection: Connection,
    pub format: &'a dyn ToolCallFormat,
    limits: ExamLimits,
    begun: Instant,
    seen: Mutex<Seen>,
}

/// What was seen of the model so far.
#[derive(Default)]
pub(super) struct Seen {
    /// Prompts included.
    pub tokens: u64,
    pub thinks: bool,
    pub thinks_first: bool,
    /// An error that every further request would meet too.
    pub fatal: Option<ModelError>,
}

impl<'a> ExamSession<'a> {
    pub fn new(client: &'a Client, connection: Connection, format: &'a dyn ToolCallFormat, limits: ExamLimits) -> Self {
        Self { client, connection, format, limits, begun: Instant::now(), seen: Mutex::default() }
    }

    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    pub fn tokens_left(&self) -> u64 {
        self.limits.tokens.saturating_sub(self.seen().tokens)
    }

    /// Time for the next request; `None` if the exam's time is up.
    pub fn left(&self) -> Option<Duration> {
        let left = self.limits.whole.saturating_sub(self.elapsed());
        // With less than that left, no request is worth starting.
        (left > self.limits.whole / 100).then(|| left.min(self.limits.request))
    }

    /// Why no more requests are possible; `None` if they are.
    pub fn over(&self) -> Option<&'static str> {
        if self.left().is_none() {
            return Some(UNFINISHED[0]);
        }
        (self.tokens_left() == 0).then_some(UNFINISHED[1])
    }

    /// Token limit for an answer that needs `plain` tokens without reasoning.
    pub fn longest(&self, text_request: u32) -> u32 {
        text_request + if self.seen().thinks { THOUGHT } else { 0 }
    }

    pub async fn ask_text(&self, messages: Vec<Message>, longest: u32) -> Result<Reply, NoReply> {
        self.ask(text_request(messages, longest)).await
    }

    /// Waits once where the server asks for a short wait.
    pub async fn ask(&self, request: ModelRequest) -> Result<Reply, NoReply> {
        self.ask_at(&self.connection, request).await
    }

    pub async fn ask_at(&self, connection: &Connection, mut request: ModelRequest) -> Result<Reply, NoReply> {
        request.max_tokens = request.max_tokens.map(|longest| self.longest(longest));
        let mut waited = false;
        loop {
            if let Some(over) = self.over() {
                return Err(NoReply::Over(over));
            }
            let left = self.left().unwrap_or_default();
            request.timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
            let error = match self.once(connection, &request).await {
                Ok(reply) => {
                    self.note(&request, &reply);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let wait = Duration::from_millis(error.retry_after_ms.unwrap_or(1000));
            if error.class == ModelErrorClass::RateLimit && !waited && wait <= PATIENCE.min(left) {
                waited = true;
                tokio::time::sleep(wait).await;
                continue;
            }
            let fatal =
                matches!(error.class, ModelErrorClass::Auth | ModelErrorClass::Connect | ModelErrorClass::UnknownModel);
            if fatal {
                self.seen().fatal.get_or_insert_with(|| error.clone());
            }
            return Err(NoReply::Failed(error));
        }
    }

    async fn once(&self, connection: &Connection, request: &ModelRequest) -> Result<Reply, ModelError> {
        let begun = Instant::now();
        let mut chunks = self.client.stream(connection, request).await?;
        let mut reply = Reply::default();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if reply.chunks.is_empty() {
                reply.first = begun.elapsed();
            }
            match &chunk {
                ModelChunk::Text(piece) => reply.text.push_str(piece),
                ModelChunk::Reasoning(piece) => reply.reasoning.push_str(piece),
                ModelChunk::End { finish, usage, .. } => {
                    reply.finish.clone_from(finish);
                    reply.usage = *usage;
                }
                ModelChunk::ToolCall { .. } | ModelChunk::Signature { .. } => {}
            }
            reply.chunks.push(chunk);
        }
        reply.total = begun.elapsed();
        Ok(reply)
    }

    /// Counts tokens, and notices reasoning.
    fn note(&self, request: &ModelRequest, reply: &Reply) {
        let told = reply.usage.prompt_tokens + reply.usage.completion_tokens;
        let guess = || {
            let prompt: u64 = request.messages.iter().map(|m| estimate_tokens(&m.text)).sum();
            prompt + estimate_tokens(&reply.text) + estimate_tokens(&reply.reasoning)
        };
        let closes = reply.text.find("</think>");
        let opens = reply.text.find("<think>");
        let mut seen = self.seen();
        seen.tokens += if told > 0 { told } else { guess() };
        seen.thinks |= !reply.reasoning.trim().is_empty() || closes.is_some() || opens.is_some();
        seen.thinks_first |= closes.is_some_and(|close| opens.is_none_or(|open| open > close));
    }
}

pub(super) fn text_request(messages: Vec<Message>, longest: u32) -> ModelRequest {
    ModelRequest {
        messages,
        tools: Vec::new(),
        schema: None,
        temperature: Some(0.0),
        max_tokens: Some(longest),
        stop: Vec::new(),
        seed: Some(1),
        timeout_ms: 0,
        options: RequestOptions::default(),
    }
}

pub(super) fn schema_request(schema: Value, messages: Vec<Message>, longest: u32) -> ModelRequest {
    ModelRequest { schema: Some(schema), ..text_request(messages, longest) }
}

pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MOST {
        return line;
    }
    let mut short: String = line.chars().take(MOST - 1).collect();
    short.push('…');
    short
}

/// How tools are explained and replies read: the same prompts and parsers as in runs, which live in other rooms.
pub trait ToolCallFormat: Send + Sync {
    /// The prompt that explains `tools`; empty for native calls.
    fn instructions(&self, strategy: Strategy, tools: &[ToolSpec]) -> String;
    /// JSON Schema of a reply of [`Strategy::GuidedJson`].
    fn schema(&self, tools: &[ToolSpec]) -> Value;
    /// The calls of a whole reply in the form of `strategy` and no other.
    fn calls(&self, strategy: Strategy, tools: &[ToolSpec], reply: &[ModelChunk]) -> Vec<ToolCall>;
}
