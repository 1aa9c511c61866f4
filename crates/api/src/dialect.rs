//! What answers of agents and translated answers of connections have in common in the dialect of OpenAI: parts of a response,
//! and the fields of requests that change nothing.

use serde_json::{Value, json};
use steward_core::model::Usage;

/// A field as a JSON pointer, and values of it that change nothing, as JSON. `null` never does.
pub(crate) type NeutralField = (&'static str, &'static str);

/// Fields that change nothing in an answer, and are taken whatever they hold. docs/gateway.md lists them.
pub(crate) const HARMLESS: [&str; 9] = [
    "model",
    "stream_options",
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
];

/// Fields of chat completions that nobody here honours, with the values that ask for nothing.
pub(crate) const NEUTRAL_IN_CHAT: &[NeutralField] = &[
    ("/n", "[1]"),
    ("/presence_penalty", "[0]"),
    ("/frequency_penalty", "[0]"),
    ("/logit_bias", "[{}]"),
    ("/logprobs", "[false]"),
    ("/top_logprobs", "[0]"),
    ("/modalities", r#"[["text"]]"#),
    ("/verbosity", r#"["medium"]"#),
];

/// Whether a value is among those that change nothing; numbers count by value, so that `1.0` is `1`.
pub(crate) fn is_neutral(neutral: &str, given: &Value) -> bool {
    let same = |one: &Value| match (one.as_f64(), given.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < f64::EPSILON,
        _ => one == given,
    };
    serde_json::from_str::<Vec<Value>>(neutral).unwrap_or_default().iter().any(same)
}

/// The text of a message in a response.
pub(crate) fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

/// What a response took.
pub(crate) fn responses_usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    })
}
