//! `GET /api/connections/health`.

use crate::auth::Person;
use crate::dto::exam::ConnectionHealth;
use crate::extract::{Page, Paging, PagingQuery};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::State;

/// How the connections have fared since the server started.
#[utoipa::path(get, path = "/api/connections/health", tag = "connections", operation_id = "connectionsHealth",
    params(PagingQuery), responses((status = 200, description = "Found", body = Page<ConnectionHealth>)))]
pub(crate) async fn health(
    State(state): State<ApiState>,
    _: Person,
    paging: Paging,
) -> Result<Page<ConnectionHealth>, Problem> {
    let health = state.runs.deps().models.health().await;
    let health = health.into_iter().map(Into::into).collect();
    Page::cut(health, &paging)
}
