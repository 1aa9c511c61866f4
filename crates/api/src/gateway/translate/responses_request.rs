//! A request of `/v1/responses` in our own words. What has no counterpart is refused by its name.

use super::fields::{check_conversation, check_item, check_tool};
use super::request::{Request, call, effort, refuse_untranslated, said};
use super::tools::{Function, drop_idle, offer, untranslated};
use crate::gateway::inbound::Inbound;
use crate::openai::OpenAiError;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use steward_core::message::{Message, Role};
use steward_core::model::{ModelRequest, RequestOptions};

/// Fields of the request that the answer repeats.
const ECHOED: [&str; 11] = [
    "instructions",
    "max_output_tokens",
    "metadata",
    "parallel_tool_calls",
    "reasoning",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_p",
    "user",
];

/// Fields that can't be translated, with the values that ask for nothing.
fn asks_for_nothing(field: &str, value: &Value) -> bool {
    match field {
        // A note of the program for itself.
        "client_metadata" => true,
        "background" => value == &Value::Bool(false),
        "truncation" => value == "disabled",
        "top_logprobs" => value.as_u64() == Some(0),
        // Thoughts come as a summary only.
        "include" => value.as_array().is_some_and(|all| all.iter().all(|one| one == "reasoning.encrypted_content")),
        _ => false,
    }
}

#[derive(Deserialize)]
struct Body {
    input: Value,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    temperature: Option<f32>,
    #[serde(default)]
    top_p: Option<f32>,
    #[serde(default)]
    max_output_tokens: Option<u32>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Option<Value>,
    #[serde(default)]
    parallel_tool_calls: Option<bool>,
    #[serde(default)]
    text: Option<Value>,
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Understands a request, or says which part of it has no translation.
pub(in crate::gateway) fn responses_request(inbound: &Inbound, timeout_ms: u64) -> Result<Request, OpenAiError> {
    let mut echo: Map<String, Value> = inbound.parsed()?;
    echo.retain(|field, _| ECHOED.contains(&field.as_str()));
    let body: Body = inbound.parsed()?;
    refuse_untranslated(&body.rest, asks_for_nothing)?;
    let functions = body.tools.unwrap_or_default().into_iter().enumerate().map(|(at, tool)| {
        check_tool(&tool, &format!("tools[{at}]"))?;
        match tool["type"].as_str() {
            Some("function") => serde_json::from_value::<Function>(tool)
                .map_err(|error| OpenAiError::invalid(format!("a tool is not understood: {error}"), "tools")),
            kind => Err(untranslated(&format!("a tool of the type `{}`", kind.unwrap_or("unknown")), "tools")),
        }
    });
    let choice = body.tool_choice.unwrap_or_default();
    let (mut tools, mut tool_choice, names) = offer(functions.collect::<Result<_, _>>()?, &choice, &choice["name"])?;
    let mut messages: Vec<Message> = body.instructions.into_iter().map(Message::system).collect();
    match body.input {
        Value::String(text) => messages.push(Message::user(text)),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(at, one)| {
            check_item(one, &format!("input[{at}]"))?;
            add_item(&mut messages, one)
        })?,
        _ => return Err(invalid("`input` must be a text or a list of items")),
    }
    check_conversation(&messages, "input")?;
    drop_idle(&mut tools, &mut tool_choice, &messages);
    let wanted = body.reasoning.as_ref().and_then(|reasoning| reasoning["effort"].as_str());
    let model = ModelRequest {
        messages,
        tools,
        schema: schema(&body.text.unwrap_or_default())?,
        temperature: body.temperature,
        max_tokens: body.max_output_tokens,
        stop: Vec::new(),
        seed: None,
        timeout_ms,
        options: RequestOptions {
            tool_choice,
            single_call: body.parallel_tool_calls == Some(false),
            top_p: body.top_p,
            effort: wanted.map(|word| effort(word, "reasoning")).transpose()?,
            exact: true,
        },
    };
    Ok(Request { model, stream: body.stream.unwrap_or(false), include_usage: true, echo, names })
}

fn add_item(messages: &mut Vec<Message>, item: &Value) -> Result<(), OpenAiError> {
    let field = |name: &str| {
        item[name].as_str().map(str::to_owned).ok_or_else(|| invalid(format!("an item of `input` needs its `{name}`")))
    };
    match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let role = match field("role")?.as_str() {
                "system" | "developer" => Role::System,
                "user" => Role::User,
                "assistant" => Role::Assistant,
                other => return Err(invalid(format!("unknown role `{other}`"))),
            };
            messages.push(said(role, &item["content"], "input")?);
        }
        "function_call" => {
            let made = call(field("call_id")?, &field("name")?, item["arguments"].as_str().unwrap_or_default());
            // A message and its calls are one reply.
            match messages.last_mut().filter(|last| last.role == Role::Assistant) {
                Some(last) => last.tool_calls.push(made),
                None => messages.push(Message::assistant("").with_calls(vec![made])),
            }
        }
        "function_call_output" => {
            let result = said(Role::Tool, &item["output"], "input")?;
            messages.push(Message { tool_call_id: Some(field("call_id")?), ..result });
        }
        // Its thoughts are of use to the model only with the provider's signature, which the dialect does not carry.
        "reasoning" => {}
        kind => return Err(untranslated(&format!("an item of the type `{kind}`"), "input")),
    }
    Ok(())
}

fn schema(text: &Value) -> Result<Option<Value>, OpenAiError> {
    if text["verbosity"].as_str().is_some_and(|verbosity| verbosity != "medium") {
        return Err(untranslated("`text.verbosity`", "text"));
    }
    let format = &text["format"];
    match format["type"].as_str() {
        None | Some("text") => Ok(None),
        Some("json_object") => Ok(Some(json!({"type": "object"}))),
        Some("json_schema") => Ok(Some(format["schema"].clone())),
        Some(other) => Err(untranslated(&format!("a `text.format` of the type `{other}`"), "text")),
    }
}

fn invalid(message: impl Into<String>) -> OpenAiError {
    OpenAiError::invalid(message, "input")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::request::tests::inbound;
    use super::responses_request;
    use serde_json::json;
    use steward_core::message::Role;
    use steward_core::model::{Effort, ToolChoice};

    #[test]
    fn a_step_of_a_program_with_tools_is_understood() {
        let body = json!({
            "instructions": "You code.",
            "input": [
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
                {"role": "user", "content": [{"type": "input_text", "text": "List the files"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]},
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{\"command\":\"ls\"}"},
                {"type": "function_call", "call_id": "c2", "name": "shell", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "a.md"},
                {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "b.md"}]},
            ],
            "tools": [{"type": "function", "name": "shell", "parameters": {"type": "object"}, "strict": false}],
            "tool_choice": {"type": "function", "name": "shell"}, "parallel_tool_calls": false, "store": false, "stream": true,
            "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "medium", "summary": "auto"}, "top_p": 0.9,
            "text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}, "verbosity": null}, "max_output_tokens": 99,
        });
        let request = responses_request(&inbound(body), 1000).unwrap();
        let (model, options) = (&request.model, &request.model.options);
        let roles: Vec<Role> = model.messages.iter().map(|one| one.role).collect();
        assert_eq!(roles, [Role::System, Role::System, Role::User, Role::Assistant, Role::Tool, Role::Tool]);
        assert_eq!((model.messages[3].text.as_str(), model.messages[3].tool_calls.len()), ("I look.", 2));
        assert_eq!((model.messages[2].pictures.len(), model.messages[5].text.as_str()), (1, "b.md"));
        assert_eq!(options.tool_choice, ToolChoice::Named("shell".to_owned()));
        assert!(options.single_call && request.stream && options.exact);
        assert_eq!((options.effort, options.top_p, model.max_tokens), (Some(Effort::Medium), Some(0.9), Some(99)));
        assert_eq!(model.schema, Some(json!({"type": "object"})));
        assert_eq!(request.echo["reasoning"]["summary"], "auto");
    }

    #[test]
    fn what_has_no_translation_is_refused_by_name() {
        let cases = [
            (json!({"previous_response_id": "resp_1"}), "`previous_response_id`"),
            (json!({"background": true}), "`background`"),
            (json!({"conversation": "conv_1"}), "`conversation`"),
            (json!({"truncation": "auto"}), "`truncation`"),
            (json!({"include": ["message.output_text.logprobs"]}), "`include`"),
            (json!({"max_tool_calls": 3}), "`max_tool_calls`"),
            (json!({"tools": [{"type": "web_search"}]}), "`web_search`"),
            (json!({"text": {"verbosity": "low"}}), "`text.verbosity`"),
            (json!({"input": [{"type": "item_reference", "id": "x"}]}), "`item_reference`"),
            (json!({"input": [{"type": "function_call_output", "output": "x"}]}), "`call_id`"),
            (json!({"input": [{"role": "robot", "content": "x"}]}), "`robot`"),
            (json!({"input": 7}), "`input`"),
            (json!({"input": []}), "no messages"),
        ];
        for (extra, part) in cases {
            let mut body = json!({"input": "hi"});
            for (name, value) in extra.as_object().unwrap() {
                body[name] = value.clone();
            }
            let error = responses_request(&inbound(body), 1000).unwrap_err();
            assert!(error.status == 400 && error.message.contains(part), "{}", error.message);
        }
    }
}
