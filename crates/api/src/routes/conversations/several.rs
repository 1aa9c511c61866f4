//! `GET /api/conversations`.

use super::show::show;
use crate::auth::Person;
use crate::dto::conversation::Conversation;
use crate::extract::{Page, Paging, PagingQuery, Params};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::State;
use serde::Deserialize;
use steward_core::AgentId;
use steward_core::ports::ConversationFilter;
use utoipa::IntoParams;
use uuid::Uuid;

/// Which conversations.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
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
    params(PagingQuery, Search),
    responses((status = 200, description = "Newest first", body = Page<Conversation>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    person: Person,
    paging: Paging,
    Params(search): Params<Search>,
) -> Result<Page<Conversation>, Problem> {
    let deps = state.runs.deps();
    let filter = ConversationFilter {
        user: Some(person.user()),
        nobody: person.sees_all(),
        agent: search.agent_id.map(AgentId),
        text: search.q.filter(|text| !text.trim().is_empty()),
        deleted: search.deleted,
        before: paging.after()?,
        limit: paging.limit,
    };
    let page = deps.store.conversations(deps.tenant, filter).await?;
    let next = page.more.then(|| page.items.last().map(|row| row.id)).flatten();
    Ok(Page::new(show(&state, page.items).await?, next))
}
