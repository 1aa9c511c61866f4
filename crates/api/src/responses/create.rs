//! The handler.

use super::object::{Frame, usage};
use super::previous::history;
use super::request::Request;
use super::stream::stream;
use crate::agent_fields::check_responses;
use crate::auth::{Caller, Person};
use crate::begin::begin;
use crate::chat::{asked_by, may_ask};
use crate::gateway::{Inbound, pass};
use crate::home::Home;
use crate::models::find;
use crate::openai::OpenAiError;
use crate::pieces::{Piece, Pieces};
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use steward_core::event::{Mode, Origin};
use steward_core::ports::Passage;
use steward_engine::StartRun;

/// `POST /v1/responses`.
pub(crate) async fn create(
    State(state): State<ApiState>,
    Caller(_): Caller,
    person: Person,
    home: Home,
    inbound: Inbound,
) -> Result<Response, OpenAiError> {
    if let Some(name) = inbound.connection() {
        return pass(&state, &person.principal, name, &inbound, Passage::Responses).await;
    }
    home.run(ask_agent(state, person, inbound)).await
}

async fn ask_agent(state: ApiState, person: Person, inbound: Inbound) -> Result<Response, OpenAiError> {
    may_ask(&person.principal)?;
    check_responses(&inbound.parsed()?)?;
    let request: Request = inbound.parsed()?;
    let mut agent = find(&state, &person.principal, &request.model).await?;
    let asked = request.input.asked(request.instructions.clone())?;
    let mut earlier = match &request.previous_response_id {
        Some(id) => history(&state, &person, id).await?,
        None => Vec::new(),
    };
    earlier.extend(asked.history);
    format!("{}\n\n{}", agent.instructions, asked.instructions).trim().clone_into(&mut agent.instructions);
    if let Some(temperature) = request.temperature {
        agent.tuning.temperature = temperature.clamp(0.0, 2.0);
    }
    if let Some(limit) = request.max_output_tokens {
        agent.tuning.max_tokens = limit.max(1);
    }
    let (name, temperature) = (agent.name.clone(), agent.tuning.temperature);
    let start = StartRun {
        agent,
        input: asked.input,
        conversation: None,
        history: earlier,
        mode: Mode::Loop,
        origin: Origin::Api,
        asked_by: asked_by(&person.principal, request.user.as_deref()),
        workspace: state.workspace.clone(),
        grants: state.grants.clone(),
        connection: None,
        intent_filter: true,
        key: person.principal.key.as_ref().map(|key| key.id),
        user: Some(person.user()),
    };
    let frame = Frame {
        created: state.runs.deps().clock.now().0 / 1000,
        run: begin(&state, &person.principal, &inbound, "/v1/responses", start).await?,
        model: name,
        instructions: request.instructions,
        previous: request.previous_response_id,
        temperature,
        max_output_tokens: request.max_output_tokens,
        metadata: request.metadata.unwrap_or_else(|| json!({})),
    };
    if request.stream.unwrap_or(false) {
        return Ok(stream(&state, frame).await?.into_response());
    }
    whole(&state, &frame).await.map(|response| Json(response).into_response())
}

/// Waits for the end, or until a person is asked.
async fn whole(state: &ApiState, frame: &Frame) -> Result<Value, OpenAiError> {
    let mut all = Pieces::open(state, frame.run).await?;
    let mut text = String::new();
    while let Some(pieces) = all.next().await {
        for piece in pieces? {
            match piece {
                Piece::Reasoning(_) => {}
                Piece::Text(more) => text.push_str(&more),
                Piece::Waits(what) => {
                    text.push_str(&what);
                    let output = [frame.message("completed", Some(&text))];
                    return Ok(frame.response("completed", &output, &Value::Null, "waiting"));
                }
                Piece::Ended { limited, usage: spent } => {
                    let status = if limited { "incomplete" } else { "completed" };
                    let output = [frame.message(status, Some(&text))];
                    return Ok(frame.response(status, &output, &usage(&spent), "finished"));
                }
                Piece::Failed(failure) => return Err(failure.into()),
            }
        }
    }
    Err(OpenAiError::failed(format!("the log of run {} ended early", frame.run)))
}
