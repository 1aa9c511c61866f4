//! Agents that can ask other agents, without a store of skills.

use async_trait::async_trait;
use serde_json::json;
use std::sync::Arc;
use steward_core::agent::Agent;
use steward_core::policy::RiskClass;
use steward_core::ports::{AgentTools, Authorized, ToolScope, Tools};
use steward_core::skill::{SkillKind, SkillRef};
use steward_core::tool::{EffectClass, Preview, ToolCall, ToolError, ToolOutput, ToolSpec, Undo};
use steward_core::{SkillId, TenantId};
use steward_engine::{Deps, RunService};
use uuid::Uuid;

/// The tools of `inner`, and for each agent named here a tool `ask_OTHER` for the other one.
struct Skilled {
    inner: Arc<dyn Tools>,
    asks: Vec<(&'static str, &'static str)>,
}

/// `service` with tools by which the first agent of a pair asks the second.
pub fn asking(service: &RunService, asks: &[(&'static str, &'static str)]) -> RunService {
    let deps = service.deps().clone();
    let tools = Arc::new(Skilled { inner: Arc::clone(&deps.tools), asks: asks.to_vec() });
    RunService::new(Deps { tools, ..deps })
}

fn spec(agent: &str) -> ToolSpec {
    ToolSpec {
        name: format!("ask_{agent}"),
        description: format!("Asks the agent {agent}."),
        parameters: json!({"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"], "additionalProperties": false}).into(),
        effect: EffectClass::Idempotent,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 4000,
        skill: Some(SkillRef {
            untrusted: false,
            id: SkillId(Uuid::from_u128(1)),
            version: 1,
            kind: SkillKind::AgentDelegation,
            agent: Some(agent.to_owned()),
            request: Some("Please: {{task}}".to_owned()),
        }),
    }
}

#[async_trait]
impl Tools for Skilled {
    fn catalogue(&self) -> Vec<ToolSpec> {
        self.inner.catalogue()
    }

    async fn of_agent(&self, tenant: TenantId, agent: &Agent) -> Result<AgentTools, ToolError> {
        let mut all = self.inner.of_agent(tenant, agent).await?;
        let own = self.asks.iter().filter(|(name, _)| *name == agent.name);
        all.tools.extend(own.map(|(_, other)| spec(other)));
        Ok(all)
    }

    async fn preview(&self, call: &ToolCall, scope: &ToolScope) -> Preview {
        self.inner.preview(call, scope).await
    }

    async fn run(&self, call: Authorized, scope: &ToolScope) -> Result<ToolOutput, ToolError> {
        self.inner.run(call, scope).await
    }

    async fn undo(&self, undo: &Undo, scope: &ToolScope) -> Result<String, ToolError> {
        self.inner.undo(undo, scope).await
    }
}
