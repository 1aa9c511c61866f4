//! Taking a run's effects back, newest first.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::journal::Journal;
use crate::tool_call::scope;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use steward_core::RunId;
use steward_core::event::{EventBody, ToolResult};
use steward_core::ports::Claim;
use steward_core::tool::Undo;

/// What became of one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The call.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// What was restored, or why not.
    pub result: Result<String, String>,
}

/// Takes back what `run` did. The run must have ended. Effects already taken back are left alone.
pub(crate) async fn undo(deps: &Deps, run: RunId, by: &str) -> Result<Vec<Undone>, EngineError> {
    let now = deps.clock.now();
    let lease = deps
        .store
        .claim(
            Claim::Ended(run),
            &deps.config.node,
            now,
            now.plus(deps.config.lease),
        )
        .await?
        .ok_or_else(|| EngineError::Invalid(format!("run {run} has not ended; stop it first")))?;
    let mut journal = Journal::load(deps.clone(), lease).await?;
    let outcome = if journal.state.is_finished() {
        undo_all(deps, &mut journal, by).await
    } else {
        Err(EngineError::Invalid(format!(
            "run {run} has not ended; stop it first"
        )))
    };
    deps.store.release(journal.lease()).await?;
    outcome
}

async fn undo_all(
    deps: &Deps,
    journal: &mut Journal,
    by: &str,
) -> Result<Vec<Undone>, EngineError> {
    let already = undone_calls(deps, journal).await?;
    let effects: Vec<(String, String, Undo)> = journal
        .state
        .observations()
        .filter_map(|(call, result)| match result {
            ToolResult::Ok {
                undo: Some(undo), ..
            } if !already.contains(&call.id) => {
                Some((call.id.clone(), call.name.clone(), undo.clone()))
            }
            _ => None,
        })
        .collect();
    let scope = scope(deps, &journal.state, &Arc::new(AtomicBool::new(false)));
    let mut report = Vec::new();
    for (call_id, tool, undo) in effects.into_iter().rev() {
        let result = match &undo {
            Undo::Impossible { reason } => Err(format!("cannot be undone: {reason}")),
            Undo::Snapshot { .. } => deps
                .tools
                .undo(&undo, &scope)
                .await
                .map_err(|error| error.to_string()),
        };
        if let Ok(summary) = &result {
            journal
                .append(EventBody::ToolUndone {
                    call_id: call_id.clone(),
                    summary: summary.clone(),
                    by: by.to_owned(),
                })
                .await?;
        }
        report.push(Undone {
            call_id,
            tool,
            result,
        });
    }
    Ok(report)
}

async fn undone_calls(deps: &Deps, journal: &Journal) -> Result<Vec<String>, EngineError> {
    let mut calls = Vec::new();
    let mut after = 0;
    loop {
        let page = deps
            .store
            .events(deps.tenant, journal.run(), after, 1000)
            .await?;
        let Some(last) = page.last() else {
            return Ok(calls);
        };
        after = last.event.seq;
        calls.extend(page.iter().filter_map(|stored| match &stored.event.body {
            EventBody::ToolUndone { call_id, .. } => Some(call_id.clone()),
            _ => None,
        }));
    }
}
