//! Names of the OpenTelemetry GenAI conventions, and the span of a model call that carries them.
//! Nothing here ever holds a prompt, an answer or a key.

use steward_core::model::{Connection, ModelError, ModelRequest, Provider, Usage};
use tracing::Span;
use tracing::field::Empty;

/// What is done: `chat`.
pub const OPERATION_NAME: &str = "gen_ai.operation.name";
/// Who answers: `openai`, `ollama`…
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
/// The model's name as asked for.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// Longest reply asked for, tokens.
pub const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
/// Temperature asked for.
pub const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
/// The model's name as answered.
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// Why the reply ended. A list in the conventions, one word here.
pub const RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens of the prompt.
pub const USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens of the reply.
pub const USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Of the prompt's tokens, served from a cache.
pub const USAGE_CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Class of the error that ended the call.
pub const ERROR_TYPE: &str = "error.type";
/// The tool of a tool call.
pub const TOOL_NAME: &str = "gen_ai.tool.name";
/// The id of a tool call.
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The conversation.
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// The agent's name.
pub const AGENT_NAME: &str = "gen_ai.agent.name";

/// The span of one chat request; what the answer tells is recorded later.
pub fn chat_span(connection: &Connection, request: &ModelRequest) -> Span {
    tracing::info_span!(
        "chat",
        otel.kind = "client",
        { OPERATION_NAME } = "chat",
        { PROVIDER_NAME } = provider_name(connection.provider),
        { REQUEST_MODEL } = connection.model.as_str(),
        { REQUEST_MAX_TOKENS } = request.max_tokens,
        { REQUEST_TEMPERATURE } = f64::from(request.temperature),
        { RESPONSE_MODEL } = Empty,
        { RESPONSE_FINISH_REASONS } = Empty,
        { USAGE_INPUT_TOKENS } = Empty,
        { USAGE_OUTPUT_TOKENS } = Empty,
        { USAGE_CACHED_TOKENS } = Empty,
        { ERROR_TYPE } = Empty,
    )
}

/// Records how a call ended well.
pub fn record_end(span: &Span, finish: &str, usage: &Usage, model: &str) {
    span.record(RESPONSE_MODEL, model);
    span.record(RESPONSE_FINISH_REASONS, finish);
    span.record(USAGE_INPUT_TOKENS, usage.prompt_tokens);
    span.record(USAGE_OUTPUT_TOKENS, usage.completion_tokens);
    span.record(USAGE_CACHED_TOKENS, usage.cached_tokens);
}

/// Records the class of an error; its text belongs to whoever handles it.
pub fn record_error(span: &Span, error: &ModelError) {
    if let Ok(serde_json::Value::String(class)) = serde_json::to_value(error.class) {
        span.record(ERROR_TYPE, class.as_str());
    }
}

/// Names that the conventions have for providers; ours where they have none.
pub fn provider_name(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "openai",
        Provider::AzureOpenAi => "azure.ai.openai",
        Provider::Anthropic => "anthropic",
        Provider::Gemini => "gcp.gemini",
        Provider::Cohere => "cohere",
        Provider::Bedrock => "aws.bedrock",
        Provider::Vllm => "vllm",
        Provider::TextGen => "text_generation_webui",
        Provider::HuggingFace => "hugging_face",
        Provider::Compatible => "openai_compatible",
        Provider::Ollama => "ollama",
        Provider::LlamaCpp => "llama_cpp",
        Provider::Local => "steward_local",
    }
}
