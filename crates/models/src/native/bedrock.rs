use super::answer_limits::answer_limits;
use super::turns::{Choice, Part, begin_call, finish, message, object, offer, system, turns};
use super::{Body, Untranslatable, anthropic, rounded};
use crate::openai::{BadFrame, Decode, EventParser, Fault, LARGEST_EVENT, ReplyState, any, segment, text, with};
use serde_json::{Value, json};
use steward_core::message::{PictureSource, Piece};
use steward_core::model::{Connection, Effort, ModelRequest, Usage};

pub(super) fn path(connection: &Connection) -> String {
    format!("model/{}/converse-stream", segment(connection.model.trim()))
}

pub(super) fn body(connection: &Connection, request: &ModelRequest, plain: bool) -> Body {
    let instructions = any(system(request).iter().map(|text| json!({"text": text})));
    let mut body = with(json!({}), json!({"system": instructions}));
    for message in &request.messages {
        message.pictures.iter().try_for_each(|one| picture(&one.source).map(drop))?;
    }
    body["messages"] = turns(request).iter().map(|turn| message(turn, part)).collect();
    let limits = json!({
        "maxTokens": request.max_tokens,
        "temperature": request.temperature.filter(|_| !plain).map(|value| rounded(value).min(1.0)),
        "topP": request.options.top_p.map(rounded),
        "stopSequences": any(&request.stop),
    });
    body["inferenceConfig"] = with(json!({}), limits);
    let offer = offer(request, connection.capabilities.json_schema, tool)?;
    if let Some(tools) = offer.tools {
        let choice = match offer.choice {
            Choice::Auto | Choice::None => Value::Null,
            Choice::Any => json!({"any": {}}),
            Choice::One(name) => json!({"tool": {"name": name}}),
        };
        body["toolConfig"] = with(json!({"tools": tools}), json!({"toolChoice": choice}));
    }
    if let Some(effort) = request.options.effort {
        let fields = thinking_fields(&connection.model, effort, request)?;
        if fields.as_object().is_some_and(|fields| !fields.is_empty()) {
            body["additionalModelRequestFields"] = fields;
        }
    }
    Ok(body)
}

/// Each family of models has its own; what is known of others is nothing.
fn thinking_fields(model: &str, effort: Effort, request: &ModelRequest) -> Body {
    let word = match effort {
        Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::XHigh => "high",
    };
    if model.contains("anthropic.claude") {
        if effort == Effort::None {
            return Ok(json!({}));
        }
        let limits = answer_limits(model);
        let most = request.max_tokens.unwrap_or(limits.most);
        let thoughts = anthropic::thinking(effort, limits.thinking, most, request)?;
        return match thoughts.get("thinking").and_then(|_| anthropic::besides_thoughts(request)) {
            Some(what) => Err(Untranslatable::new(format!("`reasoning_effort` together with {what}"))),
            None => Ok(thoughts),
        };
    }
    if model.contains("amazon.nova-2") {
        return Ok(match effort {
            Effort::None => json!({"reasoningConfig": {"type": "disabled"}}),
            _ => json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": word}}),
        });
    }
    if model.contains("openai.gpt-oss") && effort != Effort::None {
        return Ok(json!({"reasoning_effort": word}));
    }
    Err(Untranslatable::new("`reasoning_effort` (for this model of Bedrock)"))
}

fn tool(name: &str, description: &str, schema: &Value) -> Value {
    let mut spec = json!({"name": name, "inputSchema": {"json": schema}});
    // An empty one is refused.
    if !description.is_empty() {
        spec["description"] = json!(description);
    }
    json!({"toolSpec": spec})
}

fn part(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Picture(source) => picture(source).unwrap_or_default(),
        Part::Call { id, call } => {
            json!({"toolUse": {"toolUseId": id, "name": call.name, "input": object(&call.arguments)}})
        }
        Part::Result { id, message, .. } => {
            let pieces = message.pieces().into_iter().map(|piece| match piece {
                Piece::Text(text) => json!({"text": text}),
                Piece::Picture(source) => picture(source).unwrap_or_default(),
            });
            json!({"toolResult": {"toolUseId": id, "content": pieces.collect::<Vec<Value>>()}})
        }
    }
}

fn picture(source: &PictureSource) -> Body {
    match source {
        PictureSource::Data { media_type, base64 } => {
            let format = media_type.trim_start_matches("image/").replace("jpg", "jpeg");
            Ok(json!({"image": {"format": format, "source": {"bytes": **base64}}}))
        }
        PictureSource::Url(_) => {
            Err(Untranslatable::new("an `image_url` with an address (send the picture itself, as a data URL)"))
        }
    }
}

#[derive(Debug)]
pub(super) struct Decoder;

impl Decode for Decoder {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault> {
        let Some((kind, event)) = event.as_object().and_then(|map| map.iter().next()) else {
            return Ok(());
        };
        let at = event.get("contentBlockIndex").and_then(Value::as_u64);
        match kind.as_str() {
            "contentBlockStart" => {
                if let Some(call) = event["start"].get("toolUse") {
                    begin(state, call, at);
                }
            }
            "contentBlockDelta" => delta(state, &event["delta"], at),
            "messageStop" => end(state, event),
            // It comes last.
            "metadata" => {
                state.usage = read_usage(&event["usage"]);
                state.done = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>> {
        let blocks = reply.pointer("/output/message/content")?.as_array()?;
        for (at, block) in (0..).zip(blocks) {
            if let Some(call) = block.get("toolUse") {
                begin(state, call, Some(at));
                delta(state, &json!({"toolUse": {"input": call["input"].to_string()}}), Some(at));
            } else if let Some(reasoning) = block.pointer("/reasoningContent/reasoningText") {
                delta(state, &json!({"reasoningContent": reasoning}), None);
            } else {
                delta(state, block, None);
            }
        }
        state.usage = read_usage(&reply["usage"]);
        end(state, reply);
        Some(Ok(()))
    }
}

fn begin(state: &mut ReplyState, call: &Value, at: Option<u64>) {
    begin_call(state, at, text(call.get("toolUseId")), text(call.get("name")));
}

fn delta(state: &mut ReplyState, delta: &Value, at: Option<u64>) {
    if let Some(piece) = text(delta.get("text")) {
        state.push_text(&piece);
    }
    if let Some(piece) = text(delta.pointer("/reasoningContent/text")) {
        state.push_reasoning(&piece);
    }
    if let Some(arguments) = text(delta.pointer("/toolUse/input")) {
        state.push_piece(at, arguments);
    }
}

fn end(state: &mut ReplyState, event: &Value) {
    finish(state, event["stopReason"].as_str().unwrap_or("end_turn"));
}

/// Tokens read from the cache and written to it are counted apart from the rest of the prompt.
fn read_usage(usage: &Value) -> Usage {
    let number = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    let cached = number("cacheReadInputTokens");
    Usage {
        prompt_tokens: number("inputTokens") + cached + number("cacheWriteInputTokens"),
        cached_tokens: cached,
        completion_tokens: number("outputTokens"),
        cost_micros: 0,
    }
}

/// Two lengths and their checksum, bytes.
const PRELUDE: usize = 12;
/// Header type of a string.
const STRING: u8 = 7;

/// Reads Amazon's binary event stream: messages of a length, headers and a JSON payload, each with a checksum. Gives a
/// message as `{"<event type>": payload}`, an exception as `{"error": …}`.
/// A cut-off message is dropped; the reply is then found unfinished.
#[derive(Debug, Default)]
pub(super) struct AwsParser {
    held: Vec<u8>,
}

impl EventParser for AwsParser {
    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, BadFrame> {
        self.held.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut at = 0;
        while let Some((message, length)) = first(&self.held[at..])? {
            events.push(message.to_string());
            at += length;
        }
        self.held.drain(..at);
        Ok(events)
    }
}

/// The first message of `bytes` and its length; `None` if it is not complete.
fn first(bytes: &[u8]) -> Result<Option<(Value, usize)>, BadFrame> {
    if bytes.len() < PRELUDE {
        return Ok(None);
    }
    if crc32fast::hash(&bytes[..8]) != number(&bytes[8..]) {
        return Err(BadFrame::Corrupt);
    }
    let total = usize::try_from(number(bytes)).unwrap_or(usize::MAX);
    let headers = usize::try_from(number(&bytes[4..])).unwrap_or(usize::MAX);
    if total > LARGEST_EVENT {
        return Err(BadFrame::TooLarge);
    }
    if total < PRELUDE + 4 || headers > total - PRELUDE - 4 {
        return Err(BadFrame::Corrupt);
    }
    let Some(message) = bytes.get(..total) else {
        return Ok(None);
    };
    let (body, sum) = message.split_at(total - 4);
    if crc32fast::hash(body) != number(sum) {
        return Err(BadFrame::Corrupt);
    }
    let (headers, payload) = body[PRELUDE..].split_at(headers);
    Ok(Some((event(headers, payload), total)))
}

fn event(headers: &[u8], payload: &[u8]) -> Value {
    let found = strings(headers);
    let header = |name: &str| {
        let pair = found.iter().find(|(known, _)| known == name);
        pair.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    let data = serde_json::from_slice(payload).unwrap_or_else(|_| json!(String::from_utf8_lossy(payload)));
    match header(":message-type") {
        "exception" => {
            let kind = header(":exception-type");
            let words = data.get("message").or(data.get("Message"));
            json!({"error": {"type": kind, "message": words.unwrap_or(&data)}})
        }
        "error" => {
            json!({"error": {"type": header(":error-code"), "message": header(":error-message")}})
        }
        _ => json!({header(":event-type"): data}),
    }
}

/// The string headers; Bedrock has no others. Reading stops at what is not understood.
fn strings(mut bytes: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let next = || {
        let (&length, rest) = bytes.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(length))?;
        let (&[kind, high, low], rest) = rest.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes([high, low])))?;
        bytes = rest;
        (kind == STRING).then(|| (text(name), text(value)))
    };
    std::iter::from_fn(next).collect()
}

fn number(bytes: &[u8]) -> u32 {
    match bytes.first_chunk::<4>() {
        Some(first) => u32::from_be_bytes(*first),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// A message as Bedrock writes it.
    pub fn message(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut head = Vec::new();
        for (name, value) in headers {
            head.push(u8::try_from(name.len()).unwrap());
            head.extend(name.bytes());
            head.push(STRING);
            head.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
            head.extend(value.bytes());
        }
        let total = u32::try_from(PRELUDE + head.len() + payload.len() + 4).unwrap();
        let mut out = total.to_be_bytes().to_vec();
        out.extend(u32::try_from(head.len()).unwrap().to_be_bytes());
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out.extend(head);
        out.extend(payload.bytes());
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out
    }

    #[test]
    fn messages_cut_anywhere() {
        let event = message(&[(":message-type", "event"), (":event-type", "messageStart")], r#"{"role":"assistant"}"#);
        let fault = message(
            &[(":message-type", "exception"), (":exception-type", "throttlingException")],
            r#"{"message":"slow down"}"#,
        );
        let all = [event, fault].concat();
        let expect = [
            r#"{"messageStart":{"role":"assistant"}}"#,
            r#"{"error":{"type":"throttlingException","message":"slow down"}}"#,
        ];
        for cut in 0..=all.len() {
            let mut parser = AwsParser::default();
            let mut events = parser.feed(&all[..cut]).unwrap();
            events.extend(parser.feed(&all[cut..]).unwrap());
            assert_eq!(events, expect, "cut at {cut}");
        }
    }

    #[test]
    fn broken_messages_are_told() {
        let good = message(&[(":event-type", "x")], "{}");
        for at in [0, 5, 9, good.len() - 6, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            assert_eq!(AwsParser::default().feed(&bad), Err(BadFrame::Corrupt), "{at}");
        }
        assert_eq!(AwsParser::default().feed(b"<html>no stream</html>"), Err(BadFrame::Corrupt));
    }
}
