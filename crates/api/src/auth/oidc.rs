//! Logins with a provider of OpenID Connect: the browser goes there and comes back, so that answers are ways on, not data.

use super::client::Client;
use super::cookies::{clear_kept, kept_cookie, set_cookie, set_kept};
use crate::ApiState;
use crate::extract::{Params, PathName};
use crate::guard::AuditNote;
use crate::operations::routes;
use crate::problem::{Answer, Problem};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use steward_app::dto::identity::OfferedLogins;
use steward_app::{Arrival, SignOnError, claimed_tenant};
use steward_core::TenantId;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

/// Longest part of what comes back.
const MOST: usize = 8192;

pub(super) fn oidc_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(start)).routes(routes!(callback))
}

/// Where somebody logs in.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct At {
    /// The slug of the organisation; the installation's own if left out.
    #[serde(default)]
    #[param(nullable = false, max_length = 40)]
    tenant: Option<String>,
}

/// List the ways to log in, beside a password of Steward
#[utoipa::path(
    get, path = "/api/auth/oidc", tag = "auth", operation_id = "offeredLogins", security(()), params(At),
    responses((status = 200, description = "For the page of logins", body = OfferedLogins))
)]
async fn list(State(state): State<ApiState>, Params(at): Params<At>) -> Answer<OfferedLogins> {
    // Who guesses a slug is told the same as for one that offers nothing.
    match state.app_named(at.tenant.as_deref()) {
        Some(app) => Ok(Json(app.offered_logins().await?)),
        None => Ok(Json(OfferedLogins { providers: Vec::new(), directory: None })),
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// The path of the studio to come back to.
    #[serde(default)]
    next: Option<String>,
    /// The slug of the organisation; the installation's own if left out.
    #[serde(default)]
    #[param(nullable = false, max_length = 40)]
    tenant: Option<String>,
}

/// Begin a login with a provider
///
/// For browsers: the answer leads to the provider, or back to the page of logins with the reason as `sign_on`.
#[utoipa::path(
    get, path = "/api/auth/oidc/{name}/start", tag = "auth", operation_id = "beginSignOn", security(()),
    params(("name" = String, Path, description = "The provider"), Wanted),
    responses((status = 303, description = "Where the browser goes on"))
)]
async fn start(
    State(state): State<ApiState>,
    PathName(name): PathName,
    Params(wanted): Params<Wanted>,
    client: Client,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let back = redirect_uri(&state, &headers, &client, &name);
    let begun = match state.app_named(wanted.tenant.as_deref()) {
        Some(app) => app.access.begin_sign_on(&name, &back, wanted.next.as_deref()).await,
        None => Err(SignOnError::NoProvider),
    };
    Ok(match begun {
        Ok(departure) => {
            let cookie = set_kept(&departure.cookie, departure.expires_in, client.https);
            let headers = AppendHeaders([(header::SET_COOKIE, cookie)]);
            (headers, see_other(&departure.location)).into_response()
        }
        Err(error) => see_other(&page_of(&error)).into_response(),
    })
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Back {
    /// By which the login is known.
    #[serde(default)]
    state: Option<String>,
    /// For which the provider gives the tokens.
    #[serde(default)]
    code: Option<String>,
    /// Why the provider gives none.
    #[serde(default)]
    error: Option<String>,
    /// Who the provider says it is.
    #[serde(default)]
    iss: Option<String>,
}

/// Where the browser comes back to from a provider
///
/// Begins a session like that of a password and leads to the studio; or back to the page of logins with the reason as
/// `sign_on`.
#[utoipa::path(
    get, path = "/api/auth/oidc/{name}/callback", tag = "auth", operation_id = "finishSignOn", security(()),
    params(("name" = String, Path, description = "The provider"), Back),
    responses((status = 303, description = "Where the browser goes on"))
)]
async fn callback(
    State(state): State<ApiState>,
    PathName(name): PathName,
    Params(back): Params<Back>,
    client: Client,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let redirect_uri = redirect_uri(&state, &headers, &client, &name);
    let short = |text: &Option<String>| text.as_ref().is_none_or(|text| text.len() <= MOST);
    let arrival = Arrival {
        provider: &name,
        redirect_uri: &redirect_uri,
        cookie: kept_cookie(&headers).filter(|cookie| cookie.len() <= MOST),
        state: back.state.as_deref(),
        code: back.code.as_deref(),
        error: back.error.as_deref(),
        issuer: back.iss.as_deref(),
        client: client.address,
        label: &client.label,
    };
    // The cookie says where the login was begun; without one there is none to go on with.
    let tenant = arrival.cookie.and_then(claimed_tenant).unwrap_or(TenantId::DEFAULT);
    let app = state.app_of_tenant(tenant);
    let arrived = match &app {
        Some(app) if [&back.state, &back.code, &back.error, &back.iss].into_iter().all(short) => {
            app.access.finish_sign_on(arrival).await
        }
        _ => Err(SignOnError::State),
    };
    let forget = (header::SET_COOKIE, clear_kept(client.https));
    Ok(match arrived {
        Ok((open, next)) => {
            let note = AuditNote::login(&open.user);
            let token = open.refresh_token.as_deref().unwrap_or_default();
            let session = (header::SET_COOKIE, set_cookie(token, open.refresh_expires_in, client.https));
            let next = if next.is_empty() { "/" } else { &next };
            (Extension(note), AppendHeaders([session, forget]), see_other(next)).into_response()
        }
        Err(error) => {
            let note = AuditNote::default().refused(error.word()).in_tenant(tenant);
            (Extension(note), AppendHeaders([forget]), see_other(&page_of(&error))).into_response()
        }
    })
}

/// The page of logins, which tells why.
fn page_of(error: &SignOnError) -> String {
    format!("/login?sign_on={}", error.word())
}

/// No page keeps the address with the code, and none is told it.
fn see_other(location: &str) -> impl IntoResponse + use<> {
    let headers = [
        (header::LOCATION, location.to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    (StatusCode::SEE_OTHER, headers)
}

/// Our own address by the name that the browser uses. The provider knows which ones are ours.
fn redirect_uri(state: &ApiState, headers: &HeaderMap, client: &Client, name: &str) -> String {
    let origin = client.origin(&state.hosts.get(), headers);
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC).to_string().replace("%2D", "-");
    format!("{origin}/api/auth/oidc/{name}/callback")
}
