//! Carries out skills of the kind `mcp`.

use super::call::Call;
use super::hub::McpHub;
use crate::handler::Context;
use crate::skills::{Executor, Job};
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::sync::Arc;
use steward_core::hash;
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::skill::{McpSpec, Skill, SkillKind, SkillSpec};
use steward_core::tool::{EffectClass, Preview, Receipt, ToolError, ToolOutput, Undo};

/// Characters of a hash.
const HASH: usize = 64;

/// Calls tools of MCP servers. A server is started by the first call of one of its tools.
pub struct McpExecutor {
    hub: Arc<McpHub>,
}

impl McpExecutor {
    pub fn new(hub: Arc<McpHub>) -> Self {
        Self { hub }
    }
}

fn spec(skill: &Skill) -> Result<&McpSpec, String> {
    match &skill.spec {
        SkillSpec::Mcp(spec) => Ok(spec),
        other => {
            Err(format!("`{}` is a skill of the type {}, not of an MCP server", skill.name, other.kind().as_str()))
        }
    }
}

#[async_trait]
impl Executor for McpExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Mcp
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill)?;
        let named = !spec.server.is_empty()
            && spec.server.len() <= 32
            && spec.server.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !named {
            return Err(format!(
                "`server` is the name of an MCP server (a-z, 0-9 and _, at most 32); `{}` can't be one",
                spec.server
            ));
        }
        if spec.tool.is_empty() {
            return Err("`tool` is the name of a tool of that server; it is empty".to_owned());
        }
        if spec.hash.len() != HASH || !spec.hash.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(
                "`hash` is what a person accepted; accept the tool and attach it rather than write the skill by hand"
                    .to_owned(),
            );
        }
        Ok(())
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Preview {
        let spec = match spec(skill) {
            Ok(spec) => spec,
            Err(summary) => {
                return Preview { summary, ..Preview::default() };
            }
        };
        let place = match self.hub.place(scope.tenant, &spec.server).await {
            Ok(place) => place,
            Err(error) => format!("would fail: {error}"),
        };
        Preview {
            summary: format!("calls {} of the MCP server {} ({place})", spec.tool, spec.server),
            detail: serde_json::to_string_pretty(arguments).ok(),
            count: None,
            reversible: skill.effect == EffectClass::Read && skill.risk == RiskClass::Read,
        }
    }

    async fn run(&self, job: Job<'_>, context: &Context) -> Result<ToolOutput, ToolError> {
        let skill = job.skill;
        let spec = spec(skill).map_err(ToolError::RespondToModel)?;
        let arguments = match job.arguments {
            Value::Object(map) => map.clone(),
            _ => Map::new(),
        };
        let call = Call {
            spec,
            tool: &skill.name,
            arguments,
            repeats: matches!(skill.effect, EffectClass::Read | EffectClass::Idempotent),
            secret: job.secret,
        };
        let mut output = self.hub.call(call, context).await?;
        if skill.effect != EffectClass::Read {
            output.receipt = Some(Receipt {
                action: "called".to_owned(),
                object: format!("{}/{}", spec.server, spec.tool),
                evidence: Some(hash::sha256(output.content.as_bytes())),
            });
            if skill.compensation.is_none() {
                output.undo = Some(Undo::Impossible {
                    reason: format!("the MCP server {} did it; only a tool of its own could take it back", spec.server),
                });
            }
        }
        Ok(output)
    }
}
