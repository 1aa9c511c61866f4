//! `POST /api/conversations/{id}/fork`.

use super::show::show_one;
use crate::auth::Person;
use crate::dto::conversation::{Conversation, ForkConversation};
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::routes::people;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::ports::{Conversation as Row, Role};
use steward_core::{ConversationId, RunId, UserId};

/// Branches off `from` for `user`, with what was said before `before`.
pub(crate) async fn copy(state: &ApiState, user: UserId, from: Row, before: Option<RunId>) -> Result<Row, Problem> {
    let deps = state.runs.deps();
    let now = deps.clock.now();
    let copy = Row {
        id: ConversationId(deps.ids.next()),
        user: Some(user),
        created_at: now,
        updated_at: now,
        deleted_at: None,
        forked_from: Some(from.id),
        ..from
    };
    deps.store.fork_conversation(deps.tenant, from.id, before, &copy).await?;
    Ok(copy)
}

/// Branches off: another conversation with what was said so far, or before one of its runs.
#[utoipa::path(post, path = "/api/conversations/{id}/fork", tag = "conversations", operation_id = "forkConversation",
    params(("id" = Uuid, Path)), request_body = ForkConversation,
    responses((status = 201, description = "The new conversation", body = Conversation)))]
pub(crate) async fn fork(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConversationId>,
    Body(body): Body<ForkConversation>,
) -> Result<(StatusCode, Json<Conversation>), Problem> {
    person.may(Role::Developer)?;
    let from = people::conversation(&state, &person, id).await?;
    if from.deleted_at.is_some() {
        return Err(Problem::conflict("deleted", format!("conversation {id} is deleted"), "restore it first"));
    }
    if let Some(run) = body.before_run {
        let deps = state.runs.deps();
        let row = deps.store.run(deps.tenant, run).await?;
        if row.conversation != Some(id) {
            return Err(Problem::invalid(
                "before_run",
                format!("run {run} does not belong to this conversation"),
                "take a run of the conversation, or leave it out to take everything along",
            ));
        }
    }
    let row = copy(&state, person.user(), from, body.before_run).await?;
    Ok((StatusCode::CREATED, Json(show_one(&state, row).await?)))
}
