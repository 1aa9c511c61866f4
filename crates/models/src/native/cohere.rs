//! Cohere's chat, version 2.

use super::{Body, Untranslatable, rounded, thinking_tokens};
use crate::openai::{Decode, Fault, ReplyState, any, call_json, message_json, text, tool_json, with};
use serde_json::{Value, json};
use steward_core::message::{Message, Role};
use steward_core::model::{Connection, Effort, ModelRequest, ToolChoice, Usage};

const STOPS: usize = 5;

pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Body {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let options = &request.options;
    if request.stop.len() > STOPS && options.exact {
        return Err(Untranslatable::new(format!("more than {STOPS} texts in `stop`")));
    }
    // It refuses a schema beside tools.
    let schema = request.schema.as_ref().filter(|_| connection.capabilities.json_schema);
    if schema.is_some() && !request.tools.is_empty() && options.exact {
        return Err(Untranslatable::new("a `response_format` beside `tools`"));
    }
    let schema = schema.filter(|_| request.tools.is_empty());
    // It has no word for one tool: that one alone is offered.
    let offered = request.tools.iter().filter(|spec| match &options.tool_choice {
        ToolChoice::Named(name) => spec.name == *name,
        _ => true,
    });
    let choice = match &options.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("NONE"),
        ToolChoice::Required | ToolChoice::Named(_) => Some("REQUIRED"),
    };
    let fields = json!({
        "temperature": request.temperature.filter(|_| !plain).map(rounded),
        "max_tokens": request.max_tokens,
        "p": options.top_p.map(rounded),
        "stop_sequences": any(request.stop.iter().take(STOPS)),
        "seed": request.seed.map(|seed| seed & (i64::MAX as u64)),
        "tools": any(offered.map(tool_json)),
        "tool_choice": choice.filter(|_| !request.tools.is_empty()),
        "thinking": options.effort.map(|effort| match effort {
            Effort::None => json!({"type": "disabled"}),
            effort => json!({"type": "enabled", "token_budget": thinking_tokens(effort)}),
        }),
        "response_format": schema.map(|schema| json!({"type": "json_object", "json_schema": schema})),
    });
    Ok(with(json!({"model": connection.model, "stream": true, "messages": messages}), fields))
}

fn message(message: &Message) -> Value {
    if message.role != Role::Assistant || message.tool_calls.is_empty() {
        return message_json(message);
    }
    let calls: Vec<Value> = message.tool_calls.iter().map(call_json).collect();
    let mut turn = json!({"role": "assistant", "tool_calls": calls});
    // What it says before calls is its plan.
    if !message.text.trim().is_empty() {
        turn["tool_plan"] = json!(message.text);
    }
    turn
}

#[derive(Debug)]
pub(super) struct Decoder;

impl Decode for Decoder {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault> {
        let delta = &event["delta"];
        let message = &delta["message"];
        let at = event.get("index").and_then(Value::as_u64);
        match event["type"].as_str().unwrap_or_default() {
            "content-start" | "content-delta" => content(state, &message["content"]),
            "tool-plan-delta" => state.push_reasoning(&text(message.get("tool_plan")).unwrap_or_default()),
            "tool-call-start" => {
                let index = begin_call(state, &message["tool_calls"]);
                state.open_call(at, Some(index));
            }
            "tool-call-delta" => {
                if let Some(arguments) = text(message["tool_calls"]["function"].get("arguments")) {
                    state.push_piece(at, arguments);
                }
            }
            "message-end" => {
                state.usage = read_usage(&delta["usage"]);
                end(state, delta)?;
                state.done = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>> {
        let message = reply.get("message").filter(|message| message.is_object())?;
        state.push_reasoning(&text(message.get("tool_plan")).unwrap_or_default());
        for part in message["content"].as_array().into_iter().flatten() {
            content(state, part);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            begin_call(state, call);
        }
        state.usage = read_usage(&reply["usage"]);
        Some(end(state, reply))
    }
}

fn content(state: &mut ReplyState, content: &Value) {
    let field = |name: &str| text(content.get(name)).unwrap_or_default();
    state.push_reasoning(&field("thinking"));
    state.push_text(&field("text"));
}

fn begin_call(state: &mut ReplyState, call: &Value) -> usize {
    let function = &call["function"];
    let arguments = text(function.get("arguments")).unwrap_or_default();
    state.push_call(text(call.get("id")), text(function.get("name")), arguments)
}

/// Why it ended; a failure is one of the reasons.
fn end(state: &mut ReplyState, end: &Value) -> Result<(), Fault> {
    let reason = end["finish_reason"].as_str().unwrap_or("COMPLETE");
    let word = match reason {
        "COMPLETE" | "STOP_SEQUENCE" => "stop",
        "MAX_TOKENS" => "length",
        "TOOL_CALL" => "tool_calls",
        "ERROR" | "ERROR_TOXIC" | "ERROR_LIMIT" | "TIMEOUT" => {
            let words = text(end.get("error")).unwrap_or_else(|| reason.to_owned());
            let kind = reason.to_lowercase();
            return Err(Fault::InBand(json!({"error": {"type": kind, "message": words}})));
        }
        other => &other.to_lowercase(),
    };
    state.finish = Some(word.to_owned());
    Ok(())
}

fn read_usage(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    let either = |name: &str| {
        number(&format!("/tokens/{name}")).or_else(|| number(&format!("/billed_units/{name}"))).unwrap_or(0)
    };
    Usage {
        prompt_tokens: either("input_tokens"),
        cached_tokens: number("/cached_tokens").unwrap_or(0),
        completion_tokens: either("output_tokens"),
        cost_micros: 0,
    }
}
