use crate::app::{App, AppError, AppResult, Caller};
use serde_json::{Value, json};
use steward_core::agent::Agent;
use steward_core::audit::{AuditEntry, AuditResult};
use steward_core::governance::{Classified, DataAction, Seen, higher};
use steward_core::policy::{Decision, RiskClass, judge};
use steward_core::ports::{Authorized, RunStore as _, ToolScope};
use steward_core::run::provenance_of_files;
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
    /// A data policy keeps what it showed from every model.
    Blocked {
        policy: String,
        seen: Classified,
    },
    Tool(ToolError),
}

impl From<AppError> for ReadingToolError {
    fn from(error: AppError) -> Self {
        Self::Tool(ToolError::Fatal(error.to_string()))
    }
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

    /// Runs outside of a run; in the audit trail however it ends.
    pub async fn call_reading_tool(
        &self,
        caller: &Caller,
        agent: &Agent,
        spec: &ToolSpec,
        arguments: Value,
        cancellation: Cancellation,
    ) -> Result<ToolOutput, ReadingToolError> {
        let call = direct_call("mcp".to_owned(), &spec.name, arguments);
        let (entry, begun) = (self.entry_of_call(caller, agent, spec, &call), self.now());
        let done = self.read_for(caller, agent, spec, call, cancellation.clone()).await;
        let entry = entry.with("ms", u64::try_from(self.now().since(begun).as_millis()).unwrap_or(u64::MAX));
        let entry = match &done {
            Ok(output) => entry.with("from_outside", output.provenance.is_from_outside().then_some(true)),
            Err(ReadingToolError::Policy) => entry.ended(AuditResult::Refused),
            Err(ReadingToolError::Blocked { policy, seen }) => {
                self.record_audit(&self.entry_of_block(caller, agent, spec, policy, seen)).await?;
                entry.ended(AuditResult::Refused)
            }
            Err(ReadingToolError::Tool(_)) if cancellation.is_cancelled() => entry.ended(AuditResult::Stopped),
            Err(ReadingToolError::Tool(_)) => entry.ended(AuditResult::Failed),
        };
        self.record_audit(&entry).await?;
        done
    }

    /// As one of a call within a run.
    fn entry_of_call(&self, caller: &Caller, agent: &Agent, spec: &ToolSpec, call: &ToolCall) -> AuditEntry {
        let key = caller.principal.key.as_ref().map(|key| key.id.to_string());
        self.audit_entry_of(caller, "tool.called")
            .on(spec.name.as_str())
            .with("agent", agent.name.as_str())
            .with("call_id", call.id.as_str())
            .with("args_hash", hash::of_json(&call.arguments))
            .with("risk", json!(spec.risk))
            .with("key", key)
    }

    fn entry_of_block(
        &self,
        caller: &Caller,
        agent: &Agent,
        spec: &ToolSpec,
        policy: &str,
        seen: &Classified,
    ) -> AuditEntry {
        self.audit_entry_of(caller, "data.blocked")
            .on(spec.name.as_str())
            .ended(AuditResult::Refused)
            .with("agent", agent.name.as_str())
            .with("policy", policy)
            .with("classification", seen.classification.as_str())
            .with("label", seen.label.as_str())
            .with("source", seen.source.as_str())
    }

    async fn read_for(
        &self,
        caller: &Caller,
        agent: &Agent,
        spec: &ToolSpec,
        call: ToolCall,
        cancellation: Cancellation,
    ) -> Result<ToolOutput, ReadingToolError> {
        let rules = self.runs.tool_rules(agent, caller.origin, caller.user()).await;
        let rules = rules.map_err(|error| ReadingToolError::Tool(ToolError::Fatal(error.to_string())))?;
        if judge(&agent.policy, &rules, &self.grants, spec, &call, self.now()).decision != Decision::Allow {
            return Err(ReadingToolError::Policy);
        }
        let known = self.store.file_provenance(self.tenant(), &self.workspace.get()).await.map_err(AppError::from)?;
        // What is labelled by its path may be any file.
        let all = self.kept_data_rules().await?.label_files().then(String::new);
        let scope = ToolScope {
            marked_files: known.iter().map(|file| file.path.clone()).chain(all).collect(),
            kept_for: agent.own_data.kept_for(Some(caller.user())),
            ..self.tool_scope(caller, agent.id, TIMEOUT_MS, cancellation)
        };
        let mut done = self.deps().tools.run(authorized(call.clone(), self.new_id().to_string()), &scope).await;
        if let Ok(output) = &mut done {
            output.provenance.join(&provenance_of_files(&output.reads, &self.workspace.get(), &known));
        }
        let (_, consulted) = scope.consulted.so_far();
        let (text, told, reads) = match &done {
            Ok(output) => (output.content.clone(), output.provenance.level.clone(), output.reads.as_slice()),
            Err(error) => {
                let from = provenance_of_files(&consulted, &self.workspace.get(), &known);
                (error.to_string(), from.level, consulted.as_slice())
            }
        };
        match self.block_of((caller, agent), (&call, reads), &text, told).await? {
            Some((policy, seen)) => Err(ReadingToolError::Blocked { policy, seen }),
            None => done.map_err(ReadingToolError::Tool),
        }
    }

    /// The policy that ends a run which sees what the call said, and what that is. `told`: what the tool itself says of it.
    async fn block_of(
        &self,
        (caller, agent): (&Caller, &Agent),
        (call, reads): (&ToolCall, &[String]),
        text: &str,
        told: Option<Classified>,
    ) -> AppResult<Option<(String, Classified)>> {
        let rules = self.kept_data_rules().await?;
        if rules.policies.iter().all(|policy| policy.action != DataAction::Block) {
            return Ok(None);
        }
        let personal =
            if rules.looks_for_personal_data() { self.personal_data_in(caller, text).await? } else { Vec::new() };
        let seen = Seen {
            agent: Some((agent.id, agent.name.as_str())),
            tool: &call.name,
            arguments: Some(&call.arguments),
            text,
            workspace: &self.workspace.get(),
            folder: "",
            files: reads,
            personal: &personal,
        };
        let found = higher(told, rules.classify(&seen));
        Ok(found.and_then(|found| {
            let policy = rules.demanding(DataAction::Block, found.classification)?.name.clone();
            Some((policy, found))
        }))
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
            workspace: self.workspace.copy().into(),
            folder: String::new(),
            now,
            utc_offset_minutes: self.deps().clock.utc_offset_minutes(now),
            timeout_ms,
            user: Some(caller.user()),
            kept_for: None,
            consulted: steward_core::provenance::Consulted::default(),
            marked_files: std::sync::Arc::default(),
            references: 0,
            provenance: steward_core::provenance::Provenance::default(),
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
