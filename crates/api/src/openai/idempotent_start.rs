//! Beginning a run under `/v1`, once for each `Idempotency-Key`.

use crate::gateway::Inbound;
use crate::guard::idempotency_key;
use crate::openai::OpenAiError;
use crate::tenant_app::TenantApp;
use axum::http::StatusCode;
use steward_app::{Caller, RunRequest};
use steward_core::RunId;
use steward_core::hash::sha256_of;
use steward_core::ports::Remembered;

/// Starts the run, or finds the one that the same request with the same key began.
pub(crate) async fn begin(
    state: &TenantApp,
    caller: &Caller,
    inbound: &Inbound,
    path: &'static str,
    request: RunRequest,
) -> Result<RunId, OpenAiError> {
    let Some(key) = idempotency_key(&inbound.headers).map_err(invalid)? else {
        return Ok(state.start_run(caller, request).await?);
    };
    let owner = caller.principal.user.to_string();
    let hash = sha256_of([path.as_bytes(), b"\n", &inbound.body]);
    match state.begin_request(&owner, &key, &hash).await? {
        Remembered::New => {}
        Remembered::Done { body, .. } => return body.parse().map_err(|_| other_request()),
        Remembered::Other => return Err(other_request()),
        Remembered::Begun => {
            return Err(OpenAiError {
                status: StatusCode::CONFLICT,
                code: "idempotency_in_progress",
                headers: vec![("retry-after", "1".to_owned())],
                ..invalid("a request with this idempotency key is being started; ask again in a moment")
            });
        }
    }
    match state.start_run(caller, request).await {
        Ok(run) => {
            state.remember_request(&owner, &key, (200, &run.to_string()), None).await?;
            Ok(run)
        }
        Err(error) => {
            state.forget_request(&owner, &key).await?;
            Err(error.into())
        }
    }
}

fn invalid(message: impl Into<String>) -> OpenAiError {
    OpenAiError::invalid(message, "Idempotency-Key")
}

fn other_request() -> OpenAiError {
    OpenAiError {
        code: "idempotency_mismatch",
        ..invalid("this idempotency key was used for another request; take a new key for each request")
    }
}
