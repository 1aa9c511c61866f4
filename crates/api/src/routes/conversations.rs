//! `/api/conversations`, and `POST /api/chat/{agent_id}`, which says something in one.

use crate::dto::conversations::{Chat, ChatStarted, Conversation, ConversationDetail, ForkConversation, Rename};
use crate::routes::prelude::*;
use steward_app::ConversationSearch;
use steward_core::{AgentId, ConversationId};
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(get, rename, remove))
        .routes(routes!(restore))
        .routes(routes!(fork))
}

/// Which conversations.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// Only with this text in the title or a message.
    #[param(nullable = false)]
    q: Option<String>,
    /// Only with this agent.
    #[param(nullable = false)]
    agent_id: Option<Uuid>,
    /// Only deleted ones; else only others.
    #[serde(default)]
    deleted: bool,
}

/// One's own conversations, newest first.
#[utoipa::path(get, path = "/api/conversations", tag = "conversations", operation_id = "listConversations",
    params(Paging, Search),
    responses((status = 200, description = "Newest first", body = Page<Conversation>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Conversation> {
    let search = ConversationSearch {
        text: search.q,
        agent: search.agent_id.map(AgentId),
        deleted: search.deleted,
        before: paging.after()?,
        limit: paging.limit(),
    };
    let page = state.conversations(&caller, search).await?;
    Ok(Page::after_last(page, |row| row.id))
}

/// A conversation with its messages and its newest 100 runs.
#[utoipa::path(get, path = "/api/conversations/{id}", tag = "conversations", operation_id = "getConversation",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "The conversation", body = ConversationDetail)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<ConversationId>) -> Answer<ConversationDetail> {
    Ok(Json(state.conversation(&caller, id).await?))
}

/// Gives a conversation another title.
#[utoipa::path(patch, path = "/api/conversations/{id}", tag = "conversations", operation_id = "renameConversation",
    params(("id" = Uuid, Path)), request_body = Rename,
    responses((status = 200, description = "Renamed", body = Conversation)))]
async fn rename(
    Call(state, caller): Call,
    PathId(id): PathId<ConversationId>,
    Body(body): Body<Rename>,
) -> Answer<Conversation> {
    Ok(Json(state.rename_conversation(&caller, id, &body.title).await?))
}

/// Deletes a conversation; it can be restored, and its runs stay.
#[utoipa::path(delete, path = "/api/conversations/{id}", tag = "conversations", operation_id = "deleteConversation",
    params(("id" = Uuid, Path)),
    responses((status = 204, description = "Deleted")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<ConversationId>) -> Done {
    done(state.delete_conversation(&caller, id).await)
}

/// Takes a deletion back.
#[utoipa::path(post, path = "/api/conversations/{id}/restore", tag = "conversations", operation_id = "restoreConversation",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "Restored", body = Conversation)))]
async fn restore(Call(state, caller): Call, PathId(id): PathId<ConversationId>) -> Answer<Conversation> {
    Ok(Json(state.restore_conversation(&caller, id).await?))
}

/// Branches off: another conversation with what was said so far, or before one of its runs.
#[utoipa::path(post, path = "/api/conversations/{id}/fork", tag = "conversations", operation_id = "forkConversation",
    params(("id" = Uuid, Path)), request_body = ForkConversation,
    responses((status = 201, description = "The new conversation", body = Conversation)))]
async fn fork(
    Call(state, caller): Call,
    PathId(id): PathId<ConversationId>,
    Body(body): Body<ForkConversation>,
) -> Created<Conversation> {
    created(state.fork_conversation(&caller, id, body.before_run).await?)
}

/// Says something to an agent. The run is durable when this answers; watch it at
/// `/api/runs/{id}/events`.
#[utoipa::path(post, path = "/api/chat/{agent_id}", tag = "chat", operation_id = "chat",
    params(("agent_id" = Uuid, Path)), request_body = Chat,
    responses((status = 202, description = "At work", body = ChatStarted)))]
pub(super) async fn chat(
    Call(state, caller): Call,
    PathId(id): PathId<AgentId>,
    Body(body): Body<Chat>,
) -> Created<ChatStarted> {
    accepted(state.chat(&caller, id, body).await?)
}
