//! Asks one question after the other and watches time and tokens.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::Value;
use steward_core::message::Message;
use steward_core::model::{Connection, ModelChunk, ModelError, ModelErrorClass, ModelRequest, Usage};
use steward_core::prompt::estimate_tokens;

use super::judge;
use super::tongue::Tongue;
use crate::openai::Client;

/// What an exam may take.
#[derive(Debug, Clone, Copy)]
pub struct ExamLimits {
    /// For all checks.
    pub whole: Duration,
    /// For one request.
    pub request: Duration,
    /// Tokens, prompts included.
    pub tokens: u64,
}

impl Default for ExamLimits {
    fn default() -> Self {
        Self { whole: Duration::from_mins(1), request: Duration::from_secs(20), tokens: 15_000 }
    }
}

/// Why checks are left out that would tell something.
pub(super) const UNMADE: [&str; 3] =
    ["time was up", "the exam's tokens were used up", "the model did not answer in time"];

/// Longest wait that a server may ask for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tokens that a reasoning model gets on top of each answer.
const THOUGHT: u32 = 800;

/// A whole reply.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub chunks: Vec<ModelChunk>,
    pub text: String,
    pub reasoning: String,
    pub usage: Usage,
    pub finish: String,
    /// Until the first piece, and to the end.
    pub first: Duration,
    pub total: Duration,
}

impl Heard {
    /// The answer without reasoning.
    pub fn answer(&self) -> &str {
        judge::visible(&self.text).trim()
    }
}

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum Silence {
    /// The exam has no time or no tokens left.
    Over(&'static str),
    /// It failed.
    Failed(ModelError),
}

impl Silence {
    /// For a person.
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

/// Where one model is asked.
pub(super) struct Desk<'a> {
    pub client: &'a Client,
    pub connection: Connection,
    pub tongue: &'a dyn Tongue,
    limits: ExamLimits,
    begun: Instant,
    tokens: AtomicU64,
    thinks: AtomicBool,
    thinks_first: AtomicBool,
    /// An error after which asking on makes no sense.
    fatal: Mutex<Option<ModelError>>,
}

impl<'a> Desk<'a> {
    pub fn new(client: &'a Client, connection: Connection, tongue: &'a dyn Tongue, limits: ExamLimits) -> Self {
        Self {
            client,
            connection,
            tongue,
            limits,
            begun: Instant::now(),
            tokens: AtomicU64::new(0),
            thinks: AtomicBool::new(false),
            thinks_first: AtomicBool::new(false),
            fatal: Mutex::new(None),
        }
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Tokens spent.
    pub fn spent(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    /// Tokens left.
    pub fn tokens_left(&self) -> u64 {
        self.limits.tokens.saturating_sub(self.spent())
    }

    /// Time left for the next request; `None`: none.
    pub fn left(&self) -> Option<Duration> {
        let left = self.limits.whole.saturating_sub(self.elapsed());
        // Less than that is not worth beginning.
        (left > self.limits.whole / 100).then(|| left.min(self.limits.request))
    }

    /// Why no more can be asked, if so.
    pub fn over(&self) -> Option<&'static str> {
        if self.left().is_none() {
            return Some(UNMADE[0]);
        }
        (self.tokens_left() == 0).then_some(UNMADE[1])
    }

    /// The error that makes asking on pointless.
    pub fn fatal(&self) -> Option<ModelError> {
        self.fatal.lock().ok().and_then(|error| error.clone())
    }

    pub fn thinks(&self) -> bool {
        self.thinks.load(Ordering::Relaxed)
    }

    pub fn thinks_first(&self) -> bool {
        self.thinks_first.load(Ordering::Relaxed)
    }

    /// Most tokens of an answer that needs `plain` of them.
    pub fn longest(&self, plain: u32) -> u32 {
        plain + if self.thinks() { THOUGHT } else { 0 }
    }

    /// Records tokens that were spent elsewhere.
    pub fn spend(&self, tokens: u64) {
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
    }

    /// Asks for text.
    pub async fn say(&self, messages: Vec<Message>, longest: u32) -> Result<Heard, Silence> {
        self.ask(plain(messages, longest)).await
    }

    /// Asks, with as much time as is left; waits once where a server asks for a short wait.
    pub async fn ask(&self, request: ModelRequest) -> Result<Heard, Silence> {
        self.ask_at(&self.connection, request).await
    }

    /// The same of another form of the connection.
    pub async fn ask_at(&self, connection: &Connection, mut request: ModelRequest) -> Result<Heard, Silence> {
        request.max_tokens = self.longest(request.max_tokens);
        let mut waited = false;
        loop {
            if let Some(over) = self.over() {
                return Err(Silence::Over(over));
            }
            let left = self.left().unwrap_or_default();
            request.timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
            let error = match self.once(connection, &request).await {
                Ok(heard) => {
                    self.note(&request, &heard);
                    return Ok(heard);
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
            if fatal && let Ok(mut kept) = self.fatal.lock() {
                kept.get_or_insert_with(|| error.clone());
            }
            return Err(Silence::Failed(error));
        }
    }

    async fn once(&self, connection: &Connection, request: &ModelRequest) -> Result<Heard, ModelError> {
        let begun = Instant::now();
        let mut chunks = self.client.stream(connection, request).await?;
        let mut heard = Heard::default();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if heard.chunks.is_empty() {
                heard.first = begun.elapsed();
            }
            match &chunk {
                ModelChunk::Text(piece) => heard.text.push_str(piece),
                ModelChunk::Reasoning(piece) => heard.reasoning.push_str(piece),
                ModelChunk::End { finish, usage, .. } => {
                    heard.finish.clone_from(finish);
                    heard.usage = *usage;
                }
                ModelChunk::ToolCall { .. } | ModelChunk::Signature { .. } => {}
            }
            heard.chunks.push(chunk);
        }
        heard.total = begun.elapsed();
        Ok(heard)
    }

    /// Counts tokens, and sees whether the model thinks.
    fn note(&self, request: &ModelRequest, heard: &Heard) {
        let told = heard.usage.prompt_tokens + heard.usage.completion_tokens;
        let guess = || {
            let prompt: u64 = request.messages.iter().map(|m| estimate_tokens(&m.text)).sum();
            prompt + estimate_tokens(&heard.text) + estimate_tokens(&heard.reasoning)
        };
        self.spend(if told > 0 { told } else { guess() });
        let closes = heard.text.find("</think>");
        let opens = heard.text.find("<think>");
        if !heard.reasoning.trim().is_empty() || closes.is_some() || opens.is_some() {
            self.thinks.store(true, Ordering::Relaxed);
        }
        if closes.is_some_and(|close| opens.is_none_or(|open| open > close)) {
            self.thinks_first.store(true, Ordering::Relaxed);
        }
    }
}

/// A request for text.
pub(super) fn plain(messages: Vec<Message>, longest: u32) -> ModelRequest {
    ModelRequest {
        messages,
        tools: Vec::new(),
        schema: None,
        temperature: 0.0,
        max_tokens: longest,
        stop: Vec::new(),
        seed: Some(1),
        timeout_ms: 0,
    }
}

/// The same under a schema.
pub(super) fn under(schema: Value, messages: Vec<Message>, longest: u32) -> ModelRequest {
    ModelRequest { schema: Some(schema), ..plain(messages, longest) }
}

/// The beginning of a text, for a person.
pub(super) fn cut(text: &str) -> String {
    const MOST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MOST {
        return line;
    }
    let mut short: String = line.chars().take(MOST - 1).collect();
    short.push('…');
    short
}
