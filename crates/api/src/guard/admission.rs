//! What is looked at before a body is read: who sends it, whether their role may ever send one there, and whether it is too
//! long. What depends on a single agent, document or run, the handlers find out.

use super::body_budget::{BodyOwner, BodyRefusal};
use super::request_body::RequestBody;
use super::{MAX_STRANGER_BODY, body_limit};
use crate::ApiState;
use crate::auth::{caller_of, identify, identify_provider};
use crate::extract::too_long;
use crate::headers::bearer;
use crate::hook_door::MAX_HOOK_BODY;
use crate::openai::{OpenAiError, may_ask};
use crate::problem::Problem;
use crate::scim::refused_scim;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use steward_app::{Caller, Identity, ScimError, require_role};
use steward_core::ports::Role;

/// The lowest role whose bodies are read, by the beginning of a route; the first that fits counts. Bodies of developers and
/// all above them are read where nothing fits. What `docs/permissions.md` says is the truth: a test compares.
const LOWEST_ROLES: [(Role, &[&str]); 4] = [
    (
        Role::Viewer,
        &[
            "/api/auth",
            "/api/agents/preview",
            // What an agent keeps for them, and their reminders, are everybody's own.
            "/api/agents/{id}/database",
            "/api/agents/{id}/memory",
            "/api/agents/{id}/notes",
            "/api/reminders",
            "/api/data-governance/check",
            "/api/data-governance/mask",
            "/api/data-governance/unmask",
            "/api/routing/preview",
            "/api/domains/query",
            "/api/domains/search",
            "/api/graphql",
        ],
    ),
    (Role::Developer, &["/api/access/{kind}", "/api/agents/{id}/import-metatron", "/api/mcp/servers/{id}/login"]),
    (
        Role::Operator,
        &[
            "/api/agents",
            "/api/budgets",
            "/api/connections",
            "/api/credentials",
            "/api/datasources",
            "/api/documents/batch-scan",
            "/api/documents/register-path",
            "/api/domains",
            "/api/mcp/servers",
            "/api/skills/hosts",
            "/api/skills/import-package",
            "/api/skills/packages",
            "/api/standing-instructions",
            "/api/universal-agents/{id}/import-skill-pack",
            "/api/universal-agents/{id}/skills:create_and_attach",
            "/api/verified-questions",
        ],
    ),
    (
        Role::Admin,
        &[
            "/api/access/defaults",
            "/api/admin",
            "/api/audit",
            "/api/backups",
            "/api/data-governance",
            "/api/groups",
            "/api/identity",
            "/api/policies",
            "/api/tenants",
            "/api/users",
        ],
    ),
];

/// The request, once it is clear that its body may be read; else the answer.
pub(super) async fn admit(state: &ApiState, request: Request, sent: &RequestBody) -> Result<Request, Response> {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let (mut parts, body) = request.into_parts();
    let mut most = MAX_STRANGER_BODY;
    let mut known = false;
    // Who calls a webhook shows it by a signature of the body, which is read first.
    let hook = parts.uri.path().starts_with("/hooks/");
    if hook {
        most = MAX_HOOK_BODY;
    } else if parts.uri.path().starts_with("/scim/") {
        if let Ok((app, _)) = identify_provider(&mut parts, state).await {
            sent.set_owner(BodyOwner::Provider(app.tenant()));
            known = true;
        }
    } else if (bearer(&parts.headers).is_some() || parts.extensions.get::<Identity>().is_some())
        && let Ok((_, identity)) = identify(&mut parts, state).await
    {
        sent.set_owner(BodyOwner::User(identity.principal.user));
        known = true;
        // What is at no route is answered as such, and what only reads has no body that counts.
        if !matches!(parts.method, Method::GET | Method::HEAD)
            && let Some(route) = route.filter(|route| !route.as_str().contains('*'))
            && let Some(refusal) = refuse_role(&caller_of(identity, &parts), route.as_str())
        {
            return Err(refusal);
        }
    }
    // Logins are short, whoever sends them.
    let login = parts.uri.path().starts_with("/api/auth/");
    if known && !login {
        most = body_limit(parts.uri.path());
    }
    // Those whom nobody knows, handlers refuse without reading, but for logins.
    let counts = known || login || hook;
    if counts && sent.length.is_some_and(|length| length > most) {
        return Err(refuse_too_long(&parts, most));
    }
    let mut request = Request::from_parts(parts, body);
    DefaultBodyLimit::max(most).apply(&mut request);
    Ok(request)
}

/// `None`: bodies of theirs may be read there.
fn refuse_role(caller: &Caller, route: &str) -> Option<Response> {
    if route.starts_with("/v1/") {
        return may_ask(caller).err().map(IntoResponse::into_response);
    }
    if !route.starts_with("/api/") {
        return None;
    }
    require_role(caller, lowest_role(route)).err().map(|error| Problem::from(error).into_response())
}

fn lowest_role(route: &str) -> Role {
    let fits = |begin: &str| route.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut rules = LOWEST_ROLES.iter();
    rules.find(|(_, routes)| routes.iter().any(|begin| fits(begin))).map_or(Role::Developer, |(role, _)| *role)
}

/// In the dialect of the path.
fn refuse_too_long(parts: &Parts, most: usize) -> Response {
    let path = parts.uri.path();
    if path.starts_with("/v1/") {
        let text = format!("the body is too long: {} MiB are the most", most >> 20);
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        return OpenAiError { status, ..OpenAiError::invalid(text, "body") }.into_response();
    }
    if path.starts_with("/scim/") {
        return refused_scim(&ScimError::new(413, "the body is too long"));
    }
    if path.starts_with("/hooks/") {
        let title = format!("the body is too long: {} MiB are the most", most >> 20);
        let hint = "have the sender send less, or only what has changed";
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, title, hint).into_response();
    }
    too_long().into_response()
}

/// In the place of whatever a handler made of a body that could not be read.
pub(crate) fn refuse_body(path: &str, refusal: BodyRefusal) -> Response {
    let what = match refusal {
        BodyRefusal::OverShare => "too many of your requests send their bodies at the same time",
        BodyRefusal::Full => "too many requests send their bodies at the same time",
    };
    let (status, wait) = (StatusCode::TOO_MANY_REQUESTS, 2);
    let mut response = if path.starts_with("/v1/") {
        OpenAiError::too_many(format!("{what}; send it again in a moment, fewer at a time"), wait).into_response()
    } else if path.starts_with("/scim/") {
        refused_scim(&ScimError::new(status.as_u16(), format!("{what}; send it again in a moment")))
    } else {
        Problem::new(status, what, "send it again in a moment, fewer at a time")
            .code("bodies_at_once")
            .retry_after(wait)
            .into_response()
    };
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
    response
}

#[cfg(test)]
mod tests {
    use super::lowest_role;
    use steward_core::ports::Role;

    #[test]
    fn the_first_rule_that_fits_counts() {
        for (route, role) in [
            ("/api/files", Role::Developer),
            ("/api/agents", Role::Operator),
            ("/api/agents/{id}", Role::Operator),
            ("/api/agents/{id}/import-metatron", Role::Developer),
            ("/api/agents/{id}/database/query", Role::Viewer),
            ("/api/agents-of-old", Role::Developer),
            ("/api/data-governance/mask", Role::Viewer),
            ("/api/data-governance/policies", Role::Admin),
            ("/api/access/defaults", Role::Admin),
        ] {
            assert_eq!(lowest_role(route), role, "{route}");
        }
    }
}
