//! Strategy `markers`: what a model is told of it. It is read as a dialect.

use super::prompt;
use steward_core::tool::ToolSpec;

/// The system prompt's part on how to call `tools`.
pub fn instructions(tools: &[ToolSpec]) -> String {
    prompt::with_tools(include_str!("../../prompts/markers.md"), tools)
}
