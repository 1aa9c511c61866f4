use crate::app::{App, Caller};
use serde_json::Value;
use steward_core::agent::{Agent, DatabaseScope};
use steward_core::policy::{Decision, RiskClass, judge};
use steward_core::ports::{Authorized, ToolScope};
use steward_core::tool::{CallSource, EffectClass, ToolCall, ToolError, ToolOutput, ToolSpec};
use steward_core::{AgentId, Cancellation, hash};

/// The key of an agent's metadata that lists the tools which it offers to programs besides itself.
const OFFERED: &str = "mcp_tools";
/// Longest call, milliseconds.
const TIMEOUT_MS: u64 = 30_000;

#[derive(Debug)]
pub enum ReadingToolError {
    /// The agent's policy does not allow it unasked.
    Policy,
    Tool(ToolError),
}

impl App {
    /// Each of `agents` with the reading tools that its metadata names and that it has.
    pub fn offered_tools<'a>(&self, agents: impl Iterator<Item = &'a Agent>) -> Vec<(&'a Agent, Vec<ToolSpec>)> {
        let catalogue = self.deps().tools.catalogue();
        agents
            .map(|agent| {
                let named = agent.metadata.get(OFFERED).and_then(Value::as_array);
                let offers = |spec: &&ToolSpec| {
                    let wanted = named.is_some_and(|names| names.iter().any(|name| *name == spec.name));
                    let has = agent.tools.is_empty() || agent.tools.contains(&spec.name);
                    wanted && has && spec.risk == RiskClass::Read && spec.effect == EffectClass::Read
                };
                (agent, catalogue.iter().filter(offers).cloned().collect())
            })
            .collect()
    }

    pub async fn call_reading_tool(
        &self,
        caller: &Caller,
        agent: &Agent,
        spec: &ToolSpec,
        arguments: Value,
    ) -> Result<ToolOutput, ReadingToolError> {
        let call = direct_call("mcp".to_owned(), &spec.name, arguments);
        let rules = self.runs.tool_rules(agent, caller.origin, caller.user()).await;
        let rules = rules.map_err(|error| ReadingToolError::Tool(ToolError::Fatal(error.to_string())))?;
        if judge(&agent.policy, &rules, &self.grants, spec, &call, self.now()).decision != Decision::Allow {
            return Err(ReadingToolError::Policy);
        }
        let scope = self.tool_scope(caller, agent.id, TIMEOUT_MS, Cancellation::default());
        self.deps().tools.run(authorized(call, self.new_id().to_string()), &scope).await.map_err(ReadingToolError::Tool)
    }

    pub(crate) fn tool_scope(
        &self,
        caller: &Caller,
        agent: AgentId,
        timeout_ms: u64,
        cancellation: Cancellation,
    ) -> ToolScope {
        let now = self.now();
        ToolScope {
            tenant: self.tenant(),
            run: None,
            agent,
            conversation: None,
            workspace: self.workspace.clone().into(),
            folder: String::new(),
            now,
            utc_offset_minutes: self.deps().clock.utc_offset_minutes(now),
            timeout_ms,
            user: Some(caller.user()),
            database: DatabaseScope::Off,
            references: 0,
            classified: None,
            skill: None,
            cancellation,
        }
    }
}

/// A call by a person or a program: no model has chosen it.
pub(crate) fn direct_call(id: String, name: &str, arguments: Value) -> ToolCall {
    ToolCall { id, name: name.to_owned(), arguments, source: CallSource::Direct, confidence: 1.0, signature: None }
}

pub(crate) fn authorized(call: ToolCall, idempotency_key: String) -> Authorized {
    Authorized { stage: None, args_hash: hash::of_json(&call.arguments), idempotency_key, call }
}
