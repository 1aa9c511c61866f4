mod caller;
mod client;
mod cookies;
mod dto;
mod oidc;
mod second_factor;

use crate::ApiState;
use crate::extract::{Body, Listed, Page, Paging, PathId};
use crate::guard::AuditNote;
use crate::operations::routes;
use crate::problem::{Answer, Done, Problem, done};
use crate::tenant_app::TenantApp;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use cookies::{clear_cookie, cookie_token, set_cookie};
use dto::{
    AcceptedInvitation, ApiKey, AuthStatus, DirectoryLogin, Login, LoginSessionView, Me, NewPassword, PendingLogin,
    Session, SetUp,
};
use serde::Serialize;
use steward_app::{AcceptInvitation, AccessError, Caller, LogIn, OpenSession, claimed_tenant};
use steward_core::TenantId;
use steward_core::ports::LoginError;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(crate) use caller::{Call, DialectCaller, app_of_bearer, caller_of, identify, identify_provider};
pub(crate) use client::Client;
pub(crate) use cookies::{clear_mcp_login, mcp_login_cookie, set_mcp_login};

pub(crate) fn auth_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(login))
        .routes(routes!(directory_login))
        .routes(routes!(refresh))
        .routes(routes!(logout))
        .routes(routes!(status))
        .routes(routes!(set_up))
        .routes(routes!(accept_invitation))
        .routes(routes!(me))
        .routes(routes!(list_sessions))
        .routes(routes!(end_session))
        .routes(routes!(change_password))
        .routes(routes!(make_key, remove_key))
        .merge(oidc::oidc_routes())
        .merge(second_factor::second_factor_routes())
}

/// Log in
///
/// Gives an access token, and the cookie that prolongs it. Who is not a user with this password may be somebody of the
/// directory, if there is one. Where a second factor is needed, the answer is 202 with a challenge for the second step.
/// Five wrong passwords close an email for 15 minutes.
#[utoipa::path(
    post, path = "/api/auth/login", tag = "auth", operation_id = "login", security(()),
    request_body = Login,
    responses((status = 200, description = "Logged in", body = Session),
              (status = 202, description = "The password is right; a code is needed", body = PendingLogin),
              (status = 401, description = "Email or password is wrong"),
              (status = 429, description = "Too many attempts"))
)]
async fn login(State(state): State<ApiState>, client: Client, Body(body): Body<Login>) -> Response {
    let login = LogIn { email: &body.email, password: &body.password, client: client.address, label: &client.label };
    let Some(app) = state.app_named(body.tenant.as_deref()) else {
        return unknown_tenant(&state, body.tenant.as_deref(), login, &client).await;
    };
    first_step(app.tenant(), app.access.log_in(login).await, &body.email, &client)
}

/// Log in by the directory
///
/// Only accounts of the directory (LDAP, Active Directory) are looked at. All else is as with `POST /api/auth/login`.
#[utoipa::path(
    post, path = "/api/auth/login/ad", tag = "auth", operation_id = "directoryLogin", security(()),
    request_body = DirectoryLogin,
    responses((status = 200, description = "Logged in", body = Session),
              (status = 202, description = "The password is right; a code is needed", body = PendingLogin),
              (status = 401, description = "Name or password is wrong, or there is no directory"),
              (status = 429, description = "Too many attempts"))
)]
async fn directory_login(State(state): State<ApiState>, client: Client, Body(body): Body<DirectoryLogin>) -> Response {
    let login = LogIn { email: &body.username, password: &body.password, client: client.address, label: &client.label };
    let Some(app) = state.app_named(body.tenant.as_deref()) else {
        return unknown_tenant(&state, body.tenant.as_deref(), login, &client).await;
    };
    first_step(app.tenant(), app.access.log_in_by_directory(login).await, &body.username, &client)
}

async fn unknown_tenant(state: &ApiState, tenant: Option<&str>, login: LogIn<'_>, client: &Client) -> Response {
    let refused = state.installation().access.refuse_log_in(tenant.unwrap_or_default(), login).await;
    first_step(TenantId::DEFAULT, Err(refused), login.email, client)
}

/// What became of a password.
fn first_step(tenant: TenantId, done: Result<OpenSession, LoginError>, typed: &str, client: &Client) -> Response {
    match done {
        Ok(open) => {
            (Extension(AuditNote::login(&open.user)), with_cookie(open, client, |session| session)).into_response()
        }
        Err(LoginError::SecondFactor(challenge)) => {
            let note = AuditNote::of(challenge.email.clone(), challenge.user).in_tenant(tenant);
            let note = note.reason("a code of the second factor is needed");
            (StatusCode::ACCEPTED, Extension(note), Json(PendingLogin::from(*challenge))).into_response()
        }
        Err(error) => (Extension(AuditNote::typed(typed).in_tenant(tenant)), Problem::from(error)).into_response(),
    }
}

/// Prolong a login
///
/// Takes the cookie, gives a new access token and turns the cookie over. Needs the header `X-Steward: 1`,
/// which other sites can't send.
#[utoipa::path(
    post, path = "/api/auth/refresh", tag = "auth", operation_id = "refresh", security(()),
    params(("X-Steward" = String, Header, description = "Always `1`")),
    responses((status = 200, description = "Prolonged", body = Session),
              (status = 401, description = "The cookie is missing, or its session has ended"),
              (status = 403, description = "`X-Steward` is missing"))
)]
async fn refresh(State(state): State<ApiState>, client: Client, headers: HeaderMap) -> Result<Response, Problem> {
    own_page(&headers)?;
    let (token, app) = cookie_app(&state, &headers);
    let opened = match token.zip(app.as_ref()) {
        Some((token, app)) => app.access.refresh(token).await,
        None => Err(LoginError::Token),
    };
    match opened {
        Ok(open) => Ok(with_cookie(open, &client, |session| session).into_response()),
        Err(LoginError::Stolen { user, email }) => {
            let tenant = app.map_or(TenantId::DEFAULT, |app| app.tenant());
            let note = AuditNote::of(email, user).reason("an old token was used again: the session was ended");
            let note = note.in_tenant(tenant);
            Ok((Extension(note), session_ended(&client)).into_response())
        }
        Err(LoginError::Token) => Ok(session_ended(&client).into_response()),
        Err(error) => Err(error.into()),
    }
}

/// The token of the login's cookie, and the application of the tenant that it names.
fn cookie_app<'h>(state: &ApiState, headers: &'h HeaderMap) -> (Option<&'h str>, Option<TenantApp>) {
    let token = cookie_token(headers);
    (token, token.and_then(claimed_tenant).and_then(|tenant| state.app_of_tenant(tenant)))
}

fn session_ended(client: &Client) -> impl IntoResponse + use<> {
    let problem =
        Problem::new(StatusCode::UNAUTHORIZED, "the login has ended", "log in again with POST /api/auth/login")
            .code("session_ended");
    ([(header::SET_COOKIE, clear_cookie(client.https))], problem)
}

/// Log out
///
/// Ends the session of the cookie; its access tokens end with it. Needs the header `X-Steward: 1`.
#[utoipa::path(
    post, path = "/api/auth/logout", tag = "auth", operation_id = "logout", security(()),
    params(("X-Steward" = String, Header, description = "Always `1`")),
    responses((status = 204, description = "Logged out"),
              (status = 403, description = "`X-Steward` is missing"))
)]
async fn logout(State(state): State<ApiState>, client: Client, headers: HeaderMap) -> Result<Response, Problem> {
    own_page(&headers)?;
    let (token, app) = cookie_app(&state, &headers);
    let ended = match token.zip(app.as_ref()) {
        Some((token, app)) => app.access.log_out(token).await?.map(|user| (user, app.tenant())),
        None => None,
    };
    let note = ended.map(|(user, tenant)| AuditNote::of(user.email, user.id).in_tenant(tenant)).unwrap_or_default();
    let cookie = [(header::SET_COOKIE, clear_cookie(client.https))];
    Ok((StatusCode::NO_CONTENT, Extension(note), cookie).into_response())
}

/// A session, with its cookie where there is a new one, as the body that `answer` makes of it.
fn with_cookie<T: Serialize>(open: OpenSession, client: &Client, answer: impl FnOnce(Session) -> T) -> Response {
    let cookie = open
        .refresh_token
        .as_deref()
        .map(|token| (header::SET_COOKIE, set_cookie(token, open.refresh_expires_in, client.https)));
    (axum::response::AppendHeaders(cookie), Json(answer(Session::from(open)))).into_response()
}

/// Only our own pages can add a header to a request that carries the cookie.
fn own_page(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.get("x-steward").is_some_and(|value| value.as_bytes() == b"1") {
        return Ok(());
    }
    Err(Problem::forbidden(
        "the header `X-Steward: 1` is missing",
        "send it with requests that carry the login's cookie",
    ))
}

/// What a client must know before a login
#[utoipa::path(
    get, path = "/api/auth/status", tag = "auth", operation_id = "authStatus", security(()),
    responses((status = 200, description = "Whether there is an administrator", body = AuthStatus))
)]
async fn status(State(state): State<ApiState>) -> Answer<AuthStatus> {
    let home = state.installation();
    Ok(Json(AuthStatus {
        needs_setup: home.access.needs_set_up().await?,
        version: home.facts.version.clone(),
        several_tenants: state.tenants.several(),
    }))
}

/// Make the first administrator
///
/// With the one-time token that the terminal shows at the first start. Logs them in.
#[utoipa::path(
    post, path = "/api/auth/setup", tag = "auth", operation_id = "setUp", security(()),
    request_body = SetUp,
    responses((status = 201, description = "Made and logged in", body = Session),
              (status = 403, description = "The token is wrong or used up"),
              (status = 409, description = "Somebody has this email"))
)]
async fn set_up(State(state): State<ApiState>, client: Client, Body(body): Body<SetUp>) -> Response {
    let login = LogIn { email: &body.email, password: &body.password, client: client.address, label: &client.label };
    match state.installation().access.set_up(&body.token, body.name.as_deref(), login).await {
        Ok(open) => {
            let note = AuditNote::login(&open.user);
            (StatusCode::CREATED, Extension(note), with_cookie(open, &client, |session| session)).into_response()
        }
        Err(error) => (Extension(AuditNote::typed(&body.email)), Problem::from(error)).into_response(),
    }
}

/// Accept an invitation
///
/// With the one-time token of the link that an administrator sent. Sets the password and logs in; attempts with a wrong
/// token count like wrong passwords.
#[utoipa::path(
    post, path = "/api/auth/invitation", tag = "auth", operation_id = "acceptInvitation", security(()),
    request_body = AcceptedInvitation,
    responses((status = 200, description = "Accepted and logged in", body = Session),
              (status = 202, description = "Accepted; a code is needed", body = PendingLogin),
              (status = 403, description = "The token is wrong, used up or expired"),
              (status = 429, description = "Too many attempts"))
)]
async fn accept_invitation(
    State(state): State<ApiState>,
    client: Client,
    Body(body): Body<AcceptedInvitation>,
) -> Result<Response, Problem> {
    let accept = AcceptInvitation {
        token: &body.token,
        password: &body.password,
        name: body.name.as_deref(),
        client: client.address,
        label: &client.label,
    };
    // A token that names no tenant of ours is refused by the installation, where it counts.
    let app = claimed_tenant(&body.token).and_then(|tenant| state.app_of_tenant(tenant));
    let app = app.unwrap_or_else(|| state.installation());
    match app.access.accept_invitation(accept).await {
        Ok(open) => Ok(first_step(app.tenant(), Ok(open), "", &client)),
        Err(AccessError::Login(error @ LoginError::SecondFactor(_))) => {
            Ok(first_step(app.tenant(), Err(error), "", &client))
        }
        Err(error) => Err(error.into()),
    }
}

/// Who am I
#[utoipa::path(
    get, path = "/api/auth/me", tag = "auth", operation_id = "me",
    responses((status = 200, description = "The caller", body = Me))
)]
async fn me(caller: Caller) -> Json<Me> {
    Json(caller.account().into())
}

/// List my logins
#[utoipa::path(
    get, path = "/api/auth/sessions", tag = "auth", operation_id = "listSessions", params(Paging),
    responses((status = 200, description = "Newest first", body = Page<LoginSessionView>))
)]
async fn list_sessions(Call(state, caller): Call, paging: Paging) -> Listed<LoginSessionView> {
    let sessions = state.access.sessions(caller.user()).await?;
    let views = sessions.into_iter().map(|session| LoginSessionView::of(session, caller.session)).collect();
    Page::cut(views, &paging)
}

/// End one of my logins
#[utoipa::path(
    delete, path = "/api/auth/sessions/{id}", tag = "auth", operation_id = "endSession",
    params(("id" = Uuid, Path, description = "The login")),
    responses((status = 204, description = "Ended"))
)]
async fn end_session(Call(state, caller): Call, PathId(id): PathId<Uuid>) -> Done {
    if state.access.end_session(caller.user(), id).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Problem::not_found(format!("login {id}")))
}

/// Change my password
///
/// Ends all other logins of the caller.
#[utoipa::path(
    post, path = "/api/auth/password", tag = "auth", operation_id = "changePassword",
    request_body = NewPassword,
    responses((status = 204, description = "Changed"),
              (status = 429, description = "Too many attempts"))
)]
async fn change_password(Call(state, caller): Call, Body(body): Body<NewPassword>) -> Done {
    done(state.access.change_password(caller.user(), caller.session, &body.current, &body.new).await)
}

/// Make my API key
///
/// Shown this once; the one before it ends.
#[utoipa::path(
    post, path = "/api/auth/api-key", tag = "auth", operation_id = "makeApiKey",
    responses((status = 200, description = "The key", body = ApiKey))
)]
async fn make_key(Call(state, caller): Call) -> Answer<ApiKey> {
    let api_key = state.access.make_api_key(caller.user()).await?;
    Ok(Json(ApiKey { api_key }))
}

/// End my API key
#[utoipa::path(
    delete, path = "/api/auth/api-key", tag = "auth", operation_id = "removeApiKey",
    responses((status = 204, description = "Ended"))
)]
async fn remove_key(Call(state, caller): Call) -> Done {
    done(state.access.remove_api_key(caller.user()).await)
}
