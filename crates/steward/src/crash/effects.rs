//! Tools whose effects can be counted from outside, one for each effect class.

use crate::settings::variable;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use steward_core::SkillId;
use steward_core::policy::RiskClass;
use steward_core::skill::{SkillKind, SkillRef};
use steward_core::tool::{EffectClass, ToolError, ToolOutput, ToolSpec};
use steward_tools::{Context, DispatcherBuilder, Ports, ToolHandler, ToolsConfig, ToolsError, standard_builder};

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

impl ToolHandler for CountedEffect {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.to_owned(),
            description: "Has one effect that is counted.".to_owned(),
            parameters: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}).into(),
            effect: self.effect,
            risk: RiskClass::Read,
            utterances: Arc::default(),
            result_limit: 1000,
            skill: None,
        }
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
        ToolSpec {
            name: "effect_ask".to_owned(),
            description: "Has another agent count.".to_owned(),
            parameters: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}).into(),
            effect: EffectClass::Idempotent,
            risk: RiskClass::Read,
            utterances: Arc::default(),
            result_limit: 1000,
            skill: Some(SkillRef {
                untrusted: false,
                id: SkillId(uuid::Uuid::nil()),
                version: 1,
                kind: SkillKind::AgentDelegation,
                agent: Some("counter".to_owned()),
                request: Some("Count n={{n}};".to_owned()),
            }),
        }
    }

    async fn run(&self, _: Args, _: &Context) -> Result<ToolOutput, ToolsError> {
        Err(ToolError::Fatal("a delegation reached the tools".to_owned()).into())
    }
}

/// The standard tools, and these where `STEWARD_TEST_EFFECTS` names a server.
pub fn tools(config: ToolsConfig, ports: &Ports) -> Result<DispatcherBuilder, ToolsError> {
    let mut builder = standard_builder(config, ports)?;
    let client = reqwest::Client::builder().no_proxy().build();
    if let (Some(url), Ok(http)) = (variable("STEWARD_TEST_EFFECTS"), client) {
        for (name, effect) in [
            ("effect_write", EffectClass::Write),
            ("effect_keyed", EffectClass::Keyed),
            ("effect_read", EffectClass::Read),
        ] {
            builder = builder.with(CountedEffect { name, effect, url: url.clone(), http: http.clone() });
        }
        builder = builder.with(AskCounter);
    }
    Ok(builder)
}
