//! The caller and their logins.

use super::Person;
use super::dto::{LoginSessionView, Me};
use crate::extract::{Page, Paging, PagingQuery, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use uuid::Uuid;

/// Who am I
#[utoipa::path(
    get, path = "/api/auth/me", tag = "auth", operation_id = "me",
    responses((status = 200, description = "The caller", body = Me))
)]
pub(crate) async fn me(person: Person) -> Json<Me> {
    Json(person.account().into())
}

/// List my logins
#[utoipa::path(
    get, path = "/api/auth/sessions", tag = "auth", operation_id = "listSessions", params(PagingQuery),
    responses((status = 200, description = "Newest first", body = Page<LoginSessionView>))
)]
pub(crate) async fn list(
    State(state): State<ApiState>,
    person: Person,
    paging: Paging,
) -> Result<Page<LoginSessionView>, Problem> {
    let sessions = state.access.sessions(person.user()).await?;
    let views = sessions.into_iter().map(|session| LoginSessionView::of(session, person.session)).collect();
    Page::cut(views, &paging)
}

/// End one of my logins
#[utoipa::path(
    delete, path = "/api/auth/sessions/{id}", tag = "auth", operation_id = "endSession",
    params(("id" = Uuid, Path, description = "The login")),
    responses((status = 204, description = "Ended"))
)]
pub(crate) async fn end(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<Uuid>,
) -> Result<StatusCode, Problem> {
    if state.access.end_session(person.user(), id).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Problem::not_found(format!("login {id}")))
}
