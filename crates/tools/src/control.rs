//! `feedback` and `final_answer`: carried out by the engine itself; run here, they only return their text.

use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use steward_core::plan::FINAL_ANSWER;
use steward_core::tool::ToolOutput;

pub struct Feedback;

#[derive(Debug, Deserialize)]
pub struct FeedbackArgs {
    question: String,
}

impl ToolHandler for Feedback {
    type Args = FeedbackArgs;
    const NAME: &'static str = "feedback";

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
    const NAME: &'static str = FINAL_ANSWER;

    async fn run(&self, args: FinalAnswerArgs, _: &Context) -> Result<ToolOutput, ToolsError> {
        Ok(ToolOutput::text(args.text))
    }
}
