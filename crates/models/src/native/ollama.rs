//! Ollama's own `/api/chat`, which takes the context window and keeps the model's reasoning apart.

use super::turns::{name_of, object};
use super::{Body, Untranslatable, rounded};
use crate::openai::{Decode, Fault, ReplyState, any, text, tool_json, with};
use serde_json::{Value, json};
use steward_core::message::{Message, PictureSource, Role};
use steward_core::model::{Connection, Effort, ModelRequest, Usage};
use steward_core::tool::ToolCall;

pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Body {
    let all = request.messages.iter().enumerate();
    let messages: Result<Vec<Value>, _> = all.map(|(at, m)| message(m, &request.messages[..at])).collect();
    if !request.tools.is_empty() && request.options.tool_choice.is_forced() {
        return Err(Untranslatable::new("a `tool_choice` other than `auto` and `none`"));
    }
    let options = json!({
        "temperature": request.temperature.filter(|_| !plain).map(rounded),
        "top_p": request.options.top_p.map(rounded),
        "num_predict": request.max_tokens,
        "stop": any(&request.stop),
        "seed": request.seed.map(|seed| seed & (i32::MAX as u64)),
        "num_ctx": connection.capabilities.num_ctx,
    });
    let by_level = connection.model.contains("gpt-oss");
    let fields = json!({
        "tools": any(request.tools.iter().map(tool_json)),
        "format": request.schema.as_ref().filter(|_| connection.capabilities.json_schema),
        "think": request.options.effort.map(|effort| match effort {
            Effort::None => json!(false),
            _ if !by_level => json!(true),
            Effort::Minimal | Effort::Low => json!("low"),
            Effort::Medium => json!("medium"),
            Effort::High | Effort::XHigh => json!("high"),
        }),
        "options": with(json!({}), options),
    });
    Ok(with(json!({"model": connection.model, "messages": messages?, "stream": true}), fields))
}

fn message(message: &Message, before: &[Message]) -> Body {
    let mut turn = json!({"role": message.role});
    if message.role == Role::Tool {
        turn["tool_name"] = json!(name_of(message.tool_call_id.as_deref().unwrap_or_default(), before));
    }
    turn["content"] = json!(message.text);
    let pictures: Result<Vec<&str>, Untranslatable> = message
        .pictures
        .iter()
        .map(|picture| match &picture.source {
            PictureSource::Data { base64, .. } => Ok(&**base64),
            PictureSource::Url(_) => {
                Err(Untranslatable::new("an `image_url` with an address (send the picture itself, as a data URL)"))
            }
        })
        .collect();
    if let Some(pictures) = any(pictures?) {
        turn["images"] = json!(pictures);
    }
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter();
        let call = |call: &ToolCall| json!({"function": {"name": call.name, "arguments": object(&call.arguments)}});
        turn["tool_calls"] = calls.map(call).collect();
    }
    Ok(turn)
}

#[derive(Debug, Default)]
pub(super) struct Decoder;

impl Decode for Decoder {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault> {
        if let Some(model) = text(event.get("model")) {
            state.model = model;
        }
        let message = &event["message"];
        let field = |name: &str| text(message.get(name)).unwrap_or_default();
        state.push_reasoning(&field("thinking"));
        state.push_text(&field("content"));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let arguments = object(&function["arguments"]).to_string();
            state.push_call(text(call.get("id")), text(function.get("name")), arguments);
        }
        if event["done"] == true {
            let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
            state.usage = Usage {
                prompt_tokens: number("prompt_eval_count"),
                completion_tokens: number("eval_count"),
                ..Usage::default()
            };
            let reason = event["done_reason"].as_str().unwrap_or("stop");
            let called = reason == "stop" && state.calls > 0;
            state.finish = Some(if called { "tool_calls" } else { reason }.to_owned());
            state.done = true;
        }
        Ok(())
    }

    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>> {
        reply.get("message")?;
        Some(self.event(state, reply))
    }
}
