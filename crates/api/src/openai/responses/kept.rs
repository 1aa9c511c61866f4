//! `/v1/responses/{id}`: answers looked at, stopped and deleted by the key that asked for them. Those of agents are their runs,
//! those of connections are asked for where they were made.

use super::object::{Frame, PREFIX, Repeated};
use super::stream::stream;
use crate::auth::DialectCaller;
use crate::dialect::responses_usage;
use crate::gateway::ask_where_made;
use crate::openai::agent_start::Begun;
use crate::openai::delta_projector::{DeltaProjector, OpenAiDelta};
use crate::openai::run_events::past_events;
use crate::openai::{OpenAiError, may_ask};
use crate::tenant_app::TenantApp;
use axum::Json;
use axum::extract::{Path, Query};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::time::Duration;
use steward_app::{Attached, Caller, EngineError};
use steward_core::RunId;
use steward_core::event::Outcome;
use steward_core::message::Role;
use steward_core::ports::{DialectAnswer, StoreError};

/// How long a run that is cancelled may take to end before it is answered.
const STOPS_WITHIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Longest list of input items.
const MAX_ITEMS: usize = 100;
const ITEMS: usize = 20;

type Parameters = Query<Vec<(String, String)>>;

/// `GET /v1/responses/{id}`
pub(crate) async fn get(
    DialectCaller(state, caller): DialectCaller,
    Path(id): Path<String>,
    Query(query): Parameters,
) -> Result<Response, OpenAiError> {
    let (answer, run) = match find(&state, &caller, &id, &Method::GET, None, &query).await? {
        Found::Answered(response) => return Ok(response),
        Found::Run(answer, run) => (answer, run),
    };
    let frame = frame(*answer, run)?;
    if parameter(&query, "stream") == Some("true") {
        let mut attached = Attached::new(&state, &caller, run, None);
        // Looking on stops nothing.
        attached.let_go();
        let after = parameter(&query, "starting_after").and_then(|number| number.parse::<usize>().ok());
        let begun = Begun { run, joined: true, attached };
        return stream(&state, begun, frame, after.map_or(0, |after| after.saturating_add(1))).await;
    }
    shown(&state, frame).await
}

/// `DELETE /v1/responses/{id}`
pub(crate) async fn delete(
    DialectCaller(state, caller): DialectCaller,
    Path(id): Path<String>,
) -> Result<Response, OpenAiError> {
    may_ask(&caller)?;
    let run = match find(&state, &caller, &id, &Method::DELETE, None, &[]).await? {
        Found::Answered(response) => {
            if response.status().is_success() {
                state.forget_answer(&id).await?;
            }
            return Ok(response);
        }
        Found::Run(_, run) => run,
    };
    let deleted =
        state.delete_run_of_answer(&caller, run).await.map_err(|error| OpenAiError::failed(error.to_string()));
    if !deleted? {
        let message = format!("response `{id}` has not ended or is held by a rule; cancel it first, or leave it");
        return Err(OpenAiError { status: StatusCode::CONFLICT, ..OpenAiError::invalid(message, "id") });
    }
    Ok(Json(json!({"id": id, "object": "response", "deleted": true})).into_response())
}

/// `POST /v1/responses/{id}/cancel`
pub(crate) async fn cancel(
    DialectCaller(state, caller): DialectCaller,
    Path(id): Path<String>,
) -> Result<Response, OpenAiError> {
    may_ask(&caller)?;
    let (answer, run) = match find(&state, &caller, &id, &Method::POST, Some("cancel"), &[]).await? {
        Found::Answered(response) => return Ok(response),
        Found::Run(answer, run) => (answer, run),
    };
    let over = state.run_state(run).await?.is_finished();
    let frame = frame(*answer, run)?;
    // To cancel what runs in the background a second time changes nothing and is no mistake.
    if over && !frame.repeated.background {
        let message = format!(
            "response `{id}` has ended, so there is nothing to cancel; only one that was asked for with `background: true` \
             can be cancelled any time"
        );
        return Err(OpenAiError::invalid(message, "id"));
    }
    if !over {
        state.cancel_run(&caller, run).await?;
        let ended = async {
            while !state.run_state(run).await.is_ok_and(|seen| seen.is_finished()) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let _in_time = tokio::time::timeout(STOPS_WITHIN, ended).await;
    }
    shown(&state, frame).await
}

/// `GET /v1/responses/{id}/input_items`
pub(crate) async fn input_items(
    DialectCaller(state, caller): DialectCaller,
    Path(id): Path<String>,
    Query(query): Parameters,
) -> Result<Response, OpenAiError> {
    let run = match find(&state, &caller, &id, &Method::GET, Some("input_items"), &query).await? {
        Found::Answered(response) => return Ok(response),
        Found::Run(_, run) => run,
    };
    let limit = match parameter(&query, "limit").map(str::parse) {
        None => ITEMS,
        Some(Ok(limit @ 1..=MAX_ITEMS)) => limit,
        Some(_) => {
            return Err(OpenAiError::invalid(format!("`limit` must be a number from 1 to {MAX_ITEMS}"), "limit"));
        }
    };
    let order = parameter(&query, "order").unwrap_or("desc");
    if !matches!(order, "asc" | "desc") {
        return Err(OpenAiError::invalid("`order` must be `asc` or `desc`", "order"));
    }
    let Some(setup) = state.run_state(run).await?.setup else {
        return Err(missing(&id));
    };
    let mut all = Vec::new();
    for (index, message) in setup.history.iter().enumerate() {
        let (role, kind) =
            if message.role == Role::Assistant { ("assistant", "output_text") } else { ("user", "input_text") };
        all.push(item(run, index, (role, kind), &message.text));
    }
    all.push(item(run, setup.history.len(), ("user", "input_text"), &setup.input));
    if order == "desc" {
        all.reverse();
    }
    if let Some(after) = parameter(&query, "after") {
        let at = all.iter().position(|one| one["id"] == after);
        all.drain(..at.map_or(0, |at| at + 1));
    }
    let more = all.len() > limit;
    all.truncate(limit);
    let (first, last) = (all.first().map(|one| &one["id"]), all.last().map(|one| &one["id"]));
    let page = json!({"object": "list", "data": all, "first_id": first, "last_id": last, "has_more": more});
    Ok(Json(page).into_response())
}

fn item(run: RunId, index: usize, (role, kind): (&str, &str), text: &str) -> Value {
    let mut content = json!({"type": kind, "text": text});
    if kind == "output_text" {
        content["annotations"] = json!([]);
    }
    json!({
        "id": format!("msg_{run}_{index}"), "type": "message", "role": role, "status": "completed", "content": [content],
    })
}

fn parameter<'q>(query: &'q [(String, String)], name: &str) -> Option<&'q str> {
    query.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
}

enum Found {
    /// By the connection that made it.
    Answered(Response),
    Run(Box<DialectAnswer>, RunId),
}

async fn find(
    state: &TenantApp,
    caller: &Caller,
    id: &str,
    method: &Method,
    part: Option<&'static str>,
    query: &[(String, String)],
) -> Result<Found, OpenAiError> {
    let answer = state.own_answer(caller, id).await?.ok_or_else(|| missing(id))?;
    if let Some(connection) = answer.connection {
        let asked = (method, part, query);
        return ask_where_made(state, caller, connection, id, asked).await.map(Found::Answered);
    }
    match answer.run {
        Some(run) if id.starts_with(PREFIX) => Ok(Found::Run(Box::new(answer), run)),
        _ => Err(missing(id)),
    }
}

fn missing(id: &str) -> OpenAiError {
    let shown: String = id.chars().take(80).collect();
    OpenAiError {
        status: StatusCode::NOT_FOUND,
        code: "response_not_found",
        ..OpenAiError::invalid(
            format!(
                "there is no response `{shown}` that this key asked for; it may have been deleted, or asked for with \
                 `store: false`"
            ),
            "id",
        )
    }
}

fn frame(answer: DialectAnswer, run: RunId) -> Result<Frame, OpenAiError> {
    let repeated: Repeated =
        serde_json::from_value(answer.request).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    Ok(Frame { run, created: answer.at.0 / 1000, completed: None, repeated })
}

/// The answer as it is now.
pub(super) async fn shown(state: &TenantApp, mut frame: Frame) -> Result<Response, OpenAiError> {
    let (events, _, over) = match past_events(state, frame.run).await {
        Ok(past) => past,
        Err(EngineError::NotFound(_) | EngineError::Store(StoreError::NotFound(_))) => {
            return Err(missing(&frame.id()));
        }
        Err(error) => return Err(error.into()),
    };
    let stopped = over && matches!(state.run_state(frame.run).await?.outcome, Some(Outcome::Stopped { .. }));
    frame.completed = events.last().map(|event| event.at.0 / 1000);
    let mut projector = DeltaProjector::default();
    let (mut text, mut last) = (String::new(), None);
    for event in events {
        for delta in projector.take(frame.run, event.body) {
            match delta {
                OpenAiDelta::Reasoning(_) => {}
                OpenAiDelta::Text(more) => text.push_str(&more),
                end => last = Some(end),
            }
        }
    }
    let output =
        |status: &str, text: &str| if text.is_empty() { Vec::new() } else { vec![frame.message(status, Some(text))] };
    let response = match last {
        None => frame.response("in_progress", &output("in_progress", &text), &Value::Null, "running"),
        // Whoever asks again and again for what runs in the background asks until it is done.
        Some(OpenAiDelta::Waits(what)) => {
            let status = if frame.repeated.background { "in_progress" } else { "completed" };
            text.push_str(&what);
            frame.response(status, &output(status, &text), &Value::Null, "waiting")
        }
        Some(OpenAiDelta::Ended { usage: spent, .. }) if stopped => {
            frame.response("cancelled", &output("incomplete", &text), &responses_usage(&spent), "stopped")
        }
        Some(OpenAiDelta::Ended { limited, usage: spent }) => {
            let status = if limited { "incomplete" } else { "completed" };
            frame.response(status, &[frame.message(status, Some(&text))], &responses_usage(&spent), "finished")
        }
        Some(OpenAiDelta::Failed(error)) => frame.failed(&error),
        Some(OpenAiDelta::Reasoning(_) | OpenAiDelta::Text(_)) => return Err(missing(&frame.id())),
    };
    Ok(Json(response).into_response())
}
