use crate::openai::{OpenAiError, text_of};
use serde::Deserialize;
use serde_json::Value;
use steward_core::message::{Message, Role};

/// Body of a request, as far as agents read it; [`crate::openai::unsupported_fields`] refuses the rest.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub model: String,
    pub input: Input,
    #[serde(default)]
    pub instructions: Option<String>,
    #[serde(default)]
    pub stream: Option<bool>,
    #[serde(default)]
    pub previous_response_id: Option<String>,
    #[serde(default)]
    pub temperature: Option<f32>,
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub metadata: Option<Value>,
    #[serde(default, rename = "store")]
    pub keep: Option<bool>,
    #[serde(default)]
    pub background: Option<bool>,
    #[serde(default)]
    pub safety_identifier: Option<String>,
    #[serde(default)]
    pub prompt_cache_key: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Input {
    Text(String),
    Items(Vec<Item>),
}

/// A message; other kinds of items are not taken.
#[derive(Debug, Deserialize)]
pub(crate) struct Item {
    #[serde(default)]
    pub r#type: Option<String>,
    #[serde(default)]
    pub role: Option<String>,
    #[serde(default)]
    pub content: Value,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Asked {
    pub instructions: String,
    pub history: Vec<Message>,
    pub input: String,
}

impl Input {
    /// Instructions, earlier messages and the last one, which must be the user's.
    pub fn asked(self, instructions: Option<String>) -> Result<Asked, OpenAiError> {
        let mut parts: Vec<String> = instructions.into_iter().collect();
        let mut history = Vec::new();
        match self {
            Self::Text(text) => history.push(Message::user(text)),
            Self::Items(items) => {
                for item in items {
                    let (role, text) = item.message()?;
                    match role.as_str() {
                        "system" | "developer" => parts.push(text),
                        "assistant" => history.push(Message::assistant(text)),
                        "user" => history.push(Message::user(text)),
                        other => return Err(invalid(format!("unknown role `{other}`"))),
                    }
                }
            }
        }
        let last = history.pop().filter(|last| last.role == Role::User);
        let Some(last) = last else {
            return Err(invalid("the last message must be the user's"));
        };
        Ok(Asked { instructions: parts.join("\n\n"), history, input: last.text })
    }
}

impl Item {
    fn message(self) -> Result<(String, String), OpenAiError> {
        let kind = self.r#type.as_deref().unwrap_or("message");
        if kind != "message" {
            return Err(invalid(format!(
                "an item of type `{kind}` is not taken; an agent runs its own tools: send messages, or give previous_response_id"
            )));
        }
        let role = self.role.ok_or_else(|| invalid("a message needs its `role`"))?;
        Ok((role, text_of(&self.content, "input")?))
    }
}

fn invalid(message: impl Into<String>) -> OpenAiError {
    OpenAiError::invalid(message, "input")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::{Asked, Request};
    use serde_json::{Value, json};
    use steward_core::message::Message;

    fn asked(input: Value, instructions: Option<&str>) -> Result<Asked, String> {
        let mut body = json!({"model": "steward", "input": input, "truncation": "auto"});
        if let Some(text) = instructions {
            body["instructions"] = json!(text);
        }
        let request: Request = serde_json::from_value(body).map_err(|e| e.to_string())?;
        request.input.asked(request.instructions).map_err(|e| e.message)
    }

    #[test]
    fn text_and_items_are_taken() {
        let plain = asked(json!("Hi"), Some("Be short.")).unwrap();
        assert_eq!((plain.instructions.as_str(), plain.input.as_str()), ("Be short.", "Hi"));
        let items = asked(
            json!([
                {"role": "developer", "content": "Be kind."},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "One"}]},
                {"role": "assistant", "content": [{"type": "output_text", "text": "Uno"}]},
                {"role": "user", "content": "Two"},
            ]),
            Some("Be short."),
        )
        .unwrap();
        assert_eq!(items.instructions, "Be short.\n\nBe kind.");
        assert_eq!(items.history, [Message::user("One"), Message::assistant("Uno")]);
        assert_eq!(items.input, "Two");
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for (input, part) in [
            (json!([]), "last message"),
            (json!([{"role": "assistant", "content": "x"}]), "last message"),
            (json!([{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]), "input_image"),
            (json!([{"type": "function_call_output", "call_id": "c", "output": "x"}]), "function_call_output"),
            (json!([{"role": "robot", "content": "x"}]), "robot"),
            (json!([{"content": "x"}]), "role"),
        ] {
            let why = asked(input.clone(), None).unwrap_err();
            assert!(why.contains(part), "{input}: {why}");
        }
        assert!(asked(json!(7), None).is_err());
    }
}
