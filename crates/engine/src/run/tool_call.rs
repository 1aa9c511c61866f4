//! Intent before effect, result after it; in between the tool says what it will do, for settling after a crash.

use crate::deps::Deps;
use crate::run::journal::Journal;
use async_trait::async_trait;
use fail::fail_point;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use steward_core::event::{EventBody, ToolResult};
use steward_core::governance::{Classified, ClassifiedFile, higher};
use steward_core::ports::{Authorized, Interrupted, SideWrite, Stage, StoreResult, ToolScope};
use steward_core::reference::references_of;
use steward_core::run::{CallStatus, OutsideFile, PathBase, RunState, quoted_file, written_files};
use steward_core::tool::{EffectClass, Settled, Staged, ToolCall, ToolError, ToolOutput, truncate};
use steward_core::{Cancellation, hash};
use tokio::sync::{mpsc, oneshot};

/// Longest `data` kept beside the text, as JSON characters.
const MAX_DATA: usize = 1_000_000;
/// Result limit of a tool that names none.
const DEFAULT_LIMIT: usize = 16_000;
/// One result takes at most one part in so many of the window.
const WINDOW_SHARE: u32 = 4;
/// As prompts are estimated.
const CHARS_PER_TOKEN: u32 = 3;
/// Results are not cut shorter than this for a window, characters.
const MIN_LIMIT: usize = 600;

pub(crate) fn run_scope(deps: &Deps, state: &RunState, cancellation: &Cancellation) -> ToolScope {
    let setup = state.setup.as_ref();
    ToolScope {
        tenant: deps.tenant,
        run: Some(state.run_id),
        agent: setup.map_or_else(|| steward_core::AgentId(state.run_id.0), |setup| setup.agent.id),
        conversation: setup.and_then(|setup| setup.conversation),
        workspace: setup.map(|setup| setup.workspace.clone().into()).unwrap_or_default(),
        folder: state.folder().to_owned(),
        now: deps.clock.now(),
        utc_offset_minutes: setup.map_or(0, |setup| setup.utc_offset_minutes),
        timeout_ms: setup.map_or(60_000, |setup| setup.budget.call_ms),
        cancellation: cancellation.clone(),
        skill: None,
        user: setup.and_then(|setup| setup.user),
        database: setup.map(|setup| setup.agent.own_data.database).unwrap_or_default(),
        provenance: state.provenance(),
        references: state.references().iter().map(|one| one.number).max().unwrap_or(0),
    }
}

/// [`run_scope`] for a call of `tool`: in the version of its skill that the run began with.
pub(crate) fn tool_scope(deps: &Deps, state: &RunState, cancellation: &Cancellation, tool: &str) -> ToolScope {
    let mut scope = run_scope(deps, state, cancellation);
    scope.skill = state.tool(tool).and_then(|spec| spec.skill.clone());
    scope
}

/// What the tool tells, and where it waits until that is durable.
type PendingStage = (Staged, oneshot::Sender<()>);

#[derive(Debug)]
struct JournalStage(mpsc::Sender<PendingStage>);

#[async_trait]
impl Stage for JournalStage {
    async fn stage(&self, staged: Staged) -> Result<(), ToolError> {
        let (done, written) = oneshot::channel();
        let sent = self.0.send((staged, done)).await.is_ok();
        if sent && written.await.is_ok() {
            return Ok(());
        }
        Err(ToolError::RespondToModel(
            "what was about to be done could not be written down; nothing was done".to_owned(),
        ))
    }
}

/// Runs a call. `evidence`: what shows that an attempt before a crash did nothing.
pub(crate) async fn run_tool(
    deps: &Deps,
    journal: &mut Journal,
    call: ToolCall,
    key: String,
    effect: EffectClass,
    evidence: Option<String>,
    cancellation: &Cancellation,
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
            evidence,
        })
        .await?;
    fail_point!("engine.intent.after");
    let limit = result_limit(&journal.state, &call.name);
    let scope = tool_scope(deps, &journal.state, cancellation, &call.name);
    let started = Instant::now();
    let (sender, mut staging) = mpsc::channel(1);
    let (call_id, tool) = (call.id.clone(), call.name.clone());
    let arguments = call.arguments.clone();
    let authorized = Authorized { call, idempotency_key: key, args_hash, stage: Some(Arc::new(JournalStage(sender))) };
    let work = deps.tools.run(authorized, &scope);
    tokio::pin!(work);
    let mut failed = None;
    let output = loop {
        let (staged, done) = tokio::select! {
            output = &mut work => break output,
            Some(pending) = staging.recv() => pending,
        };
        fail_point!("engine.stage.before");
        let written = journal
            .append(EventBody::ToolStaged { call_id: call_id.clone(), tool: tool.clone(), staged: Box::new(staged) })
            .await;
        fail_point!("engine.stage.after");
        match written {
            Ok(()) => {
                let _ = done.send(());
            }
            Err(error) => failed = Some(error),
        }
    };
    if let Some(error) = failed {
        return Err(error);
    }
    fail_point!("engine.effect.after");
    let error = |message, fatal| (ToolResult::Error { message, fatal, origin: None, data: None, undo: None }, None);
    let (result, told) = match output {
        Ok(mut output) => {
            let told = output.classified.take();
            (recorded(output, limit), told)
        }
        Err(ToolError::RespondToModel(message)) => error(message, false),
        Err(ToolError::Fatal(message)) => error(message, true),
    };
    let (result, side) = record_origins(deps, &journal.state, &call_id, &tool, &arguments, result).await?;
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    fail_point!("engine.result.before");
    let result = EventBody::ToolResult { call_id, tool, result, ms, evidence: None };
    commit_result(deps, journal, &arguments, result, told, side).await?;
    fail_point!("engine.result.after");
    Ok(())
}

/// Marks results that quote files from outside, and files written from what came from outside.
async fn record_origins(
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
    let known = deps.store.outside_files(deps.tenant, &setup.workspace).await?;
    let base = PathBase { workspace: &setup.workspace, folder: state.folder_of(tool) };
    let quoted = |content: &str| quoted_file(tool, arguments, content, base, &known);
    match &mut result {
        ToolResult::Ok { content, data, tainted, origin, .. } if !*tainted => {
            let shown = data.as_ref().map(references_of).unwrap_or_default();
            let of_files =
                shown.iter().find_map(|one| quoted_file(tool, &json!({"path": one.source}), "", base, &known));
            *origin = quoted(content).or(of_files);
            *tainted = origin.is_some();
        }
        ToolResult::Error { message, origin, .. } if origin.is_none() => *origin = quoted(message),
        ToolResult::Ok { .. } | ToolResult::Error { .. } | ToolResult::Dry { .. } => {}
    }
    let from = match &result {
        ToolResult::Ok { tainted: true, origin, .. } => Some(origin.clone().unwrap_or_else(|| tool.to_owned())),
        ToolResult::Error { origin: Some(origin), .. } => Some(origin.clone()),
        _ => state
            .tool(tool)
            .zip(state.call(call_id))
            .and_then(|(spec, entry)| state.taint_of(spec, &entry.call).pop())
            .map(|last| last.origin),
    };
    let Some(origin) = from else {
        return Ok((result, Vec::new()));
    };
    let side = written_files(&result, base)
        .into_iter()
        .map(|path| SideWrite::FromOutside {
            workspace: setup.workspace.clone(),
            file: OutsideFile { path, origin: origin.clone() },
        })
        .collect();
    Ok((result, side))
}

/// Commits what a call came to, with the classification of what it showed, if that is above all that the run has seen.
/// What the call has written is as confidential as what its run has seen then. `told`: what the tool itself said of it.
pub(crate) async fn commit_result(
    deps: &Deps,
    journal: &mut Journal,
    arguments: &Value,
    event: EventBody,
    told: Option<Classified>,
    mut side: Vec<SideWrite>,
) -> StoreResult<()> {
    let state = &journal.state;
    let (Some(setup), EventBody::ToolResult { tool, result, .. }) = (state.setup.as_deref(), &event) else {
        return journal.commit(vec![event], side).await;
    };
    if setup.data_rules.is_empty() && state.classified.is_none() && told.is_none() {
        return journal.commit(vec![event], side).await;
    }
    let text = match result {
        ToolResult::Ok { content, .. } => content,
        ToolResult::Error { message, .. } => message,
        ToolResult::Dry { preview } => preview,
    };
    let files = deps.store.classified_files(deps.tenant, &setup.workspace).await?;
    let personal = deps.personal_data_in(&setup.data_rules, text);
    let told = told.filter(|told| state.is_above(told));
    let classified = higher(told, state.newly_classified(tool, arguments, text, &files, &personal));
    if let Some(seen) = classified.as_ref().or(state.classified.as_ref()) {
        let base = PathBase { workspace: &setup.workspace, folder: state.folder_of(tool) };
        let known = |path: &str| files.iter().find(|file| file.path == path);
        let below = |path: &String| known(path).is_none_or(|file| file.classified.classification < seen.classification);
        let written = written_files(result, base).into_iter().filter(below);
        side.extend(written.map(|path| SideWrite::ClassifiedFile {
            workspace: setup.workspace.clone(),
            file: ClassifiedFile { path, classified: seen.clone() },
        }));
    }
    let first = classified.map(|classified| EventBody::DataClassified { classified });
    journal.commit(first.into_iter().chain([event]).collect(), side).await
}

/// Longest look at the world for one call.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Of a write that a crash cut off: its result is recorded, or it runs again, or a person will be asked.
pub(crate) async fn settle_interrupted(
    deps: &Deps,
    journal: &mut Journal,
    call: ToolCall,
    key: String,
    cancellation: &Cancellation,
) -> StoreResult<()> {
    let (staged, later) = match journal.state.call(&call.id).map(|entry| &entry.status) {
        Some(CallStatus::CutOff { staged: Some((since, staged)), .. }) => {
            let lease = journal.lease();
            (Some((**staged).clone()), deps.store.staged_since(lease.tenant, lease.run, *since).await?)
        }
        _ => (None, Vec::new()),
    };
    let scope = tool_scope(deps, &journal.state, cancellation, &call.name);
    let interrupted = Interrupted { call: call.clone(), idempotency_key: key.clone(), staged: staged.clone(), later };
    let looking = deps.tools.settle(interrupted, &scope);
    let settled = tokio::time::timeout(SETTLE_TIMEOUT, looking)
        .await
        .unwrap_or_else(|_| Settled::Unknown("looking took too long".to_owned()));
    fail_point!("engine.settled");
    match (settled, staged) {
        (Settled::NotHappened(evidence), _) => {
            let effect = EffectClass::Write;
            run_tool(deps, journal, call, key, effect, Some(evidence), cancellation).await
        }
        (Settled::Happened(evidence), Some(staged)) => {
            let mut output = staged.output;
            let told = output.classified.take();
            output.content = format!("{}\n(It was done before an interruption: {evidence}.)", output.content);
            let result = recorded(output, result_limit(&journal.state, &call.name));
            let (id, tool, arguments) = (&call.id, &call.name, &call.arguments);
            let (result, side) = record_origins(deps, &journal.state, id, tool, arguments, result).await?;
            let (arguments, evidence) = (call.arguments, Some(evidence));
            let result = EventBody::ToolResult { call_id: call.id, tool: call.name, result, ms: 0, evidence };
            commit_result(deps, journal, &arguments, result, told, side).await
        }
        (Settled::Unknown(why) | Settled::Happened(why), _) => {
            journal.append(EventBody::ToolUncertain { call_id: call.id, tool: call.name, why }).await
        }
    }
}

/// In characters: the tool's own limit, and no more than a fair part of the model's window.
pub(crate) fn result_limit(state: &RunState, tool: &str) -> usize {
    let own = state.tool(tool).map_or(0, |spec| spec.result_limit);
    let own = if own == 0 { DEFAULT_LIMIT } else { own };
    let Some(setup) = state.setup.as_deref() else {
        return own;
    };
    if !setup.capabilities.plans {
        return own;
    }
    let window = setup.capabilities.window;
    let room = window.min(setup.capabilities.prompt_tokens.unwrap_or(window));
    let fair = usize::try_from(room / WINDOW_SHARE * CHARS_PER_TOKEN).unwrap_or(usize::MAX);
    own.min(fair.max(MIN_LIMIT))
}

/// What a tool returned, as the log has it.
fn recorded(output: ToolOutput, limit: usize) -> ToolResult {
    let (content, truncated) = truncate(&output.content, limit);
    let data = output.data.and_then(kept_data);
    if output.failed {
        let origin = output.origin.filter(|_| output.tainted);
        let (data, undo) = (data.map(Box::new), output.undo.map(Box::new));
        return ToolResult::Error { message: content, fatal: false, origin, data, undo };
    }
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

/// Of data that is too long only the paths stay: without them, files that were written would lose where they came from.
fn kept_data(data: Value) -> Option<Value> {
    if data.to_string().len() <= MAX_DATA {
        return Some(data);
    }
    let paths = data.get("paths").filter(|paths| paths.is_array())?;
    Some(json!({"paths": paths}))
}
