use crate::message::{Message, Role};
use serde::Serialize;

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PromptMessage {
    /// Who it is from.
    pub role: Role,
    /// Its text.
    pub text: String,
}

impl From<Message> for PromptMessage {
    fn from(message: Message) -> Self {
        Self { role: message.role, text: message.text }
    }
}

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PromptSection {
    /// What it is: `system`, `skills`, `tools`, `memory`, `history` or `input`.
    pub name: String,
    /// Its estimated size.
    pub tokens: u64,
}

/// A prompt before it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PromptPreview {
    /// What would be sent.
    pub messages: Vec<PromptMessage>,
    /// Where the tokens go; the sizes add up to `tokens`.
    pub sections: Vec<PromptSection>,
    /// Estimated size.
    pub tokens: u64,
    /// The model's window, tokens.
    pub window: u32,
    /// Tokens kept free for the reply.
    pub reserved: u32,
    /// Whether it fits.
    pub fits: bool,
    /// Tools offered.
    pub tools: Vec<String>,
    /// Name of the model.
    pub model: String,
}
