//! Delegation: a call that another agent carries out in a run of its own. Its id is logged before the run is made, so a
//! crash neither loses nor doubles it; the end of the child wakes the parent in the same transaction.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::run::journal::{fold_log, status_write};
use crate::run::missing_right::missing_right;
use crate::run::tool_call::result_limit;
use crate::run::{RunContext, result_of};
use fail::fail_point;
use serde_json::json;
use steward_core::budget::Budget;
use steward_core::event::{EventBody, Outcome, RequestedBy, Setup, ToolResult};
use steward_core::policy::{Grant, GrantScope};
use steward_core::ports::{RunRow, RunStatus, SideWrite, StoreError, StoreResult, ToolScope};
use steward_core::run::{ChildRun, RunState, Waiting, delegate_of};
use steward_core::skill::request_of;
use steward_core::tool::{EffectClass, Preview, ToolCall, truncate};
use steward_core::{RunId, hash};

/// Request template of a delegation that names none.
const TEMPLATE: &str = "{{task}}";

/// Commits that a call is another agent's, with the id of its run. [`attend_child`] makes that run.
pub(crate) async fn delegate(
    context: &mut RunContext<'_>,
    call: ToolCall,
    agent: String,
    idempotency_key: String,
    effect: EffectClass,
) -> StoreResult<()> {
    let deps = context.deps;
    let request = match request_text(&context.journal.state, &call) {
        Ok(request) => unusable(context, &agent).await?.map_or(Ok(request), Err),
        Err(why) => Err(why),
    };
    let intent = EventBody::ToolIntent {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        args_hash: hash::of_json(&call.arguments),
        arguments: call.arguments,
        effect,
        idempotency_key,
        evidence: None,
    };
    let next = match request {
        Ok(request) => EventBody::RunDelegated { call_id: call.id, child: RunId(deps.ids.next()), agent, request },
        Err(message) => result_of(call.id, call.name, ToolResult::error(message)),
    };
    context.journal.commit(vec![intent, next], Vec::new()).await?;
    fail_point!("engine.delegated.after");
    Ok(())
}

/// Why the agent of this name can't be asked: a run asks nobody whom its user could not ask.
async fn unusable(context: &RunContext<'_>, name: &str) -> StoreResult<Option<String>> {
    let deps = context.deps;
    let Some(agent) = deps.store.agent_by_name(deps.tenant, name).await? else {
        let gone = format!("there is no agent `{name}` any more; do it without it, or say that it is missing");
        return Ok(Some(gone));
    };
    let Some(user) = context.journal.state.setup.as_deref().and_then(|setup| setup.user) else {
        return Ok(None);
    };
    let missing = missing_right(deps, user, [agent.id.into()]).await?;
    Ok(missing.map(|_| {
        format!("the user of this run may not use the agent `{name}`; do it without it, or say that it can't be asked")
    }))
}

/// Makes the child run, takes its result in (`true`), or parks until it ends.
pub(crate) async fn attend_child(context: &mut RunContext<'_>, child: ChildRun) -> StoreResult<bool> {
    let deps = context.deps;
    match deps.store.run(deps.tenant, child.run).await {
        Ok(row) if row.status == RunStatus::Finished => {
            accept_result(context, &child, &row).await?;
            return Ok(true);
        }
        Ok(_) => {}
        Err(StoreError::NotFound(_)) => match context.children.start_child(&child, &context.journal.state).await {
            Ok(()) => {}
            Err(EngineError::Store(error)) => return Err(error),
            Err(error) => {
                report_failure(context, &child, &error.to_string()).await?;
                return Ok(true);
            }
        },
        Err(error) => return Err(error),
    }
    let parked = status_write(&context.journal.state, RunStatus::Parked);
    context.journal.commit(Vec::new(), vec![parked]).await?;
    fail_point!("engine.child.parked");
    Ok(false)
}

/// Whether the run, or one that it waits for, waits for a person.
pub(crate) async fn waits_for_person(deps: &Deps, state: &RunState) -> StoreResult<bool> {
    let child = match &state.waiting {
        Some(Waiting::Approval { .. }) => return Ok(true),
        Some(Waiting::Child(child)) => child.run,
        Some(Waiting::Timer { .. }) | None => return Ok(false),
    };
    match fold_log(deps, child).await {
        Ok(state) => Box::pin(waits_for_person(deps, &state)).await,
        Err(EngineError::Store(error)) => Err(error),
        // It has not begun.
        Err(_) => Ok(false),
    }
}

/// Stops the run that this one waits for, which stops those below it.
pub(crate) async fn stop_child(context: &RunContext<'_>, by: RequestedBy, client_left: bool) -> StoreResult<()> {
    let Some(Waiting::Child(child)) = &context.journal.state.waiting else {
        return Ok(());
    };
    match context.children.stop_child(child.run, by, client_left).await {
        Ok(()) | Err(EngineError::NotFound(_) | EngineError::Store(StoreError::Conflict(_))) => Ok(()),
        Err(EngineError::Store(error)) => Err(error),
        Err(error) => {
            tracing::warn!(run = %child.run, %error, "the run below was not stopped");
            Ok(())
        }
    }
}

/// What a call would do, before it does: a delegation is the engine's own.
pub(crate) async fn preview(deps: &Deps, state: &RunState, call: &ToolCall, scope: &ToolScope) -> Preview {
    let Some(agent) = state.tool(&call.name).and_then(delegate_of) else {
        return deps.tools.preview(call, scope).await;
    };
    match request_text(state, call) {
        Ok(request) => Preview {
            summary: format!("asks the agent {agent}, which has tools and a policy of its own"),
            detail: Some(request),
            count: None,
            reversible: false,
        },
        Err(why) => Preview { summary: format!("would fail: {why}"), ..Preview::default() },
    }
}

fn request_text(state: &RunState, call: &ToolCall) -> Result<String, String> {
    let skill = state.tool(&call.name).and_then(|spec| spec.skill.as_ref());
    let template = skill.and_then(|skill| skill.request.as_deref());
    request_of(template.unwrap_or(TEMPLATE), &call.arguments)
}

async fn accept_result(context: &mut RunContext<'_>, child: &ChildRun, row: &RunRow) -> StoreResult<()> {
    let ended = match fold_log(context.deps, child.run).await {
        Ok(state) => state,
        Err(EngineError::Store(error)) => return Err(error),
        Err(error) => return report_failure(context, child, &error.to_string()).await,
    };
    let known = context.journal.state.sources();
    let mut taint = ended.sources();
    taint.retain(|one| !known.iter().any(|seen| seen.origin == one.origin));
    let tool = tool_name(&context.journal.state, child);
    let limit = result_limit(&context.journal.state, &tool);
    let result = result_for_parent(child, &ended, row, limit);
    let ms = ended.last_at.since(row.created_at).as_millis();
    let events = vec![
        EventBody::RunReturned {
            call_id: child.call_id.clone(),
            child: child.run,
            spent: ended.spent,
            proved: ended.proofs(),
            taint,
            classified: ended.classified.clone(),
            askers: ended.askers.clone(),
        },
        EventBody::ToolResult {
            call_id: child.call_id.clone(),
            tool,
            result,
            ms: u64::try_from(ms).unwrap_or(u64::MAX),
            evidence: None,
        },
    ];
    fail_point!("engine.child.ended");
    context.journal.commit(events, running_status(context)).await
}

/// The child can't be made or read: the model is told.
async fn report_failure(context: &mut RunContext<'_>, child: &ChildRun, why: &str) -> StoreResult<()> {
    let failed = ToolResult::error(format!("the agent {} could not be asked: {why}", child.agent));
    let result = result_of(child.call_id.clone(), tool_name(&context.journal.state, child), failed);
    let side = running_status(context);
    context.journal.commit(vec![result], side).await
}

fn running_status(context: &RunContext<'_>) -> Vec<SideWrite> {
    vec![status_write(&context.journal.state, RunStatus::Running)]
}

fn tool_name(state: &RunState, child: &ChildRun) -> String {
    state.call(&child.call_id).map_or_else(String::new, |entry| entry.call.name.clone())
}

fn result_for_parent(child: &ChildRun, ended: &RunState, row: &RunRow, limit: usize) -> ToolResult {
    let sources = ended.sources();
    let answer = ended.answer.trim();
    let agent = &child.agent;
    let why = match ended.outcome.as_ref() {
        Some(Outcome::Completed) => None,
        Some(Outcome::Limited { limit, message }) if message.is_empty() => {
            let budget = ended.setup.as_ref().map(|setup| limit.explain(&setup.budget));
            Some(budget.unwrap_or_default())
        }
        Some(Outcome::Limited { message, .. } | Outcome::Failed { message }) => Some(message.clone()),
        Some(Outcome::Stopped { by }) => Some(format!("stopped by {by}")),
        Some(Outcome::Rejected) => Some("a person said no to its plan".to_owned()),
        None => Some("it has no end".to_owned()),
    };
    let content = match (&why, answer.is_empty()) {
        (None, true) => format!("The agent {agent} ended without an answer."),
        (None, false) => answer.to_owned(),
        (Some(why), true) => {
            return ToolResult::error(format!("the agent {agent} gave no answer: {why}"));
        }
        (Some(why), false) => {
            format!("The agent {agent} did not finish: {why}. So far it has:\n\n{answer}")
        }
    };
    let (content, truncated) = truncate(&content, limit);
    ToolResult::Ok {
        content,
        data: Some(json!({
            "run": child.run,
            "agent": agent,
            "outcome": ended.outcome.as_ref().map(<&'static str>::from),
            "verdict": row.verdict,
        })),
        truncated,
        receipt: None,
        undo: None,
        origins: sources.iter().map(|one| one.origin.clone()).collect(),
    }
}

/// What the child may spend: what is left, but for one call that the parent answers with.
pub(crate) fn remaining_budget(parent: &Setup, state: &RunState) -> Budget {
    let left = parent.budget.left(&state.spent);
    Budget { model_calls: left.model_calls.saturating_sub(1), ..left }
}

/// Passes a person's "yes to all" on; what was given to the parent's agent for good does not go for another.
pub(crate) fn inherited_grants(parent: &Setup) -> Vec<Grant> {
    let all = |grant: &&Grant| grant.scope == GrantScope::AllButDestructive && grant.until.is_none();
    parent.grants.iter().filter(all).cloned().collect()
}
