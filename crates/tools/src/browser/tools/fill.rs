//! `browser_type`.

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

pub(super) struct Fill(pub Browsers);

#[derive(Debug, Deserialize)]
pub(super) struct FillArgs {
    element: u32,
    text: String,
    #[serde(default)]
    submit: bool,
}

impl ToolHandler for Fill {
    type Args = FillArgs;

    fn spec(&self) -> ToolSpec {
        // Scripts see what is typed at once, so it may leave the house without being sent.
        catalogue::spec(
            "browser_type",
            RiskClass::External,
            EffectClass::Write,
            json!({
                "type": "object",
                "properties": {
                    "element": {"type": "integer", "minimum": 1, "maximum": u32::MAX, "description": "Number of the field, as the page was shown"},
                    "text": {"type": "string", "maxLength": 20000, "description": "What the field holds afterwards; of a choice, the option's text"},
                    "submit": {"type": "boolean", "default": false, "description": "Whether to press Enter afterwards"}
                },
                "required": ["element", "text"],
                "additionalProperties": false
            }),
        )
    }

    async fn preview(&self, args: FillArgs, scope: &ToolScope) -> Preview {
        let verb = if args.submit { "types and sends, in" } else { "types, in" };
        Preview { detail: Some(args.text), ..foresee(&self.0, args.element, scope, verb) }
    }

    async fn run(&self, args: FillArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let act = Act::Fill { text: args.text, submit: args.submit };
        let (object, output) = call::act(&self.0, args.element, &act, context).await?;
        Ok(acted("typed", object, output))
    }
}
