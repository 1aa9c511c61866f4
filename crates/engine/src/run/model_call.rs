//! One model call: requested, streamed, answered; each committed before it is used or shown.

use crate::prompting::interpret_reply::interpret_reply;
use crate::prompting::masking::{Masking, unmask_reply};
use crate::prompting::model_request::{BuiltRequest, build_request, reply_parser, strategy};
use crate::prompting::raw_reply::ReceivedReply;
use crate::run::RunContext;
use crate::run::budget::{CallUsage, estimate, reserve, settle};
use crate::run::finish::finish;
use crate::run::journal::status_write;
use crate::run::provisional::ReplyBeginning;
use fail::fail_point;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use steward_core::budget::Limit;
use steward_core::event::{Answered, EventBody, Outcome, Setup};
use steward_core::governance::MaskMap;
use steward_core::hash;
use steward_core::model::{
    Capabilities, Connection, ModelChunk, ModelError, ModelErrorClass, ModelRequest, Purpose, Strategy, Usage,
};
use steward_core::ports::{ModelCall, Opened, RunStatus, SideWrite, StoreResult};
use steward_core::prompt::Prompt;
use steward_core::routing::Attempt;
use steward_core::run::AnswerFrom;
use steward_core::{TimerId, budget};
use steward_parse::{Out, Parsed};

/// How many chunks that are ready at once make one delta event.
const COALESCE: usize = 64;

/// One model call with the request that was built for it; `true` if a reply was committed.
pub(crate) async fn send_request(
    context: &mut RunContext<'_>,
    setup: &Setup,
    purpose: Purpose,
    built: BuiltRequest,
) -> StoreResult<bool> {
    let step = context.journal.state.spent.model_calls + 1;
    let asked = setup.model_for(purpose);
    if !built.prompt.fits {
        let error = too_long(&built.prompt, asked.capabilities.window);
        fail_call(context, step, purpose, error.into()).await?;
        return Ok(false);
    }
    let reserved = built.reserved();
    let (tokens, reply) = (built.prompt.tokens, built.request.max_tokens.unwrap_or(built.reserve));
    let estimate = match estimate(context, asked, tokens, reply.into()).await {
        Ok(estimate) => estimate,
        Err(removed) => return fail_call(context, step, purpose, removed.into()).await.map(|()| false),
    };
    let reserved_micros = estimate.cost_micros;
    let state = &context.journal.state;
    if let Err(limit) = budget::model_call_fits(&setup.budget, &state.spent, reserved, reserved_micros) {
        return end_at_limit(context, limit, String::new()).await;
    }
    let reservation = match reserve(context, setup, asked, estimate).await? {
        Ok(reservation) => reservation,
        Err(message) => return end_at_limit(context, Limit::Spend, message).await,
    };
    let request = built.request;
    let prompt = request.messages.clone();
    fail_point!("engine.model.before");
    context
        .journal
        .append(EventBody::ModelRequested {
            step,
            purpose,
            model: asked.model.to_owned(),
            prompt_hash: hash::of_json(&serde_json::json!(prompt)),
            prompt,
            reserved,
            reserved_micros,
        })
        .await?;
    fail_point!("engine.model.requested");
    let masking = Masking::new(&context.journal.state, &*context.deps.personal_data);
    let received = receive(context, setup, (step, purpose), &request, &reservation.connections(), &masking).await?;
    let masked = masking.events(step);
    match received {
        Ok(mut reply) => {
            let used = call_usage(&reply.answered, &reply.received, reply.usage);
            let attempts = &reply.answered.attempts;
            let (spent, side) = settle(context.deps, &reservation, Some(used), attempts, false);
            // What the run pays is what its budgets count.
            reply.usage.cost_micros = spent.cost_micros;
            let raw = reply.received.raw(&reply.parsed);
            let state = &context.journal.state;
            let interpreted = interpret_reply(state, setup, purpose, &mut reply.parsed, step);
            fail_point!("engine.model.answered");
            let mut events = masked;
            events.extend(delta_event(step, purpose, reply.last));
            events.push(EventBody::ModelResponded {
                step,
                purpose,
                text: reply.parsed.text,
                raw,
                reasoning: reply.parsed.reasoning,
                calls: interpreted.calls,
                diagnostics: interpreted.diagnostics,
                finish: reply.finish,
                usage: reply.usage,
                answered: Some(Box::new(reply.answered)),
                noticed: interpreted.noticed,
            });
            context.journal.commit(events, side).await?;
            fail_point!("engine.model.responded");
            Ok(true)
        }
        Err(mut failed) => {
            let used = failed.used.take();
            (failed.usage, failed.side) = settle(context.deps, &reservation, used, &failed.attempts, true);
            failed.masked = masked;
            fail_call(context, step, purpose, failed).await.map(|()| false)
        }
    }
}

/// Ends the run with what was observed so far; no reply was committed.
async fn end_at_limit(context: &mut RunContext<'_>, limit: Limit, message: String) -> StoreResult<bool> {
    finish(&mut context.journal, Outcome::Limited { limit, message }, AnswerFrom::Observations).await?;
    Ok(false)
}

struct Reply {
    /// What came with its end and is not shown yet.
    last: VisibleText,
    parsed: Parsed,
    received: ReceivedReply,
    finish: String,
    usage: Usage,
    answered: Answered,
}

fn call_usage(answered: &Answered, received: &ReceivedReply, usage: Usage) -> CallUsage {
    CallUsage { connection: answered.connection, model: answered.model.clone(), usage, received: received.tokens() }
}

/// No whole reply, who was asked, and what came of it.
struct FailedCall {
    error: ModelError,
    attempts: Vec<Attempt>,
    used: Option<CallUsage>,
    /// What was spent all the same.
    usage: Usage,
    side: Vec<SideWrite>,
    /// What was masked for those who were asked.
    masked: Vec<EventBody>,
}

impl From<ModelError> for FailedCall {
    fn from(error: ModelError) -> Self {
        Self { error, attempts: Vec::new(), used: None, usage: Usage::default(), side: Vec::new(), masked: Vec::new() }
    }
}

/// Asks the connections of the run's route, each in its own form, until one begins to answer.
async fn open_stream(
    context: &RunContext<'_>,
    setup: &Setup,
    purpose: Purpose,
    first: &ModelRequest,
    targets: &[Connection],
    masking: &Masking<'_>,
) -> Result<Opened, FailedCall> {
    let state = &context.journal.state;
    let max_steps = context.deps.config.get().max_plan_steps;
    let request = |connection: &Connection| {
        let request = if connection.id == setup.model_for(purpose).connection {
            first.clone()
        } else {
            build_request(state, setup, &connection.capabilities, purpose, max_steps).request
        };
        masking.masked(connection, request)
    };
    let call = ModelCall {
        targets,
        routing: &setup.agent.routing,
        request: &request,
        deadline_ms: setup.agent.tuning.timeout_ms,
    };
    tokio::select! {
        opened = context.deps.models.open(call) => opened.map_err(|none| FailedCall {
            attempts: none.attempts,
            ..none.error.into()
        }),
        () = context.signals.cancellation.cancelled() => Err(cancelled().into()),
    }
}

/// What is known of a connection: for the run's own, what was known when it began.
fn capabilities_of<'a>(setup: &'a Setup, purpose: Purpose, connection: &'a Connection) -> &'a Capabilities {
    let asked = setup.model_for(purpose);
    if connection.id == asked.connection { asked.capabilities } else { &connection.capabilities }
}

async fn receive(
    context: &mut RunContext<'_>,
    setup: &Setup,
    (step, purpose): (u32, Purpose),
    request: &ModelRequest,
    targets: &[Connection],
    masking: &Masking<'_>,
) -> StoreResult<Result<Reply, FailedCall>> {
    let cancel = context.signals.cancellation.clone();
    let opened = match open_stream(context, setup, purpose, request, targets, masking).await {
        Ok(opened) => opened,
        Err(failed) => return Ok(Err(failed)),
    };
    let capabilities = capabilities_of(setup, purpose, &opened.connection);
    let strategy = strategy(&context.journal.state, setup, capabilities, purpose);
    let in_thought = capabilities.thinks_first;
    let mut answered = Answered {
        connection: opened.connection.id,
        name: opened.connection.name.clone(),
        provider: Some(opened.connection.provider),
        model: opened.connection.model.clone(),
        strategy,
        in_thought,
        attempts: opened.attempts,
    };
    let mut beginning = ReplyBeginning::of(&opened.connection, opened.examined, in_thought);
    let mut parser = reply_parser(setup, purpose, (strategy, in_thought), step);
    let mut chunks = opened.stream.ready_chunks(COALESCE);
    let (mut finish, mut usage) = (String::from("stop"), Usage::default());
    let mut received = ReceivedReply::default();
    let mut last = VisibleText::default();
    let mut unmasked = Unmasked { map: masking.map_of(answered.connection), held: <(String, String)>::default() };
    loop {
        let batch = tokio::select! {
            batch = chunks.next() => batch,
            () = cancel.cancelled() => {
                let used = Some(call_usage(&answered, &received, usage));
                return Ok(Err(FailedCall { used, ..cancelled().into() }));
            }
        };
        let Some(batch) = batch else { break };
        let (mut failed, mut ended) = (None, false);
        for chunk in batch {
            match chunk {
                Ok(chunk) => {
                    if let ModelChunk::End { finish: word, usage: spent, model } = &chunk {
                        ended = true;
                        finish.clone_from(word);
                        usage = *spent;
                        if !model.is_empty() {
                            answered.model.clone_from(model);
                        }
                    }
                    received.push(&chunk);
                    let outs = parser.push(&chunk);
                    beginning.see(&outs);
                    collect_visible(outs, &mut last);
                }
                Err(error) => failed = Some(error),
            }
        }
        // What comes with the end is committed with the whole reply.
        if !ended || failed.is_some() {
            let shown = VisibleText {
                provisional: beginning.is_provisional(parser.may_be_thought()),
                ..unmasked.take(std::mem::take(&mut last), false)
            };
            append_delta(context, step, purpose, shown).await?;
        }
        if let Some(error) = failed {
            return Ok(Err(FailedCall {
                used: Some(call_usage(&answered, &received, usage)),
                attempts: answered.attempts,
                ..error.into()
            }));
        }
    }
    let mut parsed = parser.finish();
    beginning.see(&parsed.tail);
    beginning.learn(&parsed, &finish);
    collect_visible(std::mem::take(&mut parsed.tail), &mut last);
    let last = unmasked.take(last, true);
    if has_only_thought(purpose, strategy, &parsed) {
        let used = Some(call_usage(&answered, &received, usage));
        let error = only_thought(&answered.name, &finish);
        return Ok(Err(FailedCall { used, attempts: answered.attempts, ..error.into() }));
    }
    if let Some(map) = &unmasked.map {
        unmask_reply(map, purpose, &mut parsed, &mut received);
    }
    Ok(Ok(Reply { last, parsed, received, finish, usage, answered }))
}

/// What is shown next of a reply.
#[derive(Debug, Default)]
struct VisibleText {
    text: String,
    reasoning: String,
    /// It may turn out to be reasoning.
    provisional: bool,
    /// What was shown before of the reply was reasoning: this takes its place.
    retracts: bool,
}

/// What a reader is shown of a masked reply: the data is back in its place.
struct Unmasked {
    map: Option<Arc<MaskMap>>,
    /// Text and reasoning that may be cut in the middle of a mask.
    held: (String, String),
}

impl Unmasked {
    fn take(&mut self, shown: VisibleText, last: bool) -> VisibleText {
        let Some(map) = &self.map else { return shown };
        if shown.retracts {
            self.held = <(String, String)>::default();
        }
        VisibleText {
            text: map.unmask_piece(&mut self.held.0, &shown.text, last),
            reasoning: map.unmask_piece(&mut self.held.1, &shown.reasoning, last),
            ..shown
        }
    }
}

/// What can be shown by now, if anything; a summary of older messages and search strings are nobody's answer.
fn delta_event(step: u32, purpose: Purpose, shown: VisibleText) -> Option<EventBody> {
    let VisibleText { text, reasoning, provisional, retracts } = shown;
    let nothing = text.is_empty() && reasoning.is_empty() && !retracts;
    let nobodys = matches!(purpose, Purpose::Compact | Purpose::Search);
    let provisional = provisional && !text.is_empty();
    let delta = EventBody::ModelDelta { step, purpose, text, reasoning, provisional, retracts };
    (!nothing && !nobodys).then_some(delta)
}

async fn append_delta(
    context: &mut RunContext<'_>,
    step: u32,
    purpose: Purpose,
    shown: VisibleText,
) -> StoreResult<()> {
    let Some(delta) = delta_event(step, purpose, shown) else {
        return Ok(());
    };
    fail_point!("engine.model.streaming");
    context.journal.append(delta).await
}

fn collect_visible(pieces: Vec<Out>, shown: &mut VisibleText) {
    for piece in pieces {
        match piece {
            Out::Text(piece) => shown.text.push_str(&piece),
            Out::Reasoning(piece) => shown.reasoning.push_str(&piece),
            Out::Retracted => *shown = VisibleText { retracts: true, ..VisibleText::default() },
            Out::CallStarted { .. } => {}
        }
    }
}

/// Commits a failed call; one that failed in passing is tried again after a durable alarm.
async fn fail_call(
    context: &mut RunContext<'_>,
    step: u32,
    purpose: Purpose,
    FailedCall { error, attempts, usage, mut side, masked, .. }: FailedCall,
) -> StoreResult<()> {
    let tries = context.journal.state.failures + 1;
    // Without a summary there is another way to make room, and without search strings the request itself.
    let needed = !matches!(purpose, Purpose::Compact | Purpose::Search);
    let state = &context.journal.state;
    // Only where the failure ends the run does its client ask again.
    let asked_again = purpose != Purpose::Fill && state.setup.as_deref().is_some_and(|setup| setup.client_retries);
    let most = if asked_again { 1 } else { context.deps.config.get().model_tries };
    let again = error.class.is_transient() && tries < most && needed;
    tracing::warn!(run = %context.journal.run(), class = ?error.class, tries, again, "model call failed: {error}");
    let mut events = masked;
    if !again {
        events.push(EventBody::ModelFailed { step, purpose, error, retry_at: None, attempts, usage });
        return context.journal.commit(events, side).await;
    }
    let wait =
        error.retry_after_ms.map_or(Duration::from_millis(500 << (2 * (tries - 1)).min(8)), Duration::from_millis);
    let at = context.deps.clock.now().plus(wait);
    let timer_id = TimerId(context.deps.ids.next());
    let purpose_text = "try the model again".to_owned();
    side.push(SideWrite::Timer { id: timer_id, at, purpose: purpose_text.clone() });
    if wait > context.deps.config.get().short_wait {
        side.push(status_write(&context.journal.state, RunStatus::Parked));
    }
    events.push(EventBody::ModelFailed { step, purpose, error, retry_at: Some(at), attempts, usage });
    events.push(EventBody::TimerSet { timer_id, at, purpose: purpose_text });
    context.journal.commit(events, side).await
}

/// Whether a reply that should be an answer or calls is neither; in guided replies thoughts have a field beside them.
fn has_only_thought(purpose: Purpose, strategy: Strategy, parsed: &Parsed) -> bool {
    let wanted = matches!(purpose, Purpose::Reply | Purpose::Answer) && strategy != Strategy::GuidedJson;
    let nothing = parsed.text.trim().is_empty() && parsed.calls.is_empty() && parsed.broken.is_empty();
    wanted && nothing && !parsed.reasoning.trim().is_empty()
}

fn only_thought(connection: &str, finish: &str) -> ModelError {
    let message = format!("connection `{connection}`: the model only thought and gave no answer (finish `{finish}`)");
    let hint = match finish {
        "length" => "allow it a longer answer (`max_tokens`), or have it think less",
        _ => "ask again, or choose another model",
    };
    ModelError::new(ModelErrorClass::Empty, message, hint)
}

fn cancelled() -> ModelError {
    ModelError::new(ModelErrorClass::Cancelled, "the model call was stopped", "start the run again to go on")
}

fn too_long(prompt: &Prompt, window: u32) -> ModelError {
    let message = format!("the request needs about {} tokens, the model's window has {window}", prompt.tokens);
    let hint = "shorten the request, or choose a model with a larger window";
    ModelError::new(ModelErrorClass::ContextLength, message, hint)
}
