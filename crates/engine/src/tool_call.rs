//! Intent before effect, result after it (RUN-3 c).

use crate::deps::Deps;
use crate::journal::Journal;
use fail::fail_point;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use steward_core::event::{EventBody, ToolResult};
use steward_core::hash;
use steward_core::ports::{Authorized, SideWrite, StoreResult, ToolScope};
use steward_core::run::{OutsideFile, RunState, quoted_file, written_files};
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
    let arguments = call.arguments.clone();
    let authorized = Authorized {
        call,
        idempotency_key: key,
        args_hash,
    };
    let output = deps.tools.run(authorized, &scope).await;
    fail_point!("engine.effect.after");
    let error = |message, fatal| ToolResult::Error {
        message,
        fatal,
        origin: None,
    };
    let result = match output {
        Ok(output) => ok(output, limit),
        Err(ToolError::RespondToModel(message)) => error(message, false),
        Err(ToolError::Fatal(message)) => error(message, true),
    };
    let (result, side) = traced(deps, &journal.state, &call_id, &tool, &arguments, result).await?;
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    fail_point!("engine.result.before");
    let result = EventBody::ToolResult {
        call_id,
        tool,
        result,
        ms,
    };
    journal.commit(vec![result], side).await?;
    fail_point!("engine.result.after");
    Ok(())
}

/// Says of a result that quotes a file from outside where that comes from, and of a file that was written from what
/// came from outside that it did.
async fn traced(
    deps: &Deps,
    state: &RunState,
    call_id: &str,
    tool: &str,
    arguments: &Value,
    mut result: ToolResult,
) -> StoreResult<(ToolResult, Vec<SideWrite>)> {
    let Some(setup) = state.setup.as_deref() else {
        return Ok((result, Vec::new()));
    };
    let known = deps
        .store
        .outside_files(deps.tenant, &setup.workspace)
        .await?;
    let quoted = |content: &str| quoted_file(tool, arguments, content, &setup.workspace, &known);
    match &mut result {
        ToolResult::Ok {
            content,
            tainted,
            origin,
            ..
        } if !*tainted => {
            *origin = quoted(content);
            *tainted = origin.is_some();
        }
        ToolResult::Error {
            message, origin, ..
        } => *origin = quoted(message),
        ToolResult::Ok { .. } | ToolResult::Dry { .. } => {}
    }
    let from = match &result {
        ToolResult::Ok {
            tainted: true,
            origin,
            ..
        } => Some(origin.clone().unwrap_or_else(|| tool.to_owned())),
        _ => state
            .tool(tool)
            .zip(state.call(call_id))
            .and_then(|(spec, entry)| state.taint_of(spec, &entry.call).pop())
            .map(|last| last.origin),
    };
    let Some(origin) = from else {
        return Ok((result, Vec::new()));
    };
    let side = written_files(&result, &setup.workspace)
        .into_iter()
        .map(|path| SideWrite::FromOutside {
            workspace: setup.workspace.clone(),
            file: OutsideFile {
                path,
                origin: origin.clone(),
            },
        })
        .collect();
    Ok((result, side))
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
