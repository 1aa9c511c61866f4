//! The tools of an installation, which may be put together anew while runs are at work.

use crate::dispatcher::Dispatcher;
use async_trait::async_trait;
use steward_core::agent::Agent;
use steward_core::live::Live;
use steward_core::ports::{AgentTools, Authorized, Interrupted, ToolScope, Tools};
use steward_core::skill::Skill;
use steward_core::tool::{Preview, Settled, ToolCall, ToolError, ToolOutput, ToolSpec, Undo};
use steward_core::{RunId, TenantId};

/// A call ends with the tools that it began with.
#[derive(Clone)]
pub struct LiveTools(Live<Dispatcher>);

impl LiveTools {
    pub fn new(tools: Dispatcher) -> Self {
        Self(Live::new(tools))
    }

    pub fn replace(&self, tools: Dispatcher) {
        self.0.replace(tools);
    }
}

#[async_trait]
impl Tools for LiveTools {
    fn catalogue(&self) -> Vec<ToolSpec> {
        self.0.get().catalogue()
    }

    async fn of_agent(&self, tenant: TenantId, agent: &Agent) -> Result<AgentTools, ToolError> {
        self.0.get().of_agent(tenant, agent).await
    }

    fn ended(&self, run: RunId) {
        self.0.get().ended(run);
    }

    fn check_skill(&self, skill: &Skill) -> Result<(), String> {
        self.0.get().check_skill(skill)
    }

    async fn preview(&self, call: &ToolCall, scope: &ToolScope) -> Preview {
        self.0.get().preview(call, scope).await
    }

    async fn run(&self, call: Authorized, scope: &ToolScope) -> Result<ToolOutput, ToolError> {
        self.0.get().run(call, scope).await
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        self.0.get().settle(call, scope).await
    }

    async fn undo(&self, undo: &Undo, scope: &ToolScope) -> Result<String, ToolError> {
        self.0.get().undo(undo, scope).await
    }
}
