//! For crash tests only, never in a release: tools whose effects can be counted from outside, one for each effect class.

use crate::dispatcher::DispatcherBuilder;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use steward_core::SkillId;
use steward_core::policy::RiskClass;
use steward_core::skill::{SkillKind, SkillRef};
use steward_core::tool::{EffectClass, ToolError, ToolOutput, ToolSpec};

struct CountedEffect {
    name: &'static str,
    effect: EffectClass,
    url: String,
    http: reqwest::Client,
}

#[derive(Debug, Deserialize)]
struct Args {
    n: u64,
}

fn spec(name: &str, description: &str, effect: EffectClass, skill: Option<SkillRef>) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}).into(),
        effect,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill,
    }
}

impl ToolHandler for CountedEffect {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        spec(self.name, "Has one effect that is counted.", self.effect, None)
    }

    async fn run(&self, args: Args, context: &Context) -> Result<ToolOutput, ToolsError> {
        let body = json!({"key": context.idempotency_key, "n": args.n, "tool": self.name});
        self.http
            .post(format!("{}/effect", self.url))
            .body(body.to_string())
            .header("content-type", "application/json")
            .send()
            .await
            .map_err(|error| ToolsError::Refused(error.to_string()))?;
        Ok(ToolOutput::text(format!("counted {}", args.n)))
    }
}

/// Has the agent `counter` count, in a run of its own that the engine executes.
struct AskCounter;

impl ToolHandler for AskCounter {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        let skill = SkillRef {
            untrusted: false,
            id: SkillId::default(),
            version: 1,
            kind: SkillKind::AgentDelegation,
            agent: Some("counter".to_owned()),
            request: Some("Count n={{n}};".to_owned()),
        };
        spec("effect_ask", "Has another agent count.", EffectClass::Idempotent, Some(skill))
    }

    async fn run(&self, _: Args, _: &Context) -> Result<ToolOutput, ToolsError> {
        Err(ToolError::Fatal("a delegation reached the tools".to_owned()).into())
    }
}

/// Adds them; the server at `url` counts.
#[must_use]
pub fn with_counted(mut builder: DispatcherBuilder, url: &str) -> DispatcherBuilder {
    let Ok(http) = reqwest::Client::builder().no_proxy().build() else { return builder };
    for (name, effect) in
        [("effect_write", EffectClass::Write), ("effect_keyed", EffectClass::Keyed), ("effect_read", EffectClass::Read)]
    {
        builder = builder.with(CountedEffect { name, effect, url: url.to_owned(), http: http.clone() });
    }
    builder.with(AskCounter)
}
