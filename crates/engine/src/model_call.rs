//! One model call: requested, streamed, answered; each committed before it is used or shown.

use crate::ask::status;
use crate::dialect;
use crate::finish::finish;
use crate::raw::Received;
use crate::runner::Runner;
use fail::fail_point;
use futures::StreamExt;
use std::time::Duration;
use steward_core::event::EventBody;
use steward_core::hash;
use steward_core::model::{ModelChunk, ModelError, ModelErrorClass, Purpose, Strategy, Usage};
use steward_core::ports::{RunStatus, SideWrite, StoreResult};
use steward_core::prompt::Prompt;
use steward_core::run::AnswerFrom;
use steward_core::tool::{CallSource, ToolCall};
use steward_core::{TimerId, budget, event::Outcome};
use steward_parse::{Out, Parsed, StreamParser, ToolIndex};

/// How many chunks that are ready at once make one delta event.
const COALESCE: usize = 64;

/// Asks the model for `purpose`; `true` if a reply was committed.
pub(crate) async fn call_model(runner: &mut Runner<'_>, purpose: Purpose) -> StoreResult<bool> {
    let state = &runner.journal.state;
    let Some(setup) = state.setup.clone() else {
        return Ok(false);
    };
    let step = state.spent.model_calls + 1;
    let built = dialect::request(state, &setup, purpose, runner.deps.config.max_plan_steps);
    if !built.prompt.fits {
        let error = too_long(&built.prompt, setup.capabilities.window);
        fail_call(runner, step, purpose, error).await?;
        return Ok(false);
    }
    let reserved = built.reserved();
    if let Err(limit) = budget::model_call_fits(&setup.budget, &state.spent, reserved) {
        finish(
            &mut runner.journal,
            Outcome::Limited { limit },
            AnswerFrom::Observations,
        )
        .await?;
        return Ok(false);
    }
    let prompt = built.request.messages.clone();
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
        })
        .await?;
    fail_point!("engine.model.requested");
    let parser = parser(built.strategy, &built.index, step);
    let streamed = stream(
        runner,
        setup.connection,
        built.request,
        parser,
        step,
        purpose,
    )
    .await?;
    match streamed {
        Ok((mut parsed, received, finish, usage)) => {
            let raw = received.raw(&parsed);
            let (calls, diagnostics) = understood(&runner.journal.state.calls, &mut parsed, step);
            fail_point!("engine.model.answered");
            runner
                .journal
                .append(EventBody::ModelResponded {
                    step,
                    purpose,
                    text: parsed.text,
                    raw,
                    reasoning: parsed.reasoning,
                    calls,
                    diagnostics,
                    finish,
                    usage,
                })
                .await?;
            fail_point!("engine.model.responded");
            Ok(true)
        }
        Err(error) => fail_call(runner, step, purpose, error)
            .await
            .map(|()| false),
    }
}

/// Reads the reply to model call `step`.
pub(crate) fn parser(strategy: Strategy, index: &ToolIndex, step: u32) -> StreamParser {
    StreamParser::new(strategy, index, &format!("s{step}-"))
}

type Streamed = Result<(Parsed, Received, String, Usage), ModelError>;

async fn stream(
    runner: &mut Runner<'_>,
    connection: steward_core::ConnectionId,
    request: steward_core::model::ModelRequest,
    mut parser: StreamParser,
    step: u32,
    purpose: Purpose,
) -> StoreResult<Streamed> {
    let cancel = runner.handle.cancel.clone();
    let opened = tokio::select! {
        opened = runner.deps.models.stream(connection, request) => opened,
        () = cancel.cancelled() => return Ok(Err(cancelled())),
    };
    let mut chunks = match opened {
        Ok(chunks) => chunks.ready_chunks(COALESCE),
        Err(error) => return Ok(Err(error)),
    };
    let (mut finish, mut usage) = (String::from("stop"), Usage::default());
    let mut received = Received::default();
    loop {
        let batch = tokio::select! {
            batch = chunks.next() => batch,
            () = cancel.cancelled() => return Ok(Err(cancelled())),
        };
        let Some(batch) = batch else { break };
        let (mut text, mut reasoning) = (String::new(), String::new());
        let mut failed = None;
        for chunk in batch {
            match chunk {
                Ok(chunk) => {
                    if let ModelChunk::End {
                        finish: word,
                        usage: spent,
                        ..
                    } = &chunk
                    {
                        finish.clone_from(word);
                        usage = *spent;
                    }
                    received.push(&chunk);
                    let (more, thought) = split(parser.push(&chunk));
                    text.push_str(&more);
                    reasoning.push_str(&thought);
                }
                Err(error) => failed = Some(error),
            }
        }
        if !text.is_empty() || !reasoning.is_empty() {
            fail_point!("engine.model.streaming");
            runner
                .journal
                .append(EventBody::ModelDelta {
                    step,
                    purpose,
                    text,
                    reasoning,
                })
                .await?;
        }
        if let Some(error) = failed {
            return Ok(Err(error));
        }
    }
    let mut parsed = parser.finish();
    let (text, reasoning) = split(std::mem::take(&mut parsed.tail));
    if !text.is_empty() || !reasoning.is_empty() {
        runner
            .journal
            .append(EventBody::ModelDelta {
                step,
                purpose,
                text,
                reasoning,
            })
            .await?;
    }
    Ok(Ok((parsed, received, finish, usage)))
}

fn split(pieces: Vec<Out>) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for piece in pieces {
        match piece {
            Out::Text(piece) => text.push_str(&piece),
            Out::Reasoning(piece) => reasoning.push_str(&piece),
            Out::CallStarted { .. } => {}
        }
    }
    (text, reasoning)
}

/// Commits a failed call; one that failed in passing is tried again after a durable alarm.
async fn fail_call(
    runner: &mut Runner<'_>,
    step: u32,
    purpose: Purpose,
    error: ModelError,
) -> StoreResult<()> {
    let tries = runner.journal.state.failures + 1;
    let again = error.class.is_transient() && tries < runner.deps.config.model_tries;
    tracing::warn!(run = %runner.journal.run(), class = ?error.class, tries, again, "model call failed: {error}");
    if !again {
        return runner
            .journal
            .append(EventBody::ModelFailed {
                step,
                purpose,
                error,
                retry_at: None,
            })
            .await;
    }
    let wait = error.retry_after_ms.map_or(
        Duration::from_millis(500 << (2 * (tries - 1)).min(8)),
        Duration::from_millis,
    );
    let at = runner.deps.clock.now().plus(wait);
    let timer_id = TimerId(runner.deps.ids.next());
    let purpose_text = "try the model again".to_owned();
    let mut side = vec![SideWrite::Timer {
        id: timer_id,
        at,
        purpose: purpose_text.clone(),
    }];
    if wait > runner.deps.config.short_wait {
        side.push(status(&runner.journal.state, RunStatus::Parked));
    }
    runner
        .journal
        .commit(
            vec![
                EventBody::ModelFailed {
                    step,
                    purpose,
                    error,
                    retry_at: Some(at),
                },
                EventBody::TimerSet {
                    timer_id,
                    at,
                    purpose: purpose_text,
                },
            ],
            side,
        )
        .await
}

/// Calls with ids that no other call of the run has, since ids name effects. A call that was meant
/// but is broken stays in, with its raw text for arguments: its validation tells the model.
pub(crate) fn understood(
    made: &[steward_core::run::CallEntry],
    parsed: &mut Parsed,
    step: u32,
) -> (Vec<ToolCall>, Vec<String>) {
    let mut diagnostics = std::mem::take(&mut parsed.diagnostics);
    let mut calls = std::mem::take(&mut parsed.calls);
    for broken in std::mem::take(&mut parsed.broken) {
        diagnostics.push(format!(
            "call of `{}` is broken: {}",
            broken.name, broken.error
        ));
        calls.push(ToolCall {
            id: broken.id,
            name: broken.name,
            arguments: serde_json::Value::String(broken.raw),
            source: CallSource::Repaired,
            confidence: 0.0,
        });
    }
    let mut seen: Vec<String> = made.iter().map(|entry| entry.call.id.clone()).collect();
    for (index, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() || seen.contains(&call.id) {
            call.id = format!("{}s{step}-{index}", call.id);
        }
        seen.push(call.id.clone());
    }
    (calls, diagnostics)
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
        message: format!(
            "the request needs about {} tokens, the model's window has {window}",
            prompt.tokens
        ),
        hint: "shorten the request, or choose a model with a larger window".to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}
