//! Reading tools that agents name in their metadata's `mcp_tools`: they run outside a run, under the agent's policy.

use super::names::named;
use crate::tenant_app::TenantApp;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use steward_app::{Caller, ReadingToolError};
use steward_core::Cancellation;
use steward_core::agent::Agent;
use steward_core::tool::{ToolSpec, truncate};
use tokio_util::sync::CancellationToken;

pub(super) struct Offered<'a> {
    /// `<agent>_<tool>`.
    pub name: String,
    pub agent: &'a Agent,
    pub spec: ToolSpec,
}

pub(super) fn offered<'a>(state: &TenantApp, agents: &'a [Agent]) -> Vec<Offered<'a>> {
    let named = named("", agents);
    let offers = state.offered_tools(named.iter().map(|(_, agent)| *agent));
    let mut all = Vec::new();
    for ((prefix, _), (agent, specs)) in named.iter().zip(offers) {
        for spec in specs {
            let name = format!("{prefix}_{}", spec.name).chars().take(128).collect();
            all.push(Offered { name, agent, spec });
        }
    }
    all
}

/// Runs one for `caller`; `ended` when the caller has gone.
pub(super) async fn run(
    state: &TenantApp,
    caller: &Caller,
    offered: &Offered<'_>,
    arguments: Value,
    ended: &CancellationToken,
) -> CallToolResult {
    let failed = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
    let cancellation = Cancellation::default();
    let call = state.call_reading_tool(caller, offered.agent, &offered.spec, arguments, cancellation.clone());
    tokio::pin!(call);
    let done = tokio::select! {
        done = &mut call => done,
        () = ended.cancelled() => {
            // It ends soon, and how it ended is written down.
            cancellation.cancel();
            call.await
        }
    };
    match done {
        Ok(output) => {
            let (text, _) = truncate(&output.content, offered.spec.result_limit);
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = output.data.filter(Value::is_object);
            result
        }
        Err(ReadingToolError::Policy) => failed(format!(
            "the policy of {} does not allow {} unasked; ask the agent instead",
            offered.agent.name, offered.spec.name
        )),
        Err(ReadingToolError::Blocked { policy, .. }) => {
            failed(format!("the data policy “{policy}” keeps what {} showed from every model", offered.spec.name))
        }
        Err(ReadingToolError::Tool(error)) => failed(error.to_string()),
    }
}
