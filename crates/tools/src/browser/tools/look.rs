//! `browser_snapshot`.

use crate::browser::browsers::Browsers;
use crate::browser::call;
use crate::catalogue;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolError, ToolOutput, ToolSpec};

pub(super) struct Look(pub Browsers);

#[derive(Debug, Deserialize)]
pub(super) struct LookArgs {
    part: Option<usize>,
}

impl ToolHandler for Look {
    type Args = LookArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            "browser_snapshot",
            RiskClass::Read,
            EffectClass::Read,
            json!({
                "type": "object",
                "properties": {
                    "part": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1, "description": "Which part of a long page"}
                },
                "required": [],
                "additionalProperties": false
            }),
        )
    }

    async fn run(&self, args: LookArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        Ok(call::look(&self.0, args.part.unwrap_or(1).max(1), context).await?)
    }
}
