//! Prompts and parsers of exams, the same as in runs.

use serde_json::Value;
use steward_core::model::{ModelChunk, Strategy};
use steward_core::tool::{ToolCall, ToolSpec};
use steward_models::exam::ToolCallFormat;
use steward_parse::{Dialects, Reading, StreamParser, ToolIndex, guided, markers_instructions, react};

#[derive(Debug, Clone, Copy)]
pub struct ExamPrompts;

impl ToolCallFormat for ExamPrompts {
    fn instructions(&self, strategy: Strategy, tools: &[ToolSpec]) -> String {
        match strategy {
            Strategy::Native => String::new(),
            Strategy::GuidedJson => guided::instructions(tools),
            Strategy::React => react::instructions(tools),
            Strategy::Markers => markers_instructions(tools),
        }
    }

    fn schema(&self, tools: &[ToolSpec]) -> Value {
        guided::schema(tools)
    }

    fn calls(&self, strategy: Strategy, tools: &[ToolSpec], reply: &[ModelChunk]) -> Vec<ToolCall> {
        let text: String = reply
            .iter()
            .filter_map(|chunk| match chunk {
                ModelChunk::Text(piece) => Some(piece.as_str()),
                _ => None,
            })
            .collect();
        let reading = Reading {
            // The models' own forms are understood in runs, too; phrases that imply a call prove nothing.
            dialects: Dialects::All,
            in_thought: text.contains("</think>") && !text.contains("<think>"),
            ..Reading::strict(strategy)
        };
        let mut parser = StreamParser::with(reading, &ToolIndex::new(tools), "exam_");
        for chunk in reply {
            parser.push(chunk);
        }
        parser.finish().calls
    }
}
