//! Turns the events of a reply into chunks: what wires share, and the OpenAI dialect. Pure; ignores unknown fields.

use serde_json::{Value, json};
use steward_core::model::{ModelChunk, Usage};

/// What an event can be instead of a piece of the reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// No JSON, or none of this dialect.
    Nonsense(String),
    InBand(Value),
}

/// What is known of a reply so far, and the chunks of the current event.
#[derive(Debug, Default)]
pub(crate) struct ReplyState {
    pub calls: usize,
    /// The wire's index of each call whose arguments come in pieces, and ours; `None`: they are the output itself.
    open_calls: Vec<(Option<u64>, Option<usize>)>,
    has_content: bool,
    has_reasoning: bool,
    pub done: bool,
    /// Why it ended: the dialect's word if it has one, else the endpoint's.
    pub finish: Option<String>,
    pub usage: Usage,
    pub model: String,
    chunks: Vec<ModelChunk>,
}

impl ReplyState {
    pub fn push_text(&mut self, piece: &str) {
        self.has_content |= !piece.trim().is_empty();
        if !piece.is_empty() {
            self.chunks.push(ModelChunk::Text(piece.to_owned()));
        }
    }

    pub fn push_reasoning(&mut self, piece: &str) {
        self.has_reasoning |= !piece.trim().is_empty();
        if !piece.is_empty() {
            self.chunks.push(ModelChunk::Reasoning(piece.to_owned()));
        }
    }

    pub fn push_call(&mut self, id: Option<String>, name: Option<String>, arguments: String) -> usize {
        let index = self.calls;
        self.calls += 1;
        self.chunks.push(ModelChunk::ToolCall { index, id: id.filter(|id| !id.is_empty()), name, arguments });
        index
    }

    pub fn push_arguments(&mut self, index: usize, arguments: String) {
        self.chunks.push(ModelChunk::ToolCall { index, id: None, name: None, arguments });
    }

    pub fn open_call(&mut self, at: Option<u64>, index: Option<usize>) {
        self.open_calls.push((at, index));
    }

    /// A piece of the arguments of the call that is open at the wire's index `at`.
    pub fn push_piece(&mut self, at: Option<u64>, piece: String) {
        match self.open_calls.iter().rfind(|(known, _)| *known == at) {
            Some((_, Some(index))) => self.push_arguments(*index, piece),
            Some((_, None)) => self.push_text(&piece),
            None => {}
        }
    }

    /// Whether what looks like calls on the wire is the output.
    pub fn has_only_output(&self) -> bool {
        self.calls == 0 && !self.open_calls.is_empty()
    }

    pub fn push(&mut self, chunk: ModelChunk) {
        self.chunks.push(chunk);
    }

    pub fn has_answer(&self) -> bool {
        self.has_content || self.has_reasoning || self.calls > 0
    }

    /// Whether the reply is complete; only usage may still come.
    pub fn is_finished(&self) -> bool {
        self.done || self.finish.is_some()
    }

    pub fn finish(&self) -> &str {
        match &self.finish {
            Some(finish) => finish,
            None if self.calls == 0 => "stop",
            None => "tool_calls",
        }
    }

    /// The last chunk. `asked` is used if the endpoint did not name the model.
    pub fn end(&self, asked: &str) -> ModelChunk {
        let model = if self.model.is_empty() { asked } else { &self.model };
        ModelChunk::End { finish: self.finish().to_owned(), usage: self.usage, model: model.to_owned() }
    }
}

/// Reads the JSON of one wire. Unknown events and fields are ignored.
pub(crate) trait Decode: Send {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault>;
    /// A reply in one piece; `None` if it is no such reply.
    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>>;
}

pub(crate) struct ReplyDecoder {
    pub state: ReplyState,
    wire: Box<dyn Decode>,
}

impl ReplyDecoder {
    pub fn new(wire: impl Decode + 'static) -> Self {
        Self { state: ReplyState::default(), wire: Box::new(wire) }
    }

    pub fn event(&mut self, data: &str) -> Result<Vec<ModelChunk>, Fault> {
        let data = data.trim();
        if data == "[DONE]" {
            self.state.done = true;
        } else if !data.is_empty() {
            let event: Value = serde_json::from_str(data).map_err(|_| Fault::Nonsense(data.to_owned()))?;
            if is_error(&event) {
                return Err(Fault::InBand(event));
            }
            if !event.is_object() {
                return Err(Fault::Nonsense(data.to_owned()));
            }
            self.wire.event(&mut self.state, &event)?;
        }
        Ok(std::mem::take(&mut self.state.chunks))
    }

    /// Chunks of a reply in one piece; `None` if it is no such reply.
    pub fn whole(&mut self, reply: &Value) -> Option<Result<Vec<ModelChunk>, Fault>> {
        let read = self.wire.whole(&mut self.state, reply)?;
        Some(read.map(|()| std::mem::take(&mut self.state.chunks)))
    }
}

pub(crate) fn is_error(value: &Value) -> bool {
    let kind = |field: &str| value.get(field).and_then(Value::as_str);
    value.get("error").is_some_and(|e| !e.is_null()) || kind("object") == Some("error") || kind("type") == Some("error")
}

#[derive(Debug, Default)]
pub(super) struct ChatDecoder {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    wire_index: Option<u64>,
    id: String,
}

impl Decode for ChatDecoder {
    fn event(&mut self, state: &mut ReplyState, event: &Value) -> Result<(), Fault> {
        if let Some(model) = text(event.get("model")).filter(|name| !name.is_empty()) {
            state.model = model;
        }
        let choice = event.get("choices").and_then(|choices| choices.get(0));
        let places =
            [event.get("usage"), event.pointer("/x_groq/usage"), choice.and_then(|choice| choice.get("usage"))];
        if let Some(usage) = places.into_iter().flatten().find(|usage| usage.is_object()) {
            state.usage = read_usage(usage);
        }
        let Some(choice) = choice else {
            return Ok(());
        };
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(state, delta);
        }
        match text(choice.get("finish_reason")).filter(|r| !r.is_empty()) {
            Some(reason) if reason == "error" => {
                let error = choice.get("error").filter(|error| !error.is_null()).unwrap_or(event);
                return Err(Fault::InBand(json!({"error": error})));
            }
            reason => state.finish = reason.or(state.finish.take()),
        }
        Ok(())
    }

    fn whole(&mut self, state: &mut ReplyState, reply: &Value) -> Option<Result<(), Fault>> {
        reply.get("choices")?;
        Some(self.event(state, reply))
    }
}

impl ChatDecoder {
    fn delta(&mut self, state: &mut ReplyState, delta: &Value) {
        let reasoning = text(delta.get("reasoning_content")).or_else(|| text(delta.get("reasoning")));
        state.push_reasoning(&reasoning.unwrap_or_default());
        match delta.get("content") {
            Some(Value::String(piece)) => state.push_text(piece),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| content_part(state, part)),
            _ => {}
        }
        if let Some(refusal) = text(delta.get("refusal")) {
            state.push_text(&refusal);
        }
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(state, piece);
        }
    }

    fn call(&mut self, state: &mut ReplyState, piece: &Value) {
        let wire_index = piece.get("index").and_then(Value::as_u64);
        let id = text(piece.get("id")).filter(|id| !id.is_empty());
        let function = piece.get("function").unwrap_or(&Value::Null);
        let name = text(function.get("name")).filter(|name| !name.is_empty());
        let index = self.index_of(wire_index, id.as_deref(), name.is_some());
        state.calls = self.calls.len();
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            // Some servers send the object itself.
            Some(object) => object.to_string(),
        };
        state.push(ModelChunk::ToolCall { index, id, name, arguments });
    }

    /// Which call a piece belongs to. Without a telling index, a new id, or without ids a new name, begins a new call.
    fn index_of(&mut self, wire_index: Option<u64>, id: Option<&str>, named: bool) -> usize {
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
        self.calls.len() - 1
    }
}

/// Some servers send content in parts, with the reasoning among them.
fn content_part(state: &mut ReplyState, part: &Value) {
    if let Some(thinking) = part.get("thinking") {
        let piece = match thinking {
            Value::Array(list) => list.iter().filter_map(|p| text(p.get("text"))).collect(),
            other => text(Some(other)).unwrap_or_default(),
        };
        state.push_reasoning(&piece);
    } else if let Some(piece) = text(part.get("text")) {
        state.push_text(&piece);
    }
}

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

pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}
