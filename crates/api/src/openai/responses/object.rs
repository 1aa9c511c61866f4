use crate::openai::OpenAiError;
use serde_json::{Value, json};
use steward_core::RunId;
use steward_core::model::Usage;

pub(super) struct Frame {
    pub run: RunId,
    pub model: String,
    pub created: i64,
    pub instructions: Option<String>,
    pub previous: Option<String>,
    pub temperature: f32,
    pub max_output_tokens: Option<u32>,
    pub metadata: Value,
}

impl Frame {
    pub fn message_id(&self) -> String {
        format!("msg_{}", self.run)
    }

    pub fn message(&self, status: &str, text: Option<&str>) -> Value {
        let content: Vec<Value> = text.map(part).into_iter().collect();
        json!({
            "type": "message",
            "id": self.message_id(),
            "status": status,
            "role": "assistant",
            "content": content,
        })
    }

    /// The whole; `ours` is the word for clients that know Steward.
    pub fn response(&self, status: &str, output: &[Value], usage: &Value, ours: &str) -> Value {
        let incomplete = if status == "incomplete" { json!({"reason": "max_output_tokens"}) } else { Value::Null };
        json!({
            "id": format!("resp_{}", self.run),
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": false,
            "error": null,
            "incomplete_details": incomplete,
            "instructions": self.instructions,
            "max_output_tokens": self.max_output_tokens,
            "model": self.model,
            "output": output,
            "parallel_tool_calls": true,
            "previous_response_id": self.previous,
            "reasoning": {"effort": null, "summary": null},
            "store": true,
            "temperature": self.temperature,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": usage,
            "user": null,
            "metadata": self.metadata,
            "steward": {"run_id": self.run, "status": ours},
        })
    }

    pub fn failed(&self, why: &OpenAiError) -> Value {
        let mut response = self.response("failed", &[], &Value::Null, "failed");
        response["error"] = json!({"code": why.code, "message": why.message});
        response
    }
}

pub(super) fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    })
}
