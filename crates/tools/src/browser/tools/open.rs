//! `browser_open`.

use crate::browser::browsers::Browsers;
use crate::browser::call;
use crate::catalogue;
use crate::handler::{Context, ToolHandler};
use crate::web::guard;
use serde::Deserialize;
use serde_json::json;
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::tool::{EffectClass, Preview, ToolError, ToolOutput, ToolSpec};

/// Opens pages.
pub(super) struct Open(pub Browsers);

#[derive(Debug, Deserialize)]
pub(super) struct OpenArgs {
    url: String,
}

impl ToolHandler for Open {
    type Args = OpenArgs;

    fn spec(&self) -> ToolSpec {
        // Its address tells something to another house, and its scripts run: external, asked for.
        catalogue::spec(
            "browser_open",
            RiskClass::External,
            EffectClass::Read,
            json!({
                "type": "object",
                "properties": {
                    "url": {"type": "string", "minLength": 4, "maxLength": 4000, "description": "Address of the page, http or https"}
                },
                "required": ["url"],
                "additionalProperties": false
            }),
        )
    }

    async fn preview(&self, args: OpenArgs, _: &ToolScope) -> Preview {
        match guard::parse(&args.url).and_then(guard::target) {
            Ok(target) => Preview {
                summary: format!("opens {} in a browser and runs its scripts", target.url),
                ..Preview::default()
            },
            Err(error) => Preview { summary: format!("would fail: {error}"), ..Preview::default() },
        }
    }

    async fn run(&self, args: OpenArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        // Refused here already, so that no browser is started for nothing.
        let url = guard::parse(&args.url)?;
        let url = guard::target(url)?.url;
        self.0.config().client.admit(&url).await?;
        Ok(call::open(&self.0, &url, context).await?)
    }
}
