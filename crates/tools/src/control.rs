//! `feedback` and `final_answer`: they steer a run and touch nothing. The engine carries them out itself; run here,
//! they only return their text.

use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use steward_core::plan::FINAL_ANSWER;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolOutput, ToolSpec};

pub const FEEDBACK: &str = "feedback";

pub struct Feedback;

#[derive(Debug, Deserialize)]
pub struct FeedbackArgs {
    question: String,
}

impl ToolHandler for Feedback {
    type Args = FeedbackArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::tool_spec(
            FEEDBACK,
            RiskClass::Read,
            EffectClass::Read,
            json!({
                "question": {"type": "string", "minLength": 1, "description": "What to ask the user"}
            }),
            &["question"],
        )
    }

    async fn run(&self, args: FeedbackArgs, _: &Context) -> Result<ToolOutput, ToolsError> {
        Ok(ToolOutput::text(args.question))
    }
}

pub struct FinalAnswer;

#[derive(Debug, Deserialize)]
pub struct FinalAnswerArgs {
    text: String,
}

impl ToolHandler for FinalAnswer {
    type Args = FinalAnswerArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::tool_spec(
            FINAL_ANSWER,
            RiskClass::Read,
            EffectClass::Read,
            json!({
                "text": {"type": "string", "description": "The answer for the user"}
            }),
            &["text"],
        )
    }

    async fn run(&self, args: FinalAnswerArgs, _: &Context) -> Result<ToolOutput, ToolsError> {
        Ok(ToolOutput::text(args.text))
    }
}
