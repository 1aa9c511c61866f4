use crate::openai::usage;
use serde_json::{Value, json};
use steward_core::model::Usage;

/// What a chat completion and all chunks of one have in common.
#[derive(Debug)]
pub(crate) struct ChatFrame {
    pub id: String,
    /// Seconds since 1970 UTC.
    pub created: i64,
    pub model: String,
}

impl ChatFrame {
    pub fn delta(&self, delta: &Value, finish: Option<&str>) -> Value {
        self.chunk(&json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]))
    }

    /// The chunk after the last one, for clients that ask for the usage.
    pub fn usage(&self, spent: &Usage) -> Value {
        let mut chunk = self.chunk(&json!([]));
        chunk["usage"] = usage(spent);
        chunk
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model,
            "choices": choices,
        })
    }

    pub fn whole(&self, message: &Value, finish: &str, usage: &Value) -> Value {
        let mut message = message.clone();
        if message["refusal"].is_null() {
            message["refusal"] = Value::Null;
        }
        json!({
            "id": self.id, "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
            "usage": usage,
        })
    }
}
