//! Intent before effect, result after it; in between the tool says what it will do, for settling after a crash.

use crate::deps::Deps;
use crate::run::journal::Journal;
use async_trait::async_trait;
use fail::fail_point;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use steward_core::event::{EventBody, ToolResult};
use steward_core::governance::{Classified, higher};
use steward_core::ports::{Authorized, Interrupted, SideWrite, Stage, StoreResult, ToolScope};
use steward_core::provenance::{Consulted, Provenance};
use steward_core::run::{CallStatus, FileProvenance, RunState, provenance_of_files, written_paths};
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
        kept_for: setup.and_then(|setup| setup.agent.own_data.kept_for(setup.user)),
        provenance: state.provenance(),
        consulted: Consulted::default(),
        marked_files: Arc::default(),
        references: state.references().iter().map(|one| one.number).max().unwrap_or(0),
    }
}

/// [`run_scope`] for a call of `tool`: in the version of its skill that the run began with.
pub(crate) async fn tool_scope(
    deps: &Deps,
    state: &RunState,
    cancellation: &Cancellation,
    tool: &str,
) -> StoreResult<ToolScope> {
    let mut scope = run_scope(deps, state, cancellation);
    scope.skill = state.tool(tool).and_then(|spec| spec.skill.clone());
    if let Some(setup) = state.setup.as_deref() {
        let known = deps.store.file_provenance(deps.tenant, &setup.workspace).await?;
        // What is labelled by its path may be any file.
        let all = setup.data_rules.label_files().then(String::new);
        scope.marked_files = known.into_iter().map(|file| file.path).chain(all).collect();
    }
    Ok(scope)
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
    let scope = tool_scope(deps, &journal.state, cancellation, &call.name).await?;
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
    let (result, touched) = match output {
        Ok(output) => recorded(output, limit),
        Err(error) => (error_result(error), Touched::default()),
    };
    let (result, touched) = trace_error(result, touched, &scope.consulted);
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    fail_point!("engine.result.before");
    let result = EventBody::ToolResult { call_id, tool, result, ms, evidence: None };
    commit_result(deps, journal, &arguments, result, touched).await?;
    fail_point!("engine.result.after");
    Ok(())
}

/// Files that a call read and wrote, as its tool says, and the most confidential that it knows to have shown.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    reads: Vec<String>,
    writes: Vec<String>,
    level: Option<Classified>,
}

fn error_result(error: ToolError) -> ToolResult {
    let fatal = matches!(error, ToolError::Fatal(_));
    let (ToolError::RespondToModel(message) | ToolError::Fatal(message)) = error;
    ToolResult::Error { message, fatal, origins: BTreeSet::new(), data: None, undo: None }
}

/// An error comes from all that its call had consulted by then: it may quote any of it.
fn trace_error(mut result: ToolResult, mut touched: Touched, consulted: &Consulted) -> (ToolResult, Touched) {
    if let ToolResult::Error { origins, .. } = &mut result {
        let (seen, files) = consulted.so_far();
        origins.extend(seen.origins);
        touched.reads.extend(files);
    }
    (result, touched)
}

/// Commits what a call came to, with where it came from. What it has written comes from there as well, and from all that
/// its run had seen when it was decided on.
pub(crate) async fn commit_result(
    deps: &Deps,
    journal: &mut Journal,
    arguments: &Value,
    mut event: EventBody,
    touched: Touched,
) -> StoreResult<()> {
    let state = &journal.state;
    let (Some(setup), EventBody::ToolResult { call_id, tool, result, .. }) = (state.setup.as_deref(), &mut event)
    else {
        return journal.commit(vec![event], Vec::new()).await;
    };
    let mut seen = Provenance { level: touched.level, ..Provenance::default() };
    if !touched.reads.is_empty() {
        let known = deps.store.file_provenance(deps.tenant, &setup.workspace).await?;
        seen.join(&provenance_of_files(&touched.reads, &setup.workspace, &known));
    }
    let text = match result {
        ToolResult::Ok { content: text, origins, .. } | ToolResult::Error { message: text, origins, .. } => {
            origins.extend(std::mem::take(&mut seen.origins));
            seen.origins.clone_from(origins);
            &*text
        }
        ToolResult::Dry { preview } => &*preview,
    };
    let personal = deps.personal_data_in(&setup.data_rules, text).await;
    let files = [touched.reads.as_slice(), &touched.writes].concat();
    let classified = seen.level.take().filter(|level| state.is_above(level));
    let classified = higher(classified, state.newly_classified((tool, arguments), &files, text, &personal));
    let mut written = Provenance { level: classified.clone().or_else(|| state.classified.clone()), ..seen };
    if let Some((spec, entry)) = state.tool(tool).zip(state.call(call_id)) {
        state.taint_of(spec, &entry.call).iter().for_each(|one| written.add_origin(&one.origin));
    }
    let mut paths = written_paths(&touched.writes, &setup.workspace);
    paths.retain(|_| !written.is_empty());
    let side = paths.into_iter().map(|path| SideWrite::FileProvenance {
        workspace: setup.workspace.clone(),
        file: FileProvenance { path, provenance: written.clone() },
    });
    let side = side.collect();
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
    let scope = tool_scope(deps, &journal.state, cancellation, &call.name).await?;
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
            output.content = format!("{}\n(It was done before an interruption: {evidence}.)", output.content);
            let (result, touched) = recorded(output, result_limit(&journal.state, &call.name));
            let (arguments, evidence) = (call.arguments, Some(evidence));
            let result = EventBody::ToolResult { call_id: call.id, tool: call.name, result, ms: 0, evidence };
            commit_result(deps, journal, &arguments, result, touched).await
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

/// What a tool returned, as the log has it, and what else it said.
fn recorded(output: ToolOutput, limit: usize) -> (ToolResult, Touched) {
    let ToolOutput { content, data, receipt, undo, failed, provenance, reads, writes } = output;
    let Provenance { origins, level } = provenance;
    let (content, truncated) = truncate(&content, limit);
    let data = data.filter(|data| data.to_string().len() <= MAX_DATA);
    let result = if failed {
        let (data, undo) = (data.map(Box::new), undo.map(Box::new));
        ToolResult::Error { message: content, fatal: false, origins, data, undo }
    } else {
        ToolResult::Ok { content, data, truncated, receipt, undo, origins }
    };
    (result, Touched { reads, writes, level })
}
