//! `/api/conversations/{id}`.

use super::show::{open_run, show_one};
use crate::auth::Person;
use crate::dto::conversation::{Conversation, ConversationDetail, Message, Rename};
use crate::dto::run::Run;
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::routes::agent_names::AgentNames;
use crate::routes::people;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::ConversationId;
use steward_core::message::Role as From;
use steward_core::ports::{Role, RunFilter};

const MAX_TITLE: usize = 200;

/// A conversation with its messages and its newest 100 runs.
#[utoipa::path(get, path = "/api/conversations/{id}", tag = "conversations", operation_id = "getConversation",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "The conversation", body = ConversationDetail)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConversationId>,
) -> Result<Json<ConversationDetail>, Problem> {
    let deps = state.runs.deps();
    let row = people::conversation(&state, &person, id).await?;
    let messages = deps.store.messages(deps.tenant, id).await?;
    let filter = RunFilter { conversation: Some(id), limit: 100, ..RunFilter::default() };
    let mut runs = deps.store.runs(deps.tenant, filter).await?.items;
    runs.reverse();
    let names = AgentNames::of(&state, runs.iter().map(|run| run.agent).collect()).await?;
    Ok(Json(ConversationDetail {
        conversation: show_one(&state, row).await?,
        messages: messages
            .into_iter()
            .filter(|message| matches!(message.role, From::User | From::Assistant))
            .map(Message::from)
            .collect(),
        runs: runs
            .into_iter()
            .map(|run| {
                let name = names.get(run.agent);
                Run::named(run, name)
            })
            .collect(),
    }))
}

/// Gives a conversation another title.
#[utoipa::path(patch, path = "/api/conversations/{id}", tag = "conversations", operation_id = "renameConversation",
    params(("id" = Uuid, Path)), request_body = Rename,
    responses((status = 200, description = "Renamed", body = Conversation)))]
pub(crate) async fn rename(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConversationId>,
    Body(body): Body<Rename>,
) -> Result<Json<Conversation>, Problem> {
    person.may(Role::Developer)?;
    people::conversation(&state, &person, id).await?;
    let title = body.title.trim();
    if title.is_empty() || title.chars().count() > MAX_TITLE || title.chars().any(char::is_control) {
        return Err(Problem::invalid(
            "title",
            format!("a title has 1 to {MAX_TITLE} characters on one line"),
            "choose another title",
        ));
    }
    let deps = state.runs.deps();
    deps.store.rename_conversation(deps.tenant, id, title, deps.clock.now()).await?;
    let row = deps.store.conversation(deps.tenant, id).await?;
    Ok(Json(show_one(&state, row).await?))
}

/// Deletes a conversation; it can be restored, and its runs stay.
#[utoipa::path(delete, path = "/api/conversations/{id}", tag = "conversations", operation_id = "deleteConversation",
    params(("id" = Uuid, Path)),
    responses((status = 204, description = "Deleted")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConversationId>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Developer)?;
    people::conversation(&state, &person, id).await?;
    if let Some(run) = open_run(&state, id).await? {
        return Err(Problem::conflict(
            "conversation_busy",
            format!("run {} of this conversation has not ended", run.id),
            "stop the run first, or wait for its end",
        )
        .run(run.id));
    }
    let deps = state.runs.deps();
    deps.store.mark_deleted(deps.tenant, id, Some(deps.clock.now())).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a deletion back.
#[utoipa::path(post, path = "/api/conversations/{id}/restore", tag = "conversations", operation_id = "restoreConversation",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "Restored", body = Conversation)))]
pub(crate) async fn restore(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConversationId>,
) -> Result<Json<Conversation>, Problem> {
    person.may(Role::Developer)?;
    people::conversation(&state, &person, id).await?;
    let deps = state.runs.deps();
    deps.store.mark_deleted(deps.tenant, id, None).await?;
    let row = deps.store.conversation(deps.tenant, id).await?;
    Ok(Json(show_one(&state, row).await?))
}
