use crate::dto::users::{EndedSessions, InvitedUser, User, UserDetail, UserInput, UserPatch};
use crate::response::shown_once;
use crate::routes::prelude::*;
use axum::response::Response;
use steward_core::UserId;
use steward_core::ports::{Role, UserFilter, UserState};

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
struct Wanted {
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
    params(Wanted, Paging), responses((status = 200, description = "By email", body = Page<User>)))]
async fn list(Call(state, caller): Call, Params(wanted): Params<Wanted>, paging: Paging) -> Listed<User> {
    let filter = UserFilter { text: wanted.search, role: wanted.role, state: wanted.state };
    let after = paging.after::<String>()?;
    let page = state.users(&caller, filter, after.as_deref(), paging.limit()).await?;
    Ok(Page::after_last(page, |user| user.email.clone()))
}

/// Invites somebody
///
/// They choose their password with the token, which is shown this once, within 7 days.
#[utoipa::path(post, path = "/api/users", tag = "users", operation_id = "inviteUser",
    request_body = UserInput, responses(
        (status = 201, description = "Invited", body = InvitedUser),
        (status = 409, description = "Somebody has this email")))]
async fn invite(Call(state, caller): Call, Body(input): Body<UserInput>) -> Result<Response, Problem> {
    let invited = state.invite_user(&caller, input).await?;
    Ok(invitation(StatusCode::CREATED, invited))
}

/// One user, with the number of their logins.
#[utoipa::path(get, path = "/api/users/{id}", tag = "users", operation_id = "getUser",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = UserDetail)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Answer<UserDetail> {
    Ok(Json(state.user(&caller, id).await?))
}

/// Changes name or role, disables or enables
///
/// In force at their next request. Nobody changes their own role, and an administrator who can log in always remains.
#[utoipa::path(patch, path = "/api/users/{id}", tag = "users", operation_id = "changeUser",
    params(("id" = Uuid, Path)), request_body = UserPatch, responses(
        (status = 200, description = "Changed", body = User),
        (status = 409, description = "It is the caller's own, the last administrator's, or built in")))]
async fn change(Call(state, caller): Call, PathId(id): PathId<UserId>, Body(patch): Body<UserPatch>) -> Answer<User> {
    Ok(Json(state.change_user(&caller, id, patch).await?))
}

/// Removes a user for good, with their keys and budgets; their runs stay
///
/// Only somebody who is disabled, or has not accepted their invitation.
#[utoipa::path(delete, path = "/api/users/{id}", tag = "users", operation_id = "removeUser",
    params(("id" = Uuid, Path)), responses(
        (status = 204, description = "Removed"),
        (status = 409, description = "They are active")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Done {
    done(state.remove_user(&caller, id).await)
}

/// Makes a new invitation
///
/// The one before is good no more. For somebody who has a password it is the way to choose another.
#[utoipa::path(post, path = "/api/users/{id}/invitation", tag = "users", operation_id = "renewInvitation",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "The new one", body = InvitedUser),
        (status = 409, description = "They are disabled")))]
async fn renew_invitation(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Result<Response, Problem> {
    let invited = state.renew_invitation(&caller, id).await?;
    Ok(invitation(StatusCode::OK, invited))
}

/// Ends all logins of a user; their keys stay good.
#[utoipa::path(post, path = "/api/users/{id}/sessions/end", tag = "users", operation_id = "endUserSessions",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Ended", body = EndedSessions)))]
async fn end_sessions(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Answer<EndedSessions> {
    Ok(Json(state.end_user_sessions(&caller, id).await?))
}

/// Ends the second factor of a user, for somebody who has lost app and recovery codes.
#[utoipa::path(delete, path = "/api/users/{id}/second-factor", tag = "users", operation_id = "resetSecondFactor",
    params(("id" = Uuid, Path)), responses(
        (status = 204, description = "Ended"),
        (status = 404, description = "They have none")))]
async fn reset_second_factor(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Done {
    done(state.reset_second_factor(&caller, id).await)
}

fn invitation(status: StatusCode, invited: InvitedUser) -> Response {
    let kept = invited.clone().without_token();
    shown_once(status, invited, &kept)
}
