//! Reading tools that an agent offers besides itself: those that its metadata name in `mcp_tools`. They look only,
//! so they run outside a run; the agent's policy holds for them.

use super::names::named;
use crate::state::ApiState;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use steward_core::agent::Agent;
use steward_core::policy::{Decision, RiskClass, judge};
use steward_core::ports::{Authorized, Principal, ToolScope};
use steward_core::tool::{CallSource, EffectClass, ToolCall, ToolSpec, truncate};
use steward_core::{Cancellation, hash};
use tokio_util::sync::CancellationToken;

/// The key of an agent's metadata that lists the tools.
const KEY: &str = "mcp_tools";
/// Longest call, milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// A tool that an agent offers.
pub(super) struct Offered<'a> {
    /// `<agent>_<tool>`.
    pub name: String,
    pub agent: &'a Agent,
    pub spec: ToolSpec,
}

/// What `agents` offer.
pub(super) fn offered<'a>(state: &ApiState, agents: &'a [Agent]) -> Vec<Offered<'a>> {
    let catalogue = state.runs.deps().tools.catalogue();
    let mut all = Vec::new();
    for (prefix, agent) in named("", agents) {
        let chosen = agent.metadata.get(KEY).and_then(Value::as_array);
        for spec in &catalogue {
            let wanted = chosen.is_some_and(|names| names.iter().any(|name| *name == spec.name));
            let has = agent.tools.is_empty() || agent.tools.contains(&spec.name);
            let looks = spec.risk == RiskClass::Read && spec.effect == EffectClass::Read;
            if wanted && has && looks {
                all.push(Offered {
                    name: format!("{prefix}_{}", spec.name).chars().take(128).collect(),
                    agent,
                    spec: spec.clone(),
                });
            }
        }
    }
    all
}

/// Runs one for `principal`; `ended` when the caller has gone.
pub(super) async fn run(
    state: &ApiState,
    principal: &Principal,
    offered: &Offered<'_>,
    arguments: Value,
    ended: &CancellationToken,
) -> CallToolResult {
    let failed = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
    let deps = state.runs.deps();
    let now = deps.clock.now();
    let call = ToolCall {
        id: "mcp".to_owned(),
        name: offered.spec.name.clone(),
        arguments,
        source: CallSource::Direct,
        confidence: 1.0,
        signature: None,
    };
    let verdict = judge(&offered.agent.policy, &state.grants, &offered.spec, &call, now);
    if verdict.decision != Decision::Allow {
        return failed(format!(
            "the policy of {} does not allow {} unasked; ask the agent instead",
            offered.agent.name, offered.spec.name
        ));
    }
    let scope = ToolScope {
        tenant: deps.tenant,
        run: None,
        agent: offered.agent.id,
        conversation: None,
        workspace: state.workspace.clone().into(),
        folder: String::new(),
        now,
        utc_offset_minutes: deps.clock.utc_offset_minutes(now),
        timeout_ms: TIMEOUT_MS,
        user: Some(principal.user),
        skill: None,
        cancellation: Cancellation::default(),
    };
    let authorized = Authorized {
        stage: None,
        args_hash: hash::of_json(&call.arguments),
        idempotency_key: deps.ids.next().to_string(),
        call,
    };
    let done = tokio::select! {
        done = deps.tools.run(authorized, &scope) => done,
        () = ended.cancelled() => return failed("cancelled".to_owned()),
    };
    match done {
        Ok(output) => {
            let (text, _) = truncate(&output.content, offered.spec.result_limit);
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = output.data.filter(Value::is_object);
            result
        }
        Err(error) => failed(error.to_string()),
    }
}
