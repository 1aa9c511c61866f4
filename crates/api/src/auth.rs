//! The bearer token of a request.

use crate::error::Problem;
use crate::openai::OpenAiError;
use crate::state::ApiState;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use steward_core::ports::{Authenticator, LoginError, Principal};

/// A caller that has proved who they are; errors in OpenAI's shape, for `/v1`.
pub(crate) struct Caller(pub Principal);

/// The same; errors as problem+json.
pub(crate) struct Person(pub Principal);

async fn principal(parts: &Parts, state: &ApiState) -> Result<Principal, LoginError> {
    let bearer = parts
        .headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| {
            value
                .strip_prefix("Bearer ")
                .or_else(|| value.strip_prefix("bearer "))
        })
        .map(str::trim)
        .filter(|token| !token.is_empty())
        .ok_or(LoginError::Token)?;
    state.access.verify(bearer).await
}

impl FromRequestParts<ApiState> for Caller {
    type Rejection = OpenAiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, OpenAiError> {
        principal(parts, state)
            .await
            .map(Self)
            .map_err(|error| OpenAiError::unauthorized(&error))
    }
}

impl FromRequestParts<ApiState> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        Ok(Self(principal(parts, state).await?))
    }
}
