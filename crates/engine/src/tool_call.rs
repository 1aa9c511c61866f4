//! Intent before effect, result after it (RUN-3 c).

use crate::deps::Deps;
use crate::journal::Journal;
use fail::fail_point;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use steward_core::event::{EventBody, ToolResult};
use steward_core::hash;
use steward_core::ports::{Authorized, StoreResult, ToolScope};
use steward_core::run::RunState;
use steward_core::tool::{EffectClass, ToolCall, ToolError, ToolOutput, truncate};

/// Longest `data` kept beside the text, as JSON characters.
const MAX_DATA: usize = 1_000_000;
/// Result limit of a tool that names none.
const DEFAULT_LIMIT: usize = 16_000;
/// One result takes at most one part in so many of the window.
const WINDOW_SHARE: u32 = 4;
/// As prompts are estimated.
const CHARS_PER_TOKEN: u32 = 3;
/// Results are not cut shorter than this for a window, characters.
const LEAST_LIMIT: usize = 600;

/// Where and for whom the tools of this run work.
pub(crate) fn scope(deps: &Deps, state: &RunState, stop: &Arc<AtomicBool>) -> ToolScope {
    let setup = state.setup.as_ref();
    ToolScope {
        tenant: deps.tenant,
        run: Some(state.run_id),
        agent: setup.map_or_else(
            || steward_core::AgentId(state.run_id.0),
            |setup| setup.agent.id,
        ),
        conversation: setup.and_then(|setup| setup.conversation),
        workspace: setup
            .map(|setup| setup.workspace.clone().into())
            .unwrap_or_default(),
        now: deps.clock.now(),
        utc_offset_minutes: setup.map_or(0, |setup| setup.utc_offset_minutes),
        timeout_ms: setup.map_or(60_000, |setup| setup.budget.call_ms),
        stop: Arc::clone(stop),
        skill: None,
        user: setup.and_then(|setup| setup.user),
    }
}

/// [`scope`] for a call of `tool`: in the version of its skill that the run began with.
pub(crate) fn scope_of(
    deps: &Deps,
    state: &RunState,
    stop: &Arc<AtomicBool>,
    tool: &str,
) -> ToolScope {
    let mut scope = scope(deps, state, stop);
    scope.skill = state.tool(tool).and_then(|spec| spec.skill.clone());
    scope
}

pub(crate) async fn run_tool(
    deps: &Deps,
    journal: &mut Journal,
    call: ToolCall,
    key: String,
    effect: EffectClass,
    stop: &Arc<AtomicBool>,
) -> StoreResult<()> {
    let args_hash = hash::of_json(&call.arguments);
    fail_point!("engine.intent.before");
    journal
        .append(EventBody::ToolIntent {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            args_hash: args_hash.clone(),
            effect,
            idempotency_key: key.clone(),
        })
        .await?;
    fail_point!("engine.intent.after");
    let limit = result_limit(&journal.state, &call.name);
    let scope = scope_of(deps, &journal.state, stop, &call.name);
    let begun = Instant::now();
    let (call_id, tool) = (call.id.clone(), call.name.clone());
    let span = tracing::info_span!(
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = %tool,
        gen_ai.tool.call.id = %call_id,
    );
    let authorized = Authorized {
        call,
        idempotency_key: key,
        args_hash,
    };
    let output = tracing::Instrument::instrument(deps.tools.run(authorized, &scope), span).await;
    fail_point!("engine.effect.after");
    let result = match output {
        Ok(output) => ok(output, limit),
        Err(ToolError::RespondToModel(message)) => ToolResult::Error {
            message,
            fatal: false,
        },
        Err(ToolError::Fatal(message)) => ToolResult::Error {
            message,
            fatal: true,
        },
    };
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    fail_point!("engine.result.before");
    journal
        .append(EventBody::ToolResult {
            call_id,
            tool,
            result,
            ms,
        })
        .await?;
    fail_point!("engine.result.after");
    Ok(())
}

/// Longest result of `tool` that goes to the model, characters: the tool's own limit, and no more
/// than a fair part of the model's window.
pub(crate) fn result_limit(state: &RunState, tool: &str) -> usize {
    let own = state.tool(tool).map_or(0, |spec| spec.result_limit);
    let own = if own == 0 { DEFAULT_LIMIT } else { own };
    let Some(setup) = state.setup.as_deref() else {
        return own;
    };
    if !state.reads_any() || !setup.capabilities.plans {
        return own;
    }
    let window = setup.capabilities.window;
    let room = window.min(setup.capabilities.prompt_tokens.unwrap_or(window));
    let fair = usize::try_from(room / WINDOW_SHARE * CHARS_PER_TOKEN).unwrap_or(usize::MAX);
    own.min(fair.max(LEAST_LIMIT))
}

fn ok(output: ToolOutput, limit: usize) -> ToolResult {
    let (content, truncated) = truncate(&output.content, limit);
    let data = output
        .data
        .filter(|data| data.to_string().len() <= MAX_DATA);
    ToolResult::Ok {
        content,
        data,
        truncated,
        receipt: output.receipt,
        undo: output.undo,
        tainted: output.tainted,
        origin: output.origin,
    }
}
