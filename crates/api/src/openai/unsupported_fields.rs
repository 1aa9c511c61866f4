//! Fields of the OpenAI dialect that an agent can't honour: refused by name, since dropping them changes answers. Those that
//! change nothing in an answer are named here and in `docs/gateway.md`; any other field is refused as well.

use crate::dialect::{HARMLESS, NEUTRAL_IN_CHAT, NeutralField, is_neutral};
use crate::openai::OpenAiError;
use serde_json::Value;
use steward_core::text::nearest_name;

/// Fields of chat completions that only connections honour.
const CHAT: &[NeutralField] = &[
    ("/response_format/type", r#"["text"]"#),
    ("/stop", "[[]]"),
    ("/tool_choice", r#"["auto", "none"]"#),
    ("/functions", "[[]]"),
    ("/function_call", r#"["auto", "none"]"#),
    ("/top_p", "[1]"),
    ("/seed", "[]"),
    ("/audio", "[]"),
    ("/prediction", "[]"),
    ("/reasoning_effort", "[]"),
    ("/web_search_options", "[]"),
];

const RESPONSES: &[NeutralField] = &[
    ("/text/format/type", r#"["text"]"#),
    ("/text/verbosity", r#"["medium"]"#),
    ("/tool_choice", r#"["auto", "none"]"#),
    ("/max_tool_calls", "[]"),
    ("/top_p", "[1]"),
    ("/top_logprobs", "[0]"),
    ("/reasoning/effort", "[]"),
    ("/prompt", "[]"),
    ("/conversation", "[]"),
];

/// Fields that are read, or change nothing in an answer of an agent.
const CHAT_READ: &[&str] =
    &["messages", "stream", "temperature", "max_tokens", "max_completion_tokens", "tools", "parallel_tool_calls"];

/// The same of responses.
const RESPONSES_READ: &[&str] = &[
    "input",
    "instructions",
    "stream",
    "previous_response_id",
    "temperature",
    "max_output_tokens",
    "background",
    "tools",
    "parallel_tool_calls",
    "include",
    "truncation",
    "text",
    "reasoning",
];

/// Refuses a chat completion that asks for what an agent doesn't do.
pub(crate) fn check_chat(body: &Value) -> Result<(), OpenAiError> {
    check(body, &[NEUTRAL_IN_CHAT, CHAT].concat(), CHAT_READ)
}

/// As [`check_chat`], for a response.
pub(crate) fn check_responses(body: &Value) -> Result<(), OpenAiError> {
    check(body, RESPONSES, RESPONSES_READ)
}

fn check(body: &Value, fields: &[NeutralField], read: &[&str]) -> Result<(), OpenAiError> {
    if body["tools"].as_array().is_some_and(|all| !all.is_empty()) {
        return Err(OpenAiError::invalid(
            "an agent runs its own tools; leave `tools` out, or choose its tools in its settings",
            "tools",
        ));
    }
    for &(pointer, neutral) in fields {
        let Some(given) = body.pointer(pointer).filter(|value| !value.is_null()) else {
            continue;
        };
        if is_neutral(neutral, given) {
            continue;
        }
        let name = name_of(pointer);
        return Err(OpenAiError::invalid(
            format!(
                "an agent doesn't honour `{name}` = {}; leave it out, or ask a model without an agent: \
                 `connection/<name>` of GET /v1/models",
                shown(given)
            ),
            name,
        ));
    }
    let known = |name: &str| {
        HARMLESS.contains(&name) || read.contains(&name) || fields.iter().any(|&(pointer, _)| name_of(pointer) == name)
    };
    let unknown = body.as_object().and_then(|all| all.iter().find(|(name, value)| !value.is_null() && !known(name)));
    if let Some((name, _)) = unknown {
        let shown: String = name.chars().take(60).collect();
        let all = read.iter().chain(&HARMLESS).copied().chain(fields.iter().map(|&(pointer, _)| name_of(pointer)));
        let meant = nearest_name(name, all).map(|known| format!(" (did you mean `{known}`?)")).unwrap_or_default();
        return Err(OpenAiError::invalid(
            format!(
                "an agent doesn't know the field `{shown}`{meant}; leave it out, or ask a model without an agent: \
                 `connection/<name>` of GET /v1/models"
            ),
            shown,
        ));
    }
    Ok(())
}

/// The field of the body that a pointer leads to or into.
fn name_of(pointer: &'static str) -> &'static str {
    pointer.trim_start_matches('/').split('/').next().unwrap_or(pointer)
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{check_chat, check_responses};
    use serde_json::json;

    #[test]
    fn the_nearest_field_is_named() {
        let told = |body| check_chat(&body).err().map(|error| error.message).unwrap_or_default();
        assert!(told(json!({"max_token": 40})).contains("`max_token` (did you mean `max_tokens`?); leave it out"));
        assert!(told(json!({"guided_json": {}})).contains("`guided_json`; leave it out"));
    }

    #[test]
    fn what_changes_nothing_is_taken() {
        for body in [
            json!({}),
            json!({"stop": null, "n": 1, "top_p": 1.0, "tools": [], "tool_choice": "auto", "seed": null}),
            json!({"response_format": {"type": "text"}, "logprobs": false, "presence_penalty": 0.0}),
            json!({"temperature": 0.3, "max_tokens": 20, "user": "u", "metadata": {}, "store": false}),
        ] {
            assert!(check_chat(&body).is_ok(), "{body}");
        }
        for body in [
            json!({"text": {"format": {"type": "text"}}, "reasoning": {"effort": null}, "truncation": "auto"}),
            json!({"background": true, "store": true, "include": ["reasoning.encrypted_content"], "service_tier": "auto"}),
            json!({"parallel_tool_calls": true, "safety_identifier": "s", "prompt_cache_key": "k", "unheard_of": null}),
        ] {
            assert!(check_responses(&body).is_ok(), "{body}");
        }
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_by_name() {
        for (body, name) in [
            (json!({"response_format": {"type": "json_schema"}}), "response_format"),
            (json!({"stop": ["\n"]}), "stop"),
            (json!({"stop": "END"}), "stop"),
            (json!({"n": 2}), "n"),
            (json!({"seed": 7}), "seed"),
            (json!({"logprobs": true}), "logprobs"),
            (json!({"top_p": 0.5}), "top_p"),
            (json!({"tools": [{}]}), "tools"),
            (json!({"tool_choice": "required"}), "tool_choice"),
            (json!({"top_k": 40}), "top_k"),
            (json!({"chat_template_kwargs": {}}), "chat_template_kwargs"),
        ] {
            let error = check_chat(&body).err().map(|error| error.param);
            assert_eq!(error, Some(Some(name.into())), "{body}");
        }
        for (body, name) in [
            (json!({"text": {"format": {"type": "json_schema"}}}), "text"),
            (json!({"max_tool_calls": 3}), "max_tool_calls"),
            (json!({"messages": []}), "messages"),
        ] {
            let error = check_responses(&body).err().map(|error| error.param);
            assert_eq!(error, Some(Some(name.into())), "{body}");
        }
    }
}
