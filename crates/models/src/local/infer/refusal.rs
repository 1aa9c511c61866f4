/// Why a request was refused, in the terms of the OpenAI dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: u16,
    pub kind: &'static str,
    pub code: &'static str,
    pub param: Option<&'static str>,
    pub message: String,
}

impl Refusal {
    pub fn invalid(param: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            code: "invalid_value",
            param: Some(param),
            message: message.into(),
        }
    }

    pub fn unsupported(param: &'static str, message: impl Into<String>) -> Self {
        Self { code: "unsupported_parameter", ..Self::invalid(param, message) }
    }

    pub fn too_long(param: &'static str, tokens: usize, window: u32) -> Self {
        Self {
            code: "context_length_exceeded",
            ..Self::invalid(
                param,
                format!(
                    "the prompt has {tokens} tokens, the model's window is {window} and must also hold the answer; shorten the prompt or start the model with a larger context"
                ),
            )
        }
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self { status: 500, kind: "server_error", code: "inference_failed", param: None, message: message.into() }
    }
}
