use crate::dialect::text_part;
use crate::openai::OpenAiError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::RunId;

/// What the id of an answer begins with; that of its run follows.
pub(super) const PREFIX: &str = "resp_";

/// What an answer repeats of its request, and is kept for looking at it later.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Repeated {
    pub model: String,
    pub instructions: Option<String>,
    pub previous: Option<String>,
    pub temperature: f32,
    pub max_output_tokens: Option<u32>,
    pub metadata: Value,
    pub background: bool,
    #[serde(rename = "store")]
    pub keep: bool,
    pub safety_identifier: Option<String>,
    pub prompt_cache_key: Option<String>,
    pub user: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub run: RunId,
    /// Seconds since 1970 UTC.
    pub created: i64,
    /// When it ended.
    pub completed: Option<i64>,
    pub repeated: Repeated,
}

/// As it was written: as a number of twice the length, 0.2 would be 0.20000000298023224.
fn short_number(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

impl Frame {
    pub fn id(&self) -> String {
        format!("{PREFIX}{}", self.run)
    }

    pub fn message_id(&self) -> String {
        format!("msg_{}", self.run)
    }

    pub fn message(&self, status: &str, text: Option<&str>) -> Value {
        let content: Vec<Value> = text.map(text_part).into_iter().collect();
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
        let asked = &self.repeated;
        json!({
            "id": self.id(),
            "object": "response",
            "created_at": self.created,
            "completed_at": if status == "completed" { json!(self.completed) } else { Value::Null },
            "status": status,
            "background": asked.background,
            "error": null,
            "incomplete_details": incomplete,
            "instructions": asked.instructions,
            "max_output_tokens": asked.max_output_tokens,
            "max_tool_calls": null,
            "model": asked.model,
            "output": output,
            "parallel_tool_calls": true,
            "previous_response_id": asked.previous,
            "reasoning": {"effort": null, "summary": null},
            "service_tier": "default",
            "store": asked.keep,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "top_logprobs": 0,
            "safety_identifier": asked.safety_identifier,
            "prompt_cache_key": asked.prompt_cache_key,
            "temperature": short_number(asked.temperature),
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": usage,
            "user": asked.user,
            "metadata": asked.metadata,
            "steward": {"run_id": self.run, "status": ours},
        })
    }

    pub fn failed(&self, why: &OpenAiError) -> Value {
        let mut response = self.response("failed", &[], &Value::Null, "failed");
        response["error"] = json!({"code": why.code, "message": why.message});
        response
    }
}

#[cfg(test)]
mod tests {
    use super::short_number;

    #[test]
    fn numbers_stay_short() {
        for (number, expect) in [(0.2, "0.2"), (1.0, "1.0"), (0.7, "0.7"), (0.123_456_7, "0.1234567"), (0.0, "0.0")] {
            assert_eq!(short_number(number).to_string(), expect);
        }
    }
}
