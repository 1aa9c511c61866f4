//! `/api/connections/{id}`.

use super::check::check;
use crate::auth::Person;
use crate::dto::connection::{Connection, ConnectionInput, ConnectionTest};
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::ConnectionId;
use steward_core::ports::{KnownConnection, Role};

/// The connection of this id.
pub(super) async fn known(state: &ApiState, id: ConnectionId) -> Result<KnownConnection, Problem> {
    let all = state.connections.list().await;
    all.into_iter()
        .find(|known| known.connection.id == id)
        .ok_or_else(|| Problem::not_found(format!("connection {id}")))
}

/// The connection with what is known of its model's price and exam.
pub(super) async fn shown(state: &ApiState, known: KnownConnection) -> Connection {
    let price = state.gateway.price(&known.connection);
    let exam = state.examiner.report(known.connection.id).await;
    Connection { known_price: price, exam: exam.as_ref().map(Into::into), ..known.into() }
}

/// The same, if it can be changed here.
async fn editable(state: &ApiState, id: ConnectionId) -> Result<KnownConnection, Problem> {
    let known = known(state, id).await?;
    if known.from == "saved" {
        return Ok(known);
    }
    Err(Problem::conflict(
        "fixed",
        format!("`{}` was found by itself ({}) and can't be changed here", known.connection.name, known.from),
        "change it where it was found, or add a connection of your own",
    ))
}

/// Replaces a saved connection; in force at the next run.
#[utoipa::path(put, path = "/api/connections/{id}", tag = "connections", operation_id = "replaceConnection",
    params(("id" = Uuid, Path)), request_body = ConnectionInput,
    responses((status = 200, description = "Found", body = Connection)))]
pub(crate) async fn replace(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConnectionId>,
    Body(input): Body<ConnectionInput>,
) -> Result<Json<Connection>, Problem> {
    person.may(Role::Operator)?;
    let before = editable(&state, id).await?;
    check(&input)?;
    let (connection, key) = input.with_id(id, Some(before.connection.capabilities));
    state.connections.save(connection, key).await?;
    let saved = known(&state, id).await?;
    Ok(Json(shown(&state, saved).await))
}

/// Removes a saved connection.
#[utoipa::path(delete, path = "/api/connections/{id}", tag = "connections", operation_id = "deleteConnection",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConnectionId>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    editable(&state, id).await?;
    state.connections.remove(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Uses a connection where nothing else is said.
#[utoipa::path(post, path = "/api/connections/{id}/default", tag = "connections", operation_id = "defaultConnection",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
pub(crate) async fn make_default(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConnectionId>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    known(&state, id).await?;
    state.connections.set_default(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Asks for one short reply. A connection that fails is an answer too: `ok` is false.
#[utoipa::path(post, path = "/api/connections/{id}/test", tag = "connections", operation_id = "testConnection",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = ConnectionTest)))]
pub(crate) async fn test(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConnectionId>,
) -> Result<Json<ConnectionTest>, Problem> {
    person.may(Role::Operator)?;
    known(&state, id).await?;
    Ok(Json(state.connections.test(id).await.into()))
}
