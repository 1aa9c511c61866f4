//! `GET /api/tools`.

use crate::auth::Person;
use crate::dto::agent::Tool;
use crate::extract::{Page, Paging, PagingQuery};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::State;

/// What agents can be given.
#[utoipa::path(get, path = "/api/tools", tag = "agents", operation_id = "listTools",
    params(PagingQuery), responses((status = 200, description = "Found", body = Page<Tool>)))]
pub(crate) async fn list(State(state): State<ApiState>, _: Person, paging: Paging) -> Result<Page<Tool>, Problem> {
    let tools = state.runs.deps().tools.catalogue();
    Page::cut(tools.into_iter().map(Tool::from).collect(), &paging)
}
