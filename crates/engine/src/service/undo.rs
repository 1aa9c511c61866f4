//! Taking a run's effects back, newest first.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::run::RunSignals;
use crate::run::journal::Journal;
use crate::run::tool_call::tool_scope;
use fail::fail_point;
use steward_core::event::{EventBody, RequestedBy};
use steward_core::ports::{Claim, Lease, SideWrite};
use steward_core::run::{RunState, receipts_without};
use steward_core::tool::Undo;
use steward_core::{RunId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    pub call_id: String,
    pub tool: String,
    /// What was restored, or why not.
    pub result: Result<String, String>,
}

/// An effect: its call, its tool, how it is taken back.
type Effect = (String, String, Undo);

/// The right to undo what `run` did, which must have ended.
pub(crate) async fn claim(deps: &Deps, run: RunId, until: Timestamp) -> Result<Lease, EngineError> {
    deps.store.run(deps.tenant, run).await?;
    let (config, now) = (deps.config.get(), deps.clock.now());
    let lease = deps.store.claim(deps.tenant, Claim::Ended(run), &config.node, now, until).await?;
    lease.ok_or_else(|| {
        EngineError::Invalid(format!(
            "run {run} has not ended, or is being undone just now; stop it first, or look again"
        ))
    })
}

/// Takes back what the run did, all of it or one call. Effects already taken back are left alone.
pub(crate) async fn undo(
    deps: &Deps,
    signals: &RunSignals,
    lease: Lease,
    only: Option<&str>,
    by: &RequestedBy,
) -> Result<Vec<Undone>, EngineError> {
    let mut journal = Journal::load(deps.clone(), lease).await?;
    let effects = effects_to_undo(&journal.state, only).map_err(EngineError::Invalid)?;
    let mut report = Vec::new();
    for (call_id, tool, undo) in effects {
        let result = match &undo {
            Undo::Impossible { reason } => Err(format!("cannot be undone: {reason}")),
            Undo::Snapshot { .. } => undo_effect(deps, &mut journal, signals, &call_id, &tool, &undo, by).await?,
        };
        report.push(Undone { call_id, tool, result });
    }
    Ok(report)
}

fn effects_to_undo(state: &RunState, only: Option<&str>) -> Result<Vec<Effect>, String> {
    if !state.is_finished() {
        return Err(format!("run {} has not ended; stop it first", state.run_id));
    }
    let mut effects: Vec<Effect> = state
        .effects()
        .filter(|(call, _)| only.is_none_or(|id| call.id == id))
        .map(|(call, undo)| (call.id.clone(), call.name.clone(), undo.clone()))
        .collect();
    effects.reverse();
    match only {
        Some(id) if effects.is_empty() => Err(nothing_to_undo(state, id)),
        _ => Ok(effects),
    }
}

fn nothing_to_undo(state: &RunState, id: &str) -> String {
    let known = state.call(id).is_some();
    let from = state.setup.as_ref().and_then(|setup| setup.forked_from);
    if state.undone.iter().any(|call| call == id) {
        format!("call {id} was already undone")
    } else if let Some(from) = from.filter(|_| state.inherited.iter().any(|call| call == id)) {
        format!("call {id} was made by run {}; undo it there", from.run)
    } else if known {
        format!("call {id} changed nothing that can be undone")
    } else {
        let ids: Vec<&str> = state.effects().map(|(call, _)| call.id.as_str()).collect();
        format!(
            "run {} has no call {id}; effects to undo: {}",
            state.run_id,
            if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
        )
    }
}

/// Intent, effect, result. After a crash in between the effect is tried again: a tool finds it back already.
async fn undo_effect(
    deps: &Deps,
    journal: &mut Journal,
    signals: &RunSignals,
    call_id: &str,
    tool: &str,
    undo: &Undo,
    by: &RequestedBy,
) -> Result<Result<String, String>, EngineError> {
    let (name, source) = (by.name.clone(), by.source.clone().map(Box::new));
    journal.append(EventBody::ToolUndoing { call_id: call_id.to_owned(), by: name, source }).await?;
    fail_point!("engine.undo.before");
    let scope = tool_scope(deps, &journal.state, &signals.cancellation, tool).await?;
    let done = deps.tools.undo(undo, &scope).await;
    fail_point!("engine.undo.after");
    let result = done.map_err(|error| error.to_string());
    match &result {
        Ok(summary) => record_undone(journal, call_id, summary, by).await?,
        Err(message) => {
            let failed = EventBody::ToolUndoFailed { call_id: call_id.to_owned(), message: message.clone() };
            journal.append(failed).await?;
        }
    }
    Ok(result)
}

/// Says so in the log, with what the answer still proves.
async fn record_undone(
    journal: &mut Journal,
    call_id: &str,
    summary: &str,
    by: &RequestedBy,
) -> Result<(), EngineError> {
    let receipts = receipts_without(&journal.state, call_id);
    let verdict = SideWrite::Verdict(receipts.verdict);
    let event = EventBody::ToolUndone {
        call_id: call_id.to_owned(),
        summary: summary.to_owned(),
        by: by.name.clone(),
        source: by.source.clone().map(Box::new),
        receipts: Some(Box::new(receipts)),
    };
    Ok(journal.commit(vec![event], vec![verdict]).await?)
}
