use serde_json::Value;
use steward_core::model::{ModelChunk, Strategy};
use steward_core::tool::{ToolCall, ToolSpec};

/// How tools are explained to a model and how its replies are read. The exam asks in the same words
/// and reads with the same parsers as runs do, which are not this room's.
pub trait Tongue: Send + Sync {
    /// The prompt's part that explains `tools` in the form of `strategy`; empty for the native one.
    fn instructions(&self, strategy: Strategy, tools: &[ToolSpec]) -> String;
    /// JSON Schema of a reply in the guided form.
    fn schema(&self, tools: &[ToolSpec]) -> Value;
    /// The calls of a whole reply in the form of `strategy` and no other.
    fn calls(&self, strategy: Strategy, tools: &[ToolSpec], reply: &[ModelChunk]) -> Vec<ToolCall>;
}
