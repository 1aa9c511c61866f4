use crate::ApiState;
use crate::auth::Call;
use crate::dto::users::{EndedSessions, InvitedUser, User, UserDetail, UserInput, UserPatch};
use crate::extract::{Body, Listed, Page, Paging, PagingQuery, Params, PathId};
use crate::guard::KeptAs;
use crate::problem::{Answer, Done, Problem};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use steward_core::UserId;
use steward_core::ports::{Role, UserFilter, UserState};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, invite))
        .routes(routes!(get, change, remove))
        .routes(routes!(renew_invitation))
        .routes(routes!(end_sessions))
        .routes(routes!(reset_second_factor))
}

/// Which users.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Whose email or name holds this.
    #[param(max_length = 200, nullable = false)]
    search: Option<String>,
    /// With this role.
    #[param(nullable = false)]
    role: Option<Role>,
    /// In this state.
    #[param(nullable = false)]
    state: Option<UserState>,
}

/// Users by email, for administrators.
#[utoipa::path(get, path = "/api/users", tag = "users", operation_id = "listUsers",
    params(Wanted, PagingQuery), responses((status = 200, description = "By email", body = Page<User>)))]
pub(crate) async fn list(Call(state, caller): Call, Params(wanted): Params<Wanted>, paging: Paging) -> Listed<User> {
    let filter = UserFilter { text: wanted.search, role: wanted.role, state: wanted.state };
    let after = paging.after::<String>()?;
    let page = state.users(&caller, filter, after.as_deref(), paging.limit).await?;
    Ok(Page::after_last(page, |user| user.email.clone()))
}

/// Invites somebody
///
/// They choose their password with the token, which is shown this once, within 7 days.
#[utoipa::path(post, path = "/api/users", tag = "users", operation_id = "inviteUser",
    request_body = UserInput, responses(
        (status = 201, description = "Invited", body = InvitedUser),
        (status = 409, description = "Somebody has this email")))]
pub(crate) async fn invite(Call(state, caller): Call, Body(input): Body<UserInput>) -> Result<Response, Problem> {
    let invited = state.invite_user(&caller, input).await?;
    Ok(shown_once(StatusCode::CREATED, invited))
}

/// One user, with the number of their logins.
#[utoipa::path(get, path = "/api/users/{id}", tag = "users", operation_id = "getUser",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = UserDetail)))]
pub(crate) async fn get(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Answer<UserDetail> {
    Ok(Json(state.user(&caller, id).await?))
}

/// Changes name or role, disables or enables
///
/// In force at their next request. Nobody changes their own role, and an administrator who can log in always remains.
#[utoipa::path(patch, path = "/api/users/{id}", tag = "users", operation_id = "changeUser",
    params(("id" = Uuid, Path)), request_body = UserPatch, responses(
        (status = 200, description = "Changed", body = User),
        (status = 409, description = "It is the caller's own, the last administrator's, or built in")))]
pub(crate) async fn change(
    Call(state, caller): Call,
    PathId(id): PathId<UserId>,
    Body(patch): Body<UserPatch>,
) -> Answer<User> {
    Ok(Json(state.change_user(&caller, id, patch).await?))
}

/// Removes a user for good, with their keys and budgets; their runs stay
///
/// Only somebody who is disabled, or has not accepted their invitation.
#[utoipa::path(delete, path = "/api/users/{id}", tag = "users", operation_id = "removeUser",
    params(("id" = Uuid, Path)), responses(
        (status = 204, description = "Removed"),
        (status = 409, description = "They are active")))]
pub(crate) async fn remove(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Done {
    state.remove_user(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a new invitation
///
/// The one before is good no more. For somebody who has a password it is the way to choose another.
#[utoipa::path(post, path = "/api/users/{id}/invitation", tag = "users", operation_id = "renewInvitation",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "The new one", body = InvitedUser),
        (status = 409, description = "They are disabled")))]
pub(crate) async fn renew_invitation(
    Call(state, caller): Call,
    PathId(id): PathId<UserId>,
) -> Result<Response, Problem> {
    let invited = state.renew_invitation(&caller, id).await?;
    Ok(shown_once(StatusCode::OK, invited))
}

/// Ends all logins of a user; their keys stay good.
#[utoipa::path(post, path = "/api/users/{id}/sessions/end", tag = "users", operation_id = "endUserSessions",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Ended", body = EndedSessions)))]
pub(crate) async fn end_sessions(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Answer<EndedSessions> {
    Ok(Json(state.end_user_sessions(&caller, id).await?))
}

/// Ends the second factor of a user, for somebody who has lost app and recovery codes.
#[utoipa::path(delete, path = "/api/users/{id}/second-factor", tag = "users", operation_id = "resetSecondFactor",
    params(("id" = Uuid, Path)), responses(
        (status = 204, description = "Ended"),
        (status = 404, description = "They have none")))]
pub(crate) async fn reset_second_factor(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Done {
    state.reset_second_factor(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The token is kept nowhere, so not with an idempotency key either.
fn shown_once(status: StatusCode, invited: InvitedUser) -> Response {
    let kept = KeptAs(json!(invited.clone().without_token()).to_string());
    (status, Extension(kept), Json(invited)).into_response()
}
