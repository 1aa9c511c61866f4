//! Fields of the OpenAI dialect that an agent can't honour: refused by name, since dropping them changes answers.

use crate::openai::OpenAiError;
use serde_json::Value;

/// A field as a JSON pointer, and values of it that change nothing, as JSON. `null` never does.
type Field = (&'static str, &'static str);

const CHAT: &[Field] = &[
    ("/response_format/type", r#"["text"]"#),
    ("/stop", "[[]]"),
    ("/n", "[1]"),
    ("/tool_choice", r#"["auto", "none"]"#),
    ("/functions", "[[]]"),
    ("/function_call", r#"["auto", "none"]"#),
    ("/top_p", "[1]"),
    ("/presence_penalty", "[0]"),
    ("/frequency_penalty", "[0]"),
    ("/logit_bias", "[{}]"),
    ("/logprobs", "[false]"),
    ("/top_logprobs", "[0]"),
    ("/seed", "[]"),
    ("/modalities", r#"[["text"]]"#),
    ("/audio", "[]"),
    ("/prediction", "[]"),
    ("/reasoning_effort", "[]"),
    ("/verbosity", r#"["medium"]"#),
    ("/web_search_options", "[]"),
];

const RESPONSES: &[Field] = &[
    ("/text/format/type", r#"["text"]"#),
    ("/text/verbosity", r#"["medium"]"#),
    ("/tool_choice", r#"["auto", "none"]"#),
    ("/max_tool_calls", "[]"),
    ("/top_p", "[1]"),
    ("/top_logprobs", "[0]"),
    ("/reasoning/effort", "[]"),
    ("/background", "[false]"),
    ("/prompt", "[]"),
    ("/conversation", "[]"),
];

/// Refuses a chat completion that asks for what an agent doesn't do.
pub(crate) fn check_chat(body: &Value) -> Result<(), OpenAiError> {
    check(body, CHAT)
}

/// As [`check_chat`], for a response.
pub(crate) fn check_responses(body: &Value) -> Result<(), OpenAiError> {
    check(body, RESPONSES)
}

fn check(body: &Value, fields: &'static [Field]) -> Result<(), OpenAiError> {
    if body["tools"].as_array().is_some_and(|all| !all.is_empty()) {
        return Err(OpenAiError::invalid(
            "an agent runs its own tools; leave `tools` out, or choose its tools in its settings",
            "tools",
        ));
    }
    for (pointer, neutral) in fields {
        let Some(given) = body.pointer(pointer).filter(|value| !value.is_null()) else {
            continue;
        };
        let neutral: Vec<Value> = serde_json::from_str(neutral).unwrap_or_default();
        if neutral.iter().any(|value| same(value, given)) {
            continue;
        }
        let name = pointer[1..].split('/').next().unwrap_or(pointer);
        return Err(OpenAiError::invalid(
            format!(
                "an agent doesn't honour `{name}` = {}; leave it out, or ask a model without an agent: \
                 `connection/<name>` of GET /v1/models",
                shown(given)
            ),
            name,
        ));
    }
    Ok(())
}

/// Equal; numbers by value, so that `1.0` is `1`.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < f64::EPSILON,
        _ => one == other,
    }
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
    fn what_changes_nothing_is_taken() {
        for body in [
            json!({}),
            json!({"stop": null, "n": 1, "top_p": 1.0, "tools": [], "tool_choice": "auto", "seed": null}),
            json!({"response_format": {"type": "text"}, "logprobs": false, "presence_penalty": 0.0}),
            json!({"temperature": 0.3, "max_tokens": 20, "user": "u", "metadata": {}, "store": false}),
        ] {
            assert!(check_chat(&body).is_ok(), "{body}");
        }
        let body = json!({"text": {"format": {"type": "text"}}, "reasoning": {"effort": null}, "truncation": "auto"});
        assert!(check_responses(&body).is_ok());
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
        ] {
            let error = check_chat(&body).err().map(|error| error.param);
            assert_eq!(error, Some(Some(name)), "{body}");
        }
        for (body, name) in [
            (json!({"text": {"format": {"type": "json_schema"}}}), "text"),
            (json!({"background": true}), "background"),
        ] {
            let error = check_responses(&body).err().map(|error| error.param);
            assert_eq!(error, Some(Some(name)), "{body}");
        }
    }
}
