//! Calls of tools outside a run, for programs that use what an agent offers.

use crate::app::App;
use crate::caller::Caller;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use steward_core::agent::Agent;
use steward_core::hash;
use steward_core::policy::{Decision, judge};
use steward_core::ports::{Authorized, ToolScope};
use steward_core::tool::{CallSource, ToolCall, ToolError, ToolOutput, ToolSpec};

/// Longest call, milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// Why a tool was not called, or failed.
#[derive(Debug)]
pub enum ReadingToolError {
    /// The agent's policy does not allow it unasked.
    Policy,
    Tool(ToolError),
}

impl App {
    pub fn tool_catalogue(&self) -> Vec<ToolSpec> {
        self.deps().tools.catalogue()
    }

    /// Calls a tool that only looks, as `agent` may by its policy.
    pub async fn call_reading_tool(
        &self,
        caller: &Caller,
        agent: &Agent,
        spec: &ToolSpec,
        arguments: Value,
    ) -> Result<ToolOutput, ReadingToolError> {
        let deps = self.deps();
        let now = deps.clock.now();
        let call = ToolCall {
            id: "mcp".to_owned(),
            name: spec.name.clone(),
            arguments,
            source: CallSource::Direct,
            confidence: 1.0,
            signature: None,
        };
        if judge(&agent.policy, &self.grants, spec, &call, now).decision != Decision::Allow {
            return Err(ReadingToolError::Policy);
        }
        let scope = ToolScope {
            tenant: deps.tenant,
            run: None,
            agent: agent.id,
            conversation: None,
            workspace: self.workspace.clone().into(),
            folder: String::new(),
            now,
            utc_offset_minutes: deps.clock.utc_offset_minutes(now),
            timeout_ms: TIMEOUT_MS,
            user: Some(caller.user()),
            skill: None,
            stop: Arc::new(AtomicBool::new(false)),
        };
        let authorized = Authorized {
            stage: None,
            args_hash: hash::of_json(&call.arguments),
            idempotency_key: deps.ids.next().to_string(),
            call,
        };
        deps.tools.run(authorized, &scope).await.map_err(ReadingToolError::Tool)
    }
}
