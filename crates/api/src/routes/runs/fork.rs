//! `POST /api/runs/{id}/fork`.

use crate::auth::Person;
use crate::dto::conversation::ChatStarted;
use crate::dto::run::Fork;
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::routes::{chat, conversations, people};
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::event::Origin;
use steward_core::ports::RunRow;
use steward_core::{ConversationId, RunId};
use steward_engine::ForkRun;

/// Begins another run with the first events of this one, from where a model is asked on; with
/// another model or another request. Its conversation is forked before it, too.
#[utoipa::path(post, path = "/api/runs/{id}/fork", tag = "runs", operation_id = "forkRun",
    params(("id" = Uuid, Path)), request_body = Fork,
    responses((status = 201, description = "The new run", body = ChatStarted)))]
pub(crate) async fn fork(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
    Body(body): Body<Fork>,
) -> Result<(StatusCode, Json<ChatStarted>), Problem> {
    let row = people::own_run(&state, &person, id).await?;
    check(&state, &row, &body).await?;
    let connection = body.connection_id;
    if connection.is_some() {
        state.runs.deps().models.select(connection).await?;
    }
    let conversation = branch(&state, &person, &row).await?;
    let fork = ForkRun {
        run: id,
        seq: body.seq,
        connection,
        input: body.input,
        conversation,
        origin: match person.origin() {
            Origin::Cli => Origin::Cli,
            _ if conversation.is_some() => Origin::Chat,
            _ => Origin::Api,
        },
        asked_by: person.by(),
        user: Some(person.user()),
    };
    match state.runs.fork(fork).await {
        Ok(run) => {
            let started = ChatStarted { run_id: run, conversation_id: conversation };
            Ok((StatusCode::CREATED, Json(started)))
        }
        Err(error) => {
            if let Some(id) = conversation {
                chat::discard(&state, id).await;
            }
            Err(error.into())
        }
    }
}

/// Refuses before anything is written.
async fn check(state: &ApiState, row: &RunRow, body: &Fork) -> Result<(), Problem> {
    let points = state.runs.forkable(row.id).await?;
    let first = points.first().map(|point| point.seq);
    let Some(first) = first else {
        return Err(Problem::conflict(
            "not_forkable",
            format!("run {} has not asked a model yet", row.id),
            "wait until it has, or send its request again",
        ));
    };
    if let Some(seq) = body.seq
        && !points.iter().any(|point| point.seq == seq)
    {
        let places: Vec<_> = points.iter().map(|point| point.seq.to_string()).collect();
        return Err(Problem::invalid(
            "seq",
            format!("the run can't be forked at {seq}"),
            format!("choose one of {}", places.join(", ")),
        ));
    }
    if let Some(input) = &body.input {
        if input.trim().is_empty() {
            return Err(Problem::invalid(
                "input",
                "the request is empty",
                "say what is to be done, or leave `input` out to keep the request",
            ));
        }
        if body.seq.is_some_and(|seq| seq != first) {
            return Err(Problem::invalid(
                "input",
                "another request can only be given at the first place",
                format!("leave `seq` out, or give {first}"),
            ));
        }
    }
    Ok(())
}

/// The run's conversation, branched off before it: a new one of whoever forks. What was said in it
/// stands in the run's log anyway.
async fn branch(state: &ApiState, person: &Person, row: &RunRow) -> Result<Option<ConversationId>, Problem> {
    let Some(id) = row.conversation else {
        return Ok(None);
    };
    let deps = state.runs.deps();
    let from = deps.store.conversation(deps.tenant, id).await?;
    let copy = conversations::copy(state, person.user(), from, Some(row.id)).await?;
    Ok(Some(copy.id))
}
