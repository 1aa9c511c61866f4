//! The wires that are tested.

use crate::support;
use crate::wires::server::Server;
use steward_core::model::{Auth, Connection, Provider, Wire};

/// One provider's interface.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Folder of its shapes.
    pub name: &'static str,
    pub provider: Provider,
    pub wire: Option<Wire>,
    /// Path of the base URL.
    pub base: &'static str,
    pub model: &'static str,
    /// Extension of its streams.
    pub kind: &'static str,
    /// Reasoning that its `text` holds.
    pub reasoning: &'static str,
    /// Prompt, cached and reply tokens of its `text`.
    pub usage: (u64, u64, u64),
    /// Model name that it tells; empty if it tells none.
    pub told: &'static str,
}

const CHAT: Case = Case {
    name: "openai",
    provider: Provider::OpenAi,
    wire: None,
    base: "/v1",
    model: "asked",
    kind: "sse",
    reasoning: "",
    usage: (2071, 2048, 11),
    told: "gpt-4.1-mini-2025-04-14",
};

pub const CASES: [Case; 13] = [
    CHAT,
    Case { name: "azure", provider: Provider::AzureOpenAi, base: "/openai/v1", ..CHAT },
    Case { name: "vllm", provider: Provider::Vllm, reasoning: "A greeting.", told: "Qwen/Qwen3-8B", ..CHAT },
    Case {
        name: "llama_cpp",
        provider: Provider::LlamaCpp,
        reasoning: "A greeting.",
        told: "ggml-org/Qwen3-8B-GGUF",
        ..CHAT
    },
    Case { name: "text_gen", provider: Provider::TextGen, usage: (23, 0, 11), told: "Qwen3-8B-Q4_K_M.gguf", ..CHAT },
    Case {
        name: "hugging_face",
        provider: Provider::HuggingFace,
        reasoning: "A greeting.",
        told: "openai/gpt-oss-120b",
        ..CHAT
    },
    Case {
        name: "ollama_v1",
        provider: Provider::Ollama,
        reasoning: "A greeting.",
        usage: (23, 0, 11),
        told: "qwen3:8b",
        ..CHAT
    },
    Case {
        name: "responses",
        wire: Some(Wire::Responses),
        reasoning: "**Greeting**\n\nA greeting.",
        told: "gpt-4.1-2025-04-14",
        ..CHAT
    },
    Case {
        name: "anthropic",
        provider: Provider::Anthropic,
        usage: (2073, 2048, 15),
        told: "claude-sonnet-4-5-20250929",
        ..CHAT
    },
    Case {
        name: "gemini",
        provider: Provider::Gemini,
        base: "/v1beta",
        reasoning: "Let me think.",
        usage: (2073, 2048, 35),
        told: "gemini-2.5-flash",
        ..CHAT
    },
    Case { name: "cohere", provider: Provider::Cohere, base: "/v2", reasoning: "A greeting.", told: "", ..CHAT },
    Case {
        name: "bedrock",
        provider: Provider::Bedrock,
        base: "",
        model: "eu.amazon.nova-lite-v1:0",
        kind: "events",
        reasoning: "A greeting.",
        usage: (2071, 2048, 15),
        told: "",
        ..CHAT
    },
    Case {
        name: "ollama",
        provider: Provider::Ollama,
        wire: Some(Wire::Native),
        kind: "jsonl",
        reasoning: "A greeting.",
        usage: (26, 0, 298),
        told: "qwen3:8b",
        ..CHAT
    },
];

impl Case {
    pub fn connection(&self, server: &Server) -> Connection {
        let mut connection = support::connection(&server.url(self.base));
        connection.provider = self.provider;
        connection.wire = self.wire;
        self.model.clone_into(&mut connection.model);
        connection.auth = Auth::ApiKeyEnv { variable: "WORK_KEY".to_owned() };
        connection
    }

    /// The shape of this name.
    pub fn shape(&self, name: &str) -> String {
        format!("{}/{name}.{}", self.name, self.kind)
    }
}
