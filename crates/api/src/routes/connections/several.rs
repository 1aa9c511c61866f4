//! `GET` and `POST /api/connections`.

use super::check::check;
use super::one::shown;
use crate::auth::Person;
use crate::dto::connection::{Connection, ConnectionInput};
use crate::extract::{Body, Page, Paging, PagingQuery};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::ConnectionId;
use steward_core::ports::Role;

/// Model endpoints, saved ones first.
#[utoipa::path(get, path = "/api/connections", tag = "connections", operation_id = "listConnections",
    params(PagingQuery), responses((status = 200, description = "Found", body = Page<Connection>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    _: Person,
    paging: Paging,
) -> Result<Page<Connection>, Problem> {
    let mut all = Vec::new();
    for known in state.connections.list().await {
        all.push(shown(&state, known).await);
    }
    Page::cut(all, &paging)
}

/// Adds a model endpoint. The first one beside the built-in model becomes the default, which the answer says.
#[utoipa::path(post, path = "/api/connections", tag = "connections", operation_id = "createConnection",
    request_body = ConnectionInput, responses((status = 201, description = "Made", body = Connection)))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    person: Person,
    Body(input): Body<ConnectionInput>,
) -> Result<(StatusCode, Json<Connection>), Problem> {
    person.may(Role::Operator)?;
    check(&input)?;
    let id = ConnectionId(state.runs.deps().ids.next());
    let taken = state.connections.list().await;
    if taken.iter().any(|one| one.connection.name == input.name.trim()) {
        return Err(Problem::conflict(
            "conflict",
            format!("another connection has the name `{}`", input.name.trim()),
            "choose another name",
        ));
    }
    let (connection, key) = input.with_id(id, None);
    state.connections.save(connection, key).await?;
    let saved = super::one::known(&state, id).await?;
    Ok((StatusCode::CREATED, Json(shown(&state, saved).await)))
}
