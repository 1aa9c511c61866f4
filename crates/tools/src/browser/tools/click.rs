//! `browser_click`.

use super::{acted, foresee};
use crate::browser::browsers::Browsers;
use crate::browser::call::{self, Act};
use crate::catalogue;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::tool::{EffectClass, Preview, ToolError, ToolOutput, ToolSpec};

pub(super) struct Click(pub Browsers);

#[derive(Debug, Deserialize)]
pub(super) struct ClickArgs {
    element: u32,
}

impl ToolHandler for Click {
    type Args = ClickArgs;

    fn spec(&self) -> ToolSpec {
        // A click may send a form, or buy something.
        catalogue::spec(
            "browser_click",
            RiskClass::External,
            EffectClass::Write,
            json!({
                "type": "object",
                "properties": {
                    "element": {"type": "integer", "minimum": 1, "maximum": u32::MAX, "description": "Number of the element, as the page was shown"}
                },
                "required": ["element"],
                "additionalProperties": false
            }),
        )
    }

    async fn preview(&self, args: ClickArgs, scope: &ToolScope) -> Preview {
        foresee(&self.0, args.element, scope, "clicks")
    }

    async fn run(&self, args: ClickArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let (object, output) = call::act(&self.0, args.element, &Act::Click, context).await?;
        Ok(acted("clicked", object, output))
    }
}
