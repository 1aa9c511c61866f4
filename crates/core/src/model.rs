//! Models: connections, requests, what streams back, and what can go wrong.

use crate::ConnectionId;
use crate::message::Message;
use crate::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One model endpoint. The key is a secret and never part of this type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// Its name, unique in its tenant.
    pub name: String,
    /// What answers there.
    pub provider: Provider,
    /// Base URL up to and with `/v1`; empty for the local model.
    pub base_url: String,
    /// Model name as the endpoint knows it; for the local model the path of a GGUF file.
    pub model: String,
    /// Where the key is found.
    #[serde(default)]
    pub auth: Auth,
    /// What the model can do.
    #[serde(default)]
    pub capabilities: Capabilities,
}

/// Kinds of endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// The OpenAI dialect at OpenAI.
    OpenAi,
    /// The OpenAI dialect elsewhere.
    Compatible,
    /// Ollama, through its OpenAI dialect.
    Ollama,
    /// A llama.cpp server.
    LlamaCpp,
    /// The GGUF model in a child process of this program.
    Local,
}

/// How a connection proves who it is. Names, not secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Auth {
    /// Not at all.
    #[default]
    None,
    /// `Authorization: Bearer`, the key from this environment variable.
    BearerEnv {
        /// Its name.
        variable: String,
    },
}

/// How a model's wish for a tool is expressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The provider's tool-call field.
    #[default]
    Native,
    /// JSON under a schema.
    GuidedJson,
    /// `Action:` / `Action Input:` text.
    React,
}

/// What a model can do. One value, not twenty getters; the exam (TOOL-10) will fill it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about a model, stored by name"
)]
pub struct Capabilities {
    /// Best way to have it call tools.
    pub strategy: Strategy,
    /// True context window, tokens.
    pub window: u32,
    /// Whether output can be constrained by a JSON Schema.
    pub json_schema: bool,
    /// Whether `/v1/score` answers: likelihoods of given continuations.
    pub scoring: bool,
    /// Whether it can plan and choose tools by itself. If not, the intent filter chooses and the
    /// model only decides between what the tools propose.
    pub plans: bool,
    /// Whether it can sum up observations. If not, answers are composed from them (TOOL-11).
    pub summarises: bool,
    /// How many tools it can choose among.
    pub max_tools: usize,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            strategy: Strategy::Native,
            window: 32_768,
            json_schema: true,
            scoring: false,
            plans: true,
            summarises: true,
            max_tools: 64,
        }
    }
}

impl Capabilities {
    /// What is known of a model of a few hundred million parameters.
    pub fn tiny(window: u32) -> Self {
        Self {
            strategy: Strategy::GuidedJson,
            window,
            json_schema: true,
            scoring: true,
            plans: false,
            summarises: false,
            max_tools: 4,
        }
    }
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The next message of the loop.
    Reply,
    /// A plan.
    Plan,
    /// Arguments that a plan left open.
    Fill,
    /// The final answer.
    Answer,
}

/// One request, provider-neutral.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The prompt.
    pub messages: Vec<Message>,
    /// Tools offered by the provider's own field; empty for the text strategies.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// A JSON Schema that the output must follow.
    #[serde(default)]
    pub schema: Option<Value>,
    /// 0 is deterministic.
    pub temperature: f32,
    /// Longest reply, tokens.
    pub max_tokens: u32,
    /// Where to cut.
    #[serde(default)]
    pub stop: Vec<String>,
    /// Random seed.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Longest wait for the whole reply, milliseconds.
    pub timeout_ms: u64,
}

/// Tokens of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub prompt_tokens: u64,
    /// Of these, served from a cache.
    pub cached_tokens: u64,
    /// Tokens of the reply.
    pub completion_tokens: u64,
    /// Millionths of a US dollar; 0 where no price is known.
    #[serde(default)]
    pub cost_micros: u64,
}

/// A piece of a streamed reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelChunk {
    /// Text of the answer.
    Text(String),
    /// Text of the reasoning field.
    Reasoning(String),
    /// A piece of a tool call.
    ToolCall {
        /// Which call of the reply.
        index: usize,
        /// The provider's id, with the first piece.
        id: Option<String>,
        /// Name, with the first piece.
        name: Option<String>,
        /// A piece of the arguments' JSON text.
        arguments: String,
    },
    /// The end, once.
    End {
        /// `stop`, `length`, `tool_calls` or the provider's own word.
        finish: String,
        /// What it took.
        usage: Usage,
        /// Model name as answered.
        model: String,
    },
}

/// Why a model call failed, by what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorClass {
    /// The key is wrong or lacks a right.
    Auth,
    /// The model's name is not known there.
    UnknownModel,
    /// The prompt does not fit.
    ContextLength,
    /// The request was refused as wrong.
    BadRequest,
    /// Too many requests.
    RateLimit,
    /// 5xx.
    Server,
    /// No connection.
    Connect,
    /// No answer in time.
    Timeout,
    /// The answer broke off or was no answer.
    Broken,
    /// The answer had nothing in it.
    Empty,
    /// Stopped by us.
    Cancelled,
}

impl ModelErrorClass {
    /// Whether the same request may work later.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimit
                | Self::Server
                | Self::Connect
                | Self::Timeout
                | Self::Broken
                | Self::Empty
        )
    }
}

/// A failed model call. `detail` keeps the endpoint's own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message} ({hint})")]
pub struct ModelError {
    /// What to do about it.
    pub class: ModelErrorClass,
    /// What happened, with the connection's name.
    pub message: String,
    /// What a person can do.
    pub hint: String,
    /// The raw error body, cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Wait asked for by the endpoint, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}
