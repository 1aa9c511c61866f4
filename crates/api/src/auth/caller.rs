use super::client::Client;
use crate::ApiState;
use crate::headers::{bearer, text};
use crate::openai::OpenAiError;
use crate::problem::Problem;
use crate::tenant_app::TenantApp;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use futures::FutureExt as _;
use steward_app::{Caller, Identity, ScimCaller, claimed_tenant};
use steward_core::ports::LoginError;

const CLIENT: &str = "x-steward-client";
/// By which a program with a token of a provider names its tenant.
const TENANT: &str = "x-steward-tenant";

/// What nearly every handler takes: the application of the caller's tenant, and who calls it.
pub(crate) struct Call(pub TenantApp, pub Caller);

impl FromRequestParts<ApiState> for Call {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let (app, identity) = identify(parts, state).await?;
        Ok(Self(app, caller_of(identity, parts)))
    }
}

/// Errors are in OpenAI's shape, and calls of virtual keys are counted.
pub(crate) struct DialectCaller(pub TenantApp, pub Caller);

pub(crate) fn caller_of(identity: Identity, parts: &Parts) -> Caller {
    let command_line = parts.headers.get(CLIENT).is_some_and(|name| name == "cli");
    Caller::new(identity, command_line).at(Client::address_of(parts))
}

/// The application of the tenant that a token names.
pub(crate) fn app_of_bearer(state: &ApiState, headers: &HeaderMap, bearer: &str) -> Result<TenantApp, LoginError> {
    let app = match claimed_tenant(bearer) {
        Some(tenant) => state.app_of_tenant(tenant),
        // A token of another program knows nothing of tenants.
        None => state.app_named(text(headers, TENANT)),
    };
    app.ok_or(LoginError::Token)
}

/// The provider whose token it is, and the application of its tenant. Looked up once per request, kept with it.
pub(crate) async fn identify_provider(
    parts: &mut Parts,
    state: &ApiState,
) -> Result<(TenantApp, ScimCaller), LoginError> {
    let bearer = bearer(&parts.headers).ok_or(LoginError::Token)?;
    let app = app_of_bearer(state, &parts.headers, bearer)?;
    if let Some(known) = parts.extensions.get::<ScimCaller>() {
        return Ok((app, known.clone()));
    }
    let client = Client::of_request(parts);
    let base = format!("{}/scim/v2", client.origin(&state.hosts.get(), &parts.headers));
    let caller = app.scim_caller(bearer, client.address, base).await?;
    parts.extensions.insert(caller.clone());
    Ok((app, caller))
}

/// Whom the bearer token belongs to, and the application of their tenant. Looked up once per request, kept with it.
pub(crate) async fn identify(parts: &mut Parts, state: &ApiState) -> Result<(TenantApp, Identity), LoginError> {
    if let Some(known) = parts.extensions.get::<Identity>() {
        return Ok((state.app_of(known)?, known.clone()));
    }
    let bearer = bearer(&parts.headers).ok_or(LoginError::Token)?;
    let app = app_of_bearer(state, &parts.headers, bearer)?;
    let identity = app.access.identify(bearer).boxed().await?;
    let path = parts.uri.path();
    if identity.principal.key.is_some() && !path.starts_with("/v1/") && path != "/mcp" {
        return Err(LoginError::VirtualKey);
    }
    parts.extensions.insert(identity.clone());
    Ok((app, identity))
}

impl FromRequestParts<ApiState> for DialectCaller {
    type Rejection = OpenAiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, OpenAiError> {
        let known = identify(parts, state).await;
        let (app, identity) = known.map_err(|error| OpenAiError::unauthorized(&error, &parts.headers))?;
        if let Some(key) = &identity.principal.key
            && !parts.method.is_safe()
        {
            let admitted = app.usage_writer.limiter().admit(key, app.now());
            admitted.map_err(|too| OpenAiError::too_many(too.message, too.wait_s))?;
        }
        Ok(Self(app, caller_of(identity, parts)))
    }
}

impl FromRequestParts<ApiState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let (_, identity) = identify(parts, state).await?;
        Ok(caller_of(identity, parts))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::caller_of;
    use axum::http::Request;
    use std::sync::Arc;
    use steward_access::LOCAL_USER;
    use steward_app::Identity;
    use steward_core::event::Origin;
    use steward_core::ports::{Principal, Role};
    use steward_core::{TenantId, UserId};
    use uuid::Uuid;

    #[test]
    fn the_command_line_says_so_in_a_header() {
        for (client, origin) in [("cli", Origin::Cli), ("curl", Origin::Api), ("", Origin::Api)] {
            let user = UserId(Uuid::from_u128(1));
            let principal =
                Principal { tenant: TenantId::DEFAULT, user, name: String::new(), role: Role::Operator, key: None };
            let identity =
                Identity { principal, email: LOCAL_USER.to_owned(), session: None, permissions: Arc::default() };
            let request = Request::builder().header("x-steward-client", client).body(()).unwrap();
            assert_eq!(caller_of(identity, &request.into_parts().0).origin, origin, "{client:?}");
        }
    }
}
