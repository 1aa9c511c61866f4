mod auth;
mod error;

use crate::ConnectionId;
use crate::message::Message;
use crate::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::IpAddr;

pub use auth::{ACCESS_KEY_FIELD, Auth, KEY_FIELD, SESSION_FIELD};
pub use error::{ModelError, ModelErrorClass};

/// One model endpoint. The key is a secret and never part of this type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    pub id: ConnectionId,
    /// Unique in its tenant.
    pub name: String,
    pub provider: Provider,
    /// Base URL up to and with `/v1`; empty for the local model.
    pub base_url: String,
    /// Model name as the endpoint knows it; for the local model the path of a GGUF file.
    pub model: String,
    #[serde(default)]
    pub auth: Auth,
    #[serde(default)]
    pub capabilities: Capabilities,
    /// Fields of `capabilities` that a person set; an exam does not change them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_hand: Vec<String>,
    /// Which of the provider's APIs is used; `None` for its usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// Overrides the price table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Share of requests among equal connections, 1 by default; 0 makes it a fallback only.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
    /// Whether what is sent there stays in the house; `None`: its address tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_house: Option<bool>,
}

impl Connection {
    /// Whether confidential data may be sent to it.
    pub fn is_in_house(&self) -> bool {
        self.in_house.unwrap_or_else(|| self.provider == Provider::Local || is_private_address(&self.base_url))
    }

    /// Without a key, with default capabilities.
    pub fn new(
        id: ConnectionId,
        name: impl Into<String>,
        provider: Provider,
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            id,
            name: name.into(),
            provider,
            base_url: base_url.into(),
            model: model.into(),
            auth: Auth::default(),
            capabilities: Capabilities::default(),
            by_hand: Vec::new(),
            wire: None,
            price: None,
            weight: 1,
            in_house: None,
        }
    }

    /// Whether it understands requests in the dialect of OpenAI; for others they are translated.
    pub fn speaks_openai_dialect(&self) -> bool {
        match self.wire {
            Some(Wire::Chat | Wire::Responses) => true,
            Some(Wire::Native) => false,
            None => !self.provider.has_native_wire(),
        }
    }
}

impl Provider {
    /// Whether it is asked by its own wire unless a connection says otherwise.
    pub fn has_native_wire(self) -> bool {
        matches!(self, Self::Anthropic | Self::Gemini | Self::Cohere | Self::Bedrock)
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(weight: &u32) -> bool {
    *weight == 1
}

/// Interfaces of providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// `/chat/completions` of the OpenAI dialect.
    Chat,
    /// `/responses` of OpenAI.
    Responses,
    /// The provider's own: Anthropic messages, Gemini, Cohere, Bedrock Converse, Ollama `/api/chat`.
    Native,
}

/// What tokens cost, in millionths of a US dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// Of the prompt.
    pub input: u64,
    /// Of the prompt, where the provider had it cached.
    pub cached: u64,
    /// Of the reply.
    pub output: u64,
}

impl Price {
    /// The cost of `usage` in millionths of a US dollar, rounded up.
    pub fn cost(self, usage: &Usage) -> u64 {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let fresh = usage.prompt_tokens - cached;
        let parts = [(fresh, self.input), (cached, self.cached), (usage.completion_tokens, self.output)];
        let sum: u128 = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// What answers at a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// The OpenAI dialect at OpenAI.
    OpenAi,
    /// The OpenAI dialect at Azure.
    AzureOpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Cohere.
    Cohere,
    /// Amazon Bedrock.
    Bedrock,
    /// vLLM.
    Vllm,
    /// TextGen WebUI.
    TextGen,
    /// The router of HuggingFace.
    HuggingFace,
    /// The OpenAI dialect elsewhere.
    #[serde(alias = "custom")]
    Compatible,
    /// Ollama, through its OpenAI dialect.
    Ollama,
    /// A llama.cpp server.
    LlamaCpp,
    /// The GGUF model in a child process of this program.
    Local,
}

/// Whether a URL's host is this machine or in a private network: by its address, or by a name that the public one has not.
fn is_private_address(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        Ok(IpAddr::V6(v6)) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
        Err(_) => {
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            let private = [".localhost", ".local", ".internal", ".lan", ".home.arpa"];
            // A name without a point is of the own network; a number is an address in disguise.
            let plain = !host.contains('.') && host.starts_with(|c: char| c.is_ascii_alphabetic());
            plain || private.iter().any(|end| host.ends_with(end))
        }
    }
}

/// How a server is told which form its output must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Constrained {
    /// OpenAI's `response_format` with a JSON Schema.
    ResponseFormat,
    /// llama.cpp's `json_schema`.
    LlamaCppSchema,
    /// llama.cpp's `grammar`, made from the schema.
    LlamaCppGrammar,
    /// Ollama's `format`.
    OllamaFormat,
    /// vLLM's `structured_outputs`.
    StructuredOutputs,
    /// vLLM's older `guided_json`.
    GuidedJson,
    /// Any JSON object, by `response_format` of type `json_object`.
    JsonObject,
}

/// How a model's wish for a tool is expressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The provider's tool-call field.
    #[default]
    Native,
    /// JSON under a schema.
    GuidedJson,
    /// `Action:` / `Action Input:` text.
    React,
    /// `[TOOL:name|k=v]` text.
    Markers,
}

/// What a model can do. An exam fills it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a model, stored by name")]
pub struct Capabilities {
    /// Best way to have it call tools.
    pub strategy: Strategy,
    /// True context window, tokens.
    #[schema(minimum = 256, maximum = 100_000_000)]
    pub window: u32,
    /// Whether output can be constrained by a JSON Schema.
    pub json_schema: bool,
    /// Whether `/v1/score` answers: likelihoods of given continuations.
    pub scoring: bool,
    /// Whether it can plan and choose tools by itself. If not, the intent filter chooses and the
    /// model only decides between what the tools propose.
    pub plans: bool,
    /// Whether it can sum up observations. If not, answers are composed from them.
    pub summarises: bool,
    /// How many tools it can choose among.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_tools: usize,
    /// How its output is constrained; null: the provider's usual way, where `json_schema`.
    pub constrained: Option<Constrained>,
    /// Whether it makes several calls in one reply.
    pub parallel_calls: bool,
    /// Whether it follows a system message.
    pub system_role: bool,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Context setting to send to Ollama, tokens.
    #[schema(minimum = 256, maximum = 100_000_000)]
    pub num_ctx: Option<u32>,
    /// Longest prompt that is worth sending, tokens; null: as the window allows.
    #[schema(minimum = 256, maximum = 100_000_000)]
    pub prompt_tokens: Option<u32>,
    /// Whether replies begin inside of reasoning, as the template ends with `<think>`.
    pub thinks_first: bool,
    /// Whether nothing is guessed, corrected or planned in its place: so until an exam grades its calls below C.
    pub trusted: bool,
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
            constrained: None,
            parallel_calls: true,
            system_role: true,
            vision: false,
            num_ctx: None,
            prompt_tokens: None,
            thinks_first: false,
            trusted: true,
        }
    }
}

impl Capabilities {
    /// The capabilities as a run uses them: a trusted model chooses its own tools and words its own answers.
    #[must_use]
    pub fn in_force(mut self) -> Self {
        self.plans |= self.trusted;
        self.summarises |= self.trusted;
        self
    }

    /// Capabilities of a model of a few hundred million parameters.
    pub fn tiny(window: u32) -> Self {
        Self {
            strategy: Strategy::GuidedJson,
            window,
            json_schema: true,
            scoring: true,
            plans: false,
            summarises: false,
            max_tools: 4,
            parallel_calls: false,
            trusted: false,
            ..Self::default()
        }
    }
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The next message of the loop.
    Reply,
    /// Search strings for what a plan should know.
    Search,
    /// A plan.
    Plan,
    /// A deep plan: steps in words.
    Deep,
    /// Arguments that a plan left open.
    Fill,
    /// The final answer.
    Answer,
    /// A summary of older messages, to make room.
    Compact,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    pub messages: Vec<Message>,
    /// Tools offered by the provider's own field; empty for the text strategies.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    pub schema: Option<Value>,
    /// 0 is deterministic; `None`: the model's own.
    pub temperature: Option<f32>,
    /// Longest reply, tokens; `None`: the model's own limit.
    pub max_tokens: Option<u32>,
    #[serde(default)]
    pub stop: Vec<String>,
    pub seed: Option<u64>,
    /// Longest wait for the whole reply, milliseconds.
    pub timeout_ms: u64,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub options: RequestOptions,
}

/// What only other programs ask for, which use a model through the gateway.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestOptions {
    pub tool_choice: ToolChoice,
    /// The reply makes at most one call.
    pub single_call: bool,
    pub top_p: Option<f32>,
    pub effort: Option<Effort>,
    /// What an endpoint can't be asked for is an error; otherwise it is left out.
    pub exact: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    /// At least one.
    Required,
    /// The one of this name.
    Named(String),
    /// None, though there are some: earlier calls are of them.
    None,
}

impl ToolChoice {
    /// Whether the reply has to call something.
    pub fn is_forced(&self) -> bool {
        matches!(self, Self::Required | Self::Named(_))
    }
}

/// How long a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
}

/// Tokens of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub prompt_tokens: u64,
    /// Of these, served from a cache.
    pub cached_tokens: u64,
    /// Tokens of the reply.
    pub completion_tokens: u64,
    /// Millionths of a US dollar; 0 where no price is known.
    #[serde(default)]
    #[schema(required)]
    pub cost_micros: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ModelChunk {
    Text(String),
    Reasoning(String),
    ToolCall {
        index: usize,
        /// The provider's id, sent with the first piece.
        id: Option<String>,
        /// Sent with the first piece.
        name: Option<String>,
        /// A piece of the arguments' JSON text.
        arguments: String,
    },
    /// The provider's signature of the reasoning behind a call, which must be sent back with the call.
    Signature {
        index: usize,
        signature: String,
    },
    /// The end of the reply; comes once.
    End {
        /// `stop`, `length`, `tool_calls` or the provider's own word.
        finish: String,
        usage: Usage,
        model: String,
    },
}
