//! One model call: requested, streamed, answered; each committed before it is used or shown.

use crate::ask::status;
use crate::compact::{Room, make_room};
use crate::dialect::{self, Built};
use crate::finish::finish;
use crate::raw::Received;
use crate::runner::Runner;
use crate::spend::{Took, estimate, set_aside, settle};
use crate::understand::understood;
use fail::fail_point;
use futures::StreamExt;
use std::time::Duration;
use steward_core::budget::Limit;
use steward_core::event::{Answered, EventBody, Outcome, Setup};
use steward_core::hash;
use steward_core::model::{
    Capabilities, Connection, ModelChunk, ModelError, ModelErrorClass, ModelRequest, Purpose, Usage,
};
use steward_core::ports::{ModelCall, Opened, RunStatus, SideWrite, StoreResult};
use steward_core::prompt::Prompt;
use steward_core::routing::Attempt;
use steward_core::run::AnswerFrom;
use steward_core::{ConnectionId, TimerId, budget};
use steward_parse::{Out, Parsed};

/// How many chunks that are ready at once make one delta event.
const COALESCE: usize = 64;

/// Asks the model for `purpose`, after making room for the prompt; `true` if a reply was committed.
pub(crate) async fn call_model(runner: &mut Runner<'_>, purpose: Purpose) -> StoreResult<bool> {
    let Some(setup) = runner.journal.state.setup.clone() else {
        return Ok(false);
    };
    match make_room(runner, &setup, purpose).await? {
        Room::Made(built) => ask_once(runner, &setup, purpose, *built).await,
        Room::Otherwise => Ok(false),
    }
}

/// One model call with the request that was built for it; `true` if a reply was committed.
pub(crate) async fn ask_once(
    runner: &mut Runner<'_>,
    setup: &Setup,
    purpose: Purpose,
    built: Built,
) -> StoreResult<bool> {
    let step = runner.journal.state.spent.model_calls + 1;
    if !built.prompt.fits {
        let error = too_long(&built.prompt, setup.capabilities.window);
        fail_call(runner, step, purpose, error.into()).await?;
        return Ok(false);
    }
    let reserved = built.reserved();
    let (tokens, reply) = (built.prompt.tokens, built.request.max_tokens);
    let estimate = estimate(runner, setup, tokens, reply.into()).await;
    let reserved_micros = estimate.cost_micros;
    let state = &runner.journal.state;
    if let Err(limit) = budget::model_call_fits(&setup.budget, &state.spent, reserved, reserved_micros) {
        finish(&mut runner.journal, Outcome::Limited { limit, message: String::new() }, AnswerFrom::Observations)
            .await?;
        return Ok(false);
    }
    let aside = match set_aside(runner, setup, &estimate).await? {
        Ok(aside) => aside,
        Err(message) => {
            let limit = Limit::Spend;
            let outcome = Outcome::Limited { limit, message };
            finish(&mut runner.journal, outcome, AnswerFrom::Observations).await?;
            return Ok(false);
        }
    };
    let request = built.request;
    let prompt = request.messages.clone();
    fail_point!("engine.model.before");
    runner
        .journal
        .append(EventBody::ModelRequested {
            step,
            purpose,
            model: setup.model.clone(),
            prompt_hash: hash::of_json(&serde_json::json!(prompt)),
            prompt,
            reserved,
            reserved_micros,
        })
        .await?;
    fail_point!("engine.model.requested");
    match stream(runner, setup, (step, purpose), &request, &aside.targets).await? {
        Ok(mut reply) => {
            let took = reply.took();
            let attempts = &reply.answered.attempts;
            let (spent, side) = settle(runner.deps, aside, Some(took), attempts, false).await;
            // What the run pays is what its budgets count.
            reply.usage.cost_micros = spent.cost_micros;
            let raw = reply.received.raw(&reply.parsed);
            let state = &runner.journal.state;
            let understood = understood(state, setup, purpose, &mut reply.parsed, step);
            fail_point!("engine.model.answered");
            let mut events: Vec<EventBody> = delta(step, purpose, reply.last).into_iter().collect();
            events.push(EventBody::ModelResponded {
                step,
                purpose,
                text: reply.parsed.text,
                raw,
                reasoning: reply.parsed.reasoning,
                calls: understood.calls,
                diagnostics: understood.diagnostics,
                finish: reply.finish,
                usage: reply.usage,
                answered: Some(Box::new(reply.answered)),
                noticed: understood.noticed,
            });
            runner.journal.commit(events, side).await?;
            fail_point!("engine.model.responded");
            Ok(true)
        }
        Err(mut failed) => {
            let took = failed.took.take();
            (failed.usage, failed.side) = settle(runner.deps, aside, took, &failed.attempts, true).await;
            fail_call(runner, step, purpose, failed).await.map(|()| false)
        }
    }
}

/// A whole reply.
struct Reply {
    /// What came with its end and is not shown yet.
    last: Shown,
    parsed: Parsed,
    received: Received,
    finish: String,
    usage: Usage,
    answered: Answered,
}

impl Reply {
    fn took(&self) -> Took {
        took(&self.answered, &self.received, self.usage)
    }
}

fn took(answered: &Answered, received: &Received, usage: Usage) -> Took {
    Took { connection: answered.connection, model: answered.model.clone(), usage, received: received.tokens() }
}

/// No whole reply, who was asked, and what came of it.
struct Failed {
    error: ModelError,
    attempts: Vec<Attempt>,
    took: Option<Took>,
    /// What was spent all the same.
    usage: Usage,
    /// The rows that record it.
    side: Vec<SideWrite>,
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self { error, attempts: Vec::new(), took: None, usage: Usage::default(), side: Vec::new() }
    }
}

/// Asks the connections of the run's route, each in its own form, until one begins to answer.
async fn open(
    runner: &Runner<'_>,
    setup: &Setup,
    purpose: Purpose,
    first: &ModelRequest,
    targets: &[ConnectionId],
) -> Result<Opened, Failed> {
    let state = &runner.journal.state;
    let max_steps = runner.deps.config.max_plan_steps;
    let request = |connection: &Connection| {
        if connection.id == setup.connection {
            return first.clone();
        }
        dialect::request(state, setup, &connection.capabilities, purpose, max_steps).request
    };
    let call = ModelCall {
        targets,
        routing: &setup.agent.routing,
        request: &request,
        deadline_ms: setup.agent.tuning.timeout_ms,
    };
    tokio::select! {
        opened = runner.deps.models.open(call) => opened.map_err(|none| Failed {
            attempts: none.attempts,
            ..none.error.into()
        }),
        () = runner.handle.cancel.cancelled() => Err(cancelled().into()),
    }
}

/// What is known of a connection: for the run's own, what was known when it began.
fn known<'a>(setup: &'a Setup, connection: &'a Connection) -> &'a Capabilities {
    if connection.id == setup.connection { &setup.capabilities } else { &connection.capabilities }
}

async fn stream(
    runner: &mut Runner<'_>,
    setup: &Setup,
    (step, purpose): (u32, Purpose),
    request: &ModelRequest,
    targets: &[ConnectionId],
) -> StoreResult<Result<Reply, Failed>> {
    let cancel = runner.handle.cancel.clone();
    let opened = match open(runner, setup, purpose, request, targets).await {
        Ok(opened) => opened,
        Err(failed) => return Ok(Err(failed)),
    };
    let capabilities = known(setup, &opened.connection);
    let strategy = dialect::strategy(&runner.journal.state, setup, capabilities, purpose);
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
    let mut parser = dialect::parser(setup, purpose, (strategy, in_thought), step);
    let mut chunks = opened.stream.ready_chunks(COALESCE);
    let (mut finish, mut usage) = (String::from("stop"), Usage::default());
    let mut received = Received::default();
    let mut last = Shown::default();
    loop {
        let batch = tokio::select! {
            batch = chunks.next() => batch,
            () = cancel.cancelled() => {
                let took = Some(took(&answered, &received, usage));
                return Ok(Err(Failed { took, ..cancelled().into() }));
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
                    split(parser.push(&chunk), &mut last);
                }
                Err(error) => failed = Some(error),
            }
        }
        // What comes with the end is committed with the whole reply.
        if !ended || failed.is_some() {
            show(runner, step, purpose, std::mem::take(&mut last)).await?;
        }
        if let Some(error) = failed {
            return Ok(Err(Failed {
                took: Some(took(&answered, &received, usage)),
                attempts: answered.attempts,
                ..error.into()
            }));
        }
    }
    let mut parsed = parser.finish();
    split(std::mem::take(&mut parsed.tail), &mut last);
    Ok(Ok(Reply { last, parsed, received, finish, usage, answered }))
}

/// Text and reasoning that a reader may see.
type Shown = (String, String);

/// What can be shown by now, if anything; a summary of older messages is nobody's answer.
fn delta(step: u32, purpose: Purpose, (text, reasoning): Shown) -> Option<EventBody> {
    let nothing = text.is_empty() && reasoning.is_empty();
    (!nothing && purpose != Purpose::Compact).then_some(EventBody::ModelDelta { step, purpose, text, reasoning })
}

async fn show(runner: &mut Runner<'_>, step: u32, purpose: Purpose, shown: Shown) -> StoreResult<()> {
    let Some(delta) = delta(step, purpose, shown) else {
        return Ok(());
    };
    fail_point!("engine.model.streaming");
    runner.journal.append(delta).await
}

/// Sorts what can be shown into text and reasoning.
fn split(pieces: Vec<Out>, (text, reasoning): &mut Shown) {
    for piece in pieces {
        match piece {
            Out::Text(piece) => text.push_str(&piece),
            Out::Reasoning(piece) => reasoning.push_str(&piece),
            Out::CallStarted { .. } => {}
        }
    }
}

/// Commits a failed call; one that failed in passing is tried again after a durable alarm.
async fn fail_call(
    runner: &mut Runner<'_>,
    step: u32,
    purpose: Purpose,
    Failed { error, attempts, usage, mut side, .. }: Failed,
) -> StoreResult<()> {
    let tries = runner.journal.state.failures + 1;
    // Without a summary there is another way to make room.
    let again = error.class.is_transient() && tries < runner.deps.config.model_tries && purpose != Purpose::Compact;
    tracing::warn!(run = %runner.journal.run(), class = ?error.class, tries, again, "model call failed: {error}");
    if !again {
        let failed = EventBody::ModelFailed { step, purpose, error, retry_at: None, attempts, usage };
        return runner.journal.commit(vec![failed], side).await;
    }
    let wait =
        error.retry_after_ms.map_or(Duration::from_millis(500 << (2 * (tries - 1)).min(8)), Duration::from_millis);
    let at = runner.deps.clock.now().plus(wait);
    let timer_id = TimerId(runner.deps.ids.next());
    let purpose_text = "try the model again".to_owned();
    side.push(SideWrite::Timer { id: timer_id, at, purpose: purpose_text.clone() });
    if wait > runner.deps.config.short_wait {
        side.push(status(&runner.journal.state, RunStatus::Parked));
    }
    runner
        .journal
        .commit(
            vec![
                EventBody::ModelFailed { step, purpose, error, retry_at: Some(at), attempts, usage },
                EventBody::TimerSet { timer_id, at, purpose: purpose_text },
            ],
            side,
        )
        .await
}

fn cancelled() -> ModelError {
    ModelError {
        class: ModelErrorClass::Cancelled,
        message: "the model call was stopped".to_owned(),
        hint: "start the run again to go on".to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}

fn too_long(prompt: &Prompt, window: u32) -> ModelError {
    ModelError {
        class: ModelErrorClass::ContextLength,
        message: format!("the request needs about {} tokens, the model's window has {window}", prompt.tokens),
        hint: "shorten the request, or choose a model with a larger window".to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}
