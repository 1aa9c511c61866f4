//! Requests and answers as `application/scim+json`, errors included.

use crate::ApiState;
use crate::auth::identify_provider;
use crate::tenant_app::TenantApp;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use steward_app::{ScimCaller, ScimError, ScimQuery};

/// A refusal as an answer.
pub(super) struct Refusal(ScimError);

pub(super) type Answered = Result<Response, Refusal>;

impl From<ScimError> for Refusal {
    fn from(error: ScimError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        refused(&self.0)
    }
}

pub(crate) fn refused(error: &ScimError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = answer(status, &error.body());
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/scim+json")];
    (status, kind, body.to_string()).into_response()
}

pub(super) fn found(body: &Value) -> Response {
    answer(StatusCode::OK, body)
}

/// 201, with the address of what was made.
pub(super) fn made(body: &Value) -> Response {
    let mut response = answer(StatusCode::CREATED, body);
    let location = body.pointer("/meta/location").and_then(Value::as_str);
    if let Some(location) = location.and_then(|location| HeaderValue::from_str(location).ok()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

pub(super) fn done() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// The application, and the provider that calls it.
pub(super) struct Provider(pub TenantApp, pub ScimCaller);

impl FromRequestParts<ApiState> for Provider {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Refusal> {
        let (app, caller) = identify_provider(parts, state).await.map_err(ScimError::from)?;
        Ok(Self(app, caller))
    }
}

pub(super) struct Asked(pub ScimQuery);

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let unreadable = |_| ScimError::bad("invalidValue", "the parameters of the address can't be read");
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(unreadable)?;
        Ok(Self(ScimQuery::read(&pairs)?))
    }
}

/// What the address names.
pub(super) struct Named(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Path(id) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| ScimError::new(404, "the address can't be read: write it in UTF-8, percent-encoded"))?;
        Ok(Self(id))
    }
}

/// An object as the body, however it is marked.
pub(super) struct Sent(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let syntax = |detail: String| ScimError::bad("invalidSyntax", detail);
        let bytes = Bytes::from_request(request, state).await.map_err(|error| {
            let too_long = error.status() == StatusCode::PAYLOAD_TOO_LARGE;
            let status = if too_long { 413 } else { 400 };
            ScimError::new(status, if too_long { "the body is too long" } else { "the body could not be read" })
        })?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(body)) => Ok(Self(body)),
            Ok(_) => Err(syntax("the body is not an object".to_owned()).into()),
            Err(error) => Err(syntax(format!("the body is not JSON: {error}")).into()),
        }
    }
}
