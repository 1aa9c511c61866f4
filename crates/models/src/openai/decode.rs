//! Turns the dialect's JSON into chunks. Pure; unknown fields are ignored.

use serde_json::Value;
use steward_core::model::{ModelChunk, Usage};

/// What an event can be instead of a piece of the reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// No JSON, or none of this dialect.
    Nonsense(String),
    /// An error object.
    InBand(Value),
}

/// How a reply stands, whatever the wire.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Calls begun.
    pub calls: usize,
    has_content: bool,
    has_reasoning: bool,
    /// Nothing more comes.
    pub done: bool,
    /// Why it ended, in the words of the dialect where there is one, else in the endpoint's.
    pub finish: Option<String>,
    /// What it took so far.
    pub usage: Usage,
    /// The model's name as answered.
    pub model: String,
}

impl State {
    /// Text of the answer.
    pub fn push_text(&mut self, piece: &str, chunks: &mut Vec<ModelChunk>) {
        self.has_content |= !piece.trim().is_empty();
        if !piece.is_empty() {
            chunks.push(ModelChunk::Text(piece.to_owned()));
        }
    }

    /// Text of the reasoning.
    pub fn push_reasoning(&mut self, piece: &str, chunks: &mut Vec<ModelChunk>) {
        self.has_reasoning |= !piece.trim().is_empty();
        if !piece.is_empty() {
            chunks.push(ModelChunk::Reasoning(piece.to_owned()));
        }
    }

    /// Begins a call; gives its index.
    pub fn push_call(
        &mut self,
        id: Option<String>,
        name: Option<String>,
        arguments: String,
        chunks: &mut Vec<ModelChunk>,
    ) -> usize {
        let index = self.calls;
        self.calls += 1;
        chunks.push(ModelChunk::ToolCall { index, id: id.filter(|id| !id.is_empty()), name, arguments });
        index
    }

    /// Whether anything that counts as an answer has come.
    pub fn has_answer(&self) -> bool {
        self.has_content || self.has_reasoning || self.calls > 0
    }

    /// Whether the reply is complete; only usage may still come.
    pub fn is_finished(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// Why it ended.
    pub fn finish(&self) -> &str {
        match &self.finish {
            Some(finish) => finish,
            None if self.calls == 0 => "stop",
            None => "tool_calls",
        }
    }

    /// The last chunk. `asked` is the model's name where the endpoint gave none.
    pub fn end(&self, asked: &str) -> ModelChunk {
        let model = if self.model.is_empty() { asked } else { &self.model };
        ModelChunk::End { finish: self.finish().to_owned(), usage: self.usage, model: model.to_owned() }
    }
}

/// Turns the events of one wire into chunks.
pub(crate) trait Decode: Send {
    /// How the reply stands.
    fn state(&self) -> &State;

    /// The same, to change.
    fn state_mut(&mut self) -> &mut State;

    /// Chunks of one JSON event. Unknown events and fields are ignored.
    fn value(&mut self, value: &Value) -> Result<Vec<ModelChunk>, Fault>;

    /// Chunks of a reply in one piece; `None` if it is no such reply.
    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>>;

    /// Chunks of one event's text.
    fn event(&mut self, data: &str) -> Result<Vec<ModelChunk>, Fault> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(Vec::new());
        }
        if data == "[DONE]" {
            self.state_mut().done = true;
            return Ok(Vec::new());
        }
        let value: Value = serde_json::from_str(data).map_err(|_| Fault::Nonsense(data.to_owned()))?;
        if is_error(&value) {
            return Err(Fault::InBand(value));
        }
        if !value.is_object() {
            return Err(Fault::Nonsense(data.to_owned()));
        }
        self.value(&value)
    }
}

/// Whether it is an error in the place of an event.
pub(crate) fn is_error(value: &Value) -> bool {
    let kind = |field: &str| value.get(field).and_then(Value::as_str);
    value.get("error").is_some_and(|e| !e.is_null()) || kind("object") == Some("error") || kind("type") == Some("error")
}

/// The chat-completions dialect.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    state: State,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    wire_index: Option<u64>,
    id: String,
}

impl Decode for Decoder {
    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn value(&mut self, value: &Value) -> Result<Vec<ModelChunk>, Fault> {
        if let Some(model) = text(value.get("model")).filter(|name| !name.is_empty()) {
            self.state.model = model;
        }
        let choice = value.get("choices").and_then(|choices| choices.get(0));
        let places =
            [value.get("usage"), value.pointer("/x_groq/usage"), choice.and_then(|choice| choice.get("usage"))];
        if let Some(usage) = places.into_iter().flatten().find(|usage| usage.is_object()) {
            self.state.usage = read_usage(usage);
        }
        let Some(choice) = choice else {
            return Ok(Vec::new());
        };
        let mut chunks = Vec::new();
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, &mut chunks);
        }
        if let Some(reason) = text(choice.get("finish_reason")).filter(|r| !r.is_empty()) {
            self.state.finish = Some(reason);
        }
        Ok(chunks)
    }

    fn whole(&mut self, value: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        value.get("choices")?;
        Some(self.value(value))
    }
}

impl Decoder {
    fn delta(&mut self, delta: &Value, chunks: &mut Vec<ModelChunk>) {
        let reasoning = text(delta.get("reasoning_content")).or_else(|| text(delta.get("reasoning")));
        self.state.push_reasoning(&reasoning.unwrap_or_default(), chunks);
        match delta.get("content") {
            Some(Value::String(piece)) => self.state.push_text(piece, chunks),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, chunks)),
            _ => {}
        }
        if let Some(refusal) = text(delta.get("refusal")) {
            self.state.push_text(&refusal, chunks);
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        chunks.extend(calls.into_iter().flatten().map(|piece| self.call(piece)));
    }

    /// Some servers send content in parts, the reasoning among them.
    fn part(&mut self, part: &Value, chunks: &mut Vec<ModelChunk>) {
        if let Some(thinking) = part.get("thinking") {
            let piece = match thinking {
                Value::Array(list) => list.iter().filter_map(|p| text(p.get("text"))).collect(),
                other => text(Some(other)).unwrap_or_default(),
            };
            self.state.push_reasoning(&piece, chunks);
        } else if let Some(piece) = text(part.get("text")) {
            self.state.push_text(&piece, chunks);
        }
    }

    fn call(&mut self, piece: &Value) -> ModelChunk {
        let wire_index = piece.get("index").and_then(Value::as_u64);
        let id = text(piece.get("id")).filter(|id| !id.is_empty());
        let function = piece.get("function").unwrap_or(&Value::Null);
        let name = text(function.get("name")).filter(|name| !name.is_empty());
        let index = self.place(wire_index, id.as_deref(), name.is_some());
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            // Some servers send the object itself.
            Some(object) => object.to_string(),
        };
        ModelChunk::ToolCall { index, id, name, arguments }
    }

    /// Which call a piece belongs to. Some servers leave the index out or give all calls the same
    /// one; then a new id, or without ids a new name, begins a new call.
    fn place(&mut self, wire_index: Option<u64>, id: Option<&str>, named: bool) -> usize {
        let known = self.calls.iter().rposition(|call| wire_index.is_none() || call.wire_index == wire_index);
        if let Some(at) = known {
            let call = &mut self.calls[at];
            let same = match id {
                Some(id) => call.id.is_empty() || call.id == id,
                None => wire_index.is_some() || !named,
            };
            if same {
                if let Some(id) = id {
                    id.clone_into(&mut call.id);
                }
                return at;
            }
        }
        self.calls.push(Call { wire_index, id: id.unwrap_or_default().to_owned() });
        self.state.calls = self.calls.len();
        self.calls.len() - 1
    }
}

/// Usage as the dialect tells it, under any of its names.
pub(crate) fn read_usage(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    Usage {
        prompt_tokens: number("/prompt_tokens").or_else(|| number("/input_tokens")).unwrap_or(0),
        cached_tokens: number("/prompt_tokens_details/cached_tokens")
            .or_else(|| number("/input_tokens_details/cached_tokens"))
            .or_else(|| number("/prompt_cache_hit_tokens"))
            .or_else(|| number("/cached_tokens"))
            .unwrap_or(0),
        completion_tokens: number("/completion_tokens").or_else(|| number("/output_tokens")).unwrap_or(0),
        cost_micros: 0,
    }
}

/// A string, if it is one.
pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}
