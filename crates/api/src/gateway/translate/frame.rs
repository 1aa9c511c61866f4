//! Pieces of a reply in the words of the OpenAI dialect. Pure.

use crate::openai::{ChatFrame, usage};
use serde_json::{Map, Value, json};
use steward_core::model::{ModelChunk, Usage};

/// Most calls of one answer.
const MOST_CALLS: usize = 255;

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

/// An answer as far as it has come.
#[derive(Debug)]
pub(super) struct Frame {
    pub chat: ChatFrame,
    text: String,
    reasoning: String,
    calls: Vec<Call>,
    pub finish: String,
    pub usage: Usage,
    pub ended: bool,
}

impl Frame {
    pub fn new(id: String, created: i64, model: String) -> Self {
        Self {
            chat: ChatFrame { id, created, model },
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            finish: "stop".to_owned(),
            usage: Usage::default(),
            ended: false,
        }
    }

    /// What it took: as told at the end, before that as guessed from its length; `prompt` in tokens.
    pub fn spent(&self, prompt: u64) -> Usage {
        if self.ended {
            return self.usage;
        }
        let chars = self.text.chars().count() + self.reasoning.chars().count();
        Usage { prompt_tokens: prompt, completion_tokens: chars.div_ceil(4) as u64, ..Usage::default() }
    }

    /// Takes a piece; what it changes, as a `delta`. The end has none.
    pub fn take(&mut self, chunk: ModelChunk) -> Option<Value> {
        match chunk {
            ModelChunk::Text(text) => {
                self.text.push_str(&text);
                Some(json!({"content": text}))
            }
            ModelChunk::Reasoning(text) => {
                self.reasoning.push_str(&text);
                Some(json!({"reasoning_content": text}))
            }
            ModelChunk::ToolCall { index, id, name, arguments } => Some(self.call(index, id, name, &arguments)),
            ModelChunk::Signature { .. } => None,
            ModelChunk::End { finish, usage, .. } => {
                self.finish = if self.calls.is_empty() { finish } else { "tool_calls".to_owned() };
                self.usage = usage;
                self.ended = true;
                None
            }
        }
    }

    fn call(&mut self, index: usize, id: Option<String>, name: Option<String>, arguments: &str) -> Value {
        let mut delta = json!({"index": index, "function": {"arguments": arguments}});
        // As many as any model makes at once; a wrong number must not fill the memory.
        let index = index.min(MOST_CALLS);
        while self.calls.len() <= index {
            let id = format!("call_{}_{}", self.chat.id, self.calls.len());
            self.calls.push(Call { id, name: String::new(), arguments: String::new() });
        }
        let call = &mut self.calls[index];
        if let Some(id) = id {
            call.id = id;
        }
        if let Some(name) = name {
            delta["id"] = json!(call.id);
            delta["type"] = json!("function");
            delta["function"]["name"] = json!(name);
            call.name = name;
        }
        call.arguments.push_str(arguments);
        json!({"tool_calls": [delta]})
    }

    pub fn whole(&self) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        let content = (!self.text.is_empty() || self.calls.is_empty()).then_some(&self.text);
        message.insert("content".to_owned(), json!(content));
        if !self.reasoning.is_empty() {
            message.insert("reasoning_content".to_owned(), json!(self.reasoning));
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|Call { id, name, arguments }| {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
            });
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        self.chat.whole(&Value::Object(message), &self.finish, &usage(&self.usage))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Frame;
    use serde_json::{Value, json};
    use steward_core::model::{ModelChunk, Usage};

    fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> ModelChunk {
        ModelChunk::ToolCall {
            index,
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn calls_are_put_together() {
        let mut frame = Frame::new("x".to_owned(), 7, "connection/c".to_owned());
        let pieces = [
            ModelChunk::Text("Look: ".to_owned()),
            call(0, Some("a"), Some("f"), "{\"p\""),
            call(1, None, Some("g"), ""),
            call(0, None, None, ":1}"),
        ];
        let deltas: Vec<Value> = pieces.into_iter().filter_map(|one| frame.take(one)).collect();
        assert_eq!(deltas[1]["tool_calls"][0]["function"]["name"], "f");
        assert_eq!(deltas[2]["tool_calls"][0]["id"], "call_x_1");
        assert_eq!(deltas[3], json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}));
        let usage = Usage { prompt_tokens: 3, completion_tokens: 4, ..Usage::default() };
        let end = ModelChunk::End { finish: "stop".to_owned(), usage, model: "m".to_owned() };
        assert_eq!(frame.take(end), None);
        let whole = frame.whole();
        let choice = &whole["choices"][0];
        assert_eq!(choice["finish_reason"], "tool_calls");
        assert_eq!(choice["message"]["content"], "Look: ");
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], "{\"p\":1}");
        assert_eq!(whole["usage"]["total_tokens"], 7);
        assert_eq!(frame.chat.usage(&frame.usage)["choices"], json!([]));
    }
}
