//! Addresses and methods that aren't there.

use crate::openai::OpenAiError;
use crate::problem::Problem;
use axum::http::{Method, StatusCode, Uri};

/// 404 under `/api` and `/docs`.
pub(crate) async fn nothing_here(uri: Uri) -> Problem {
    let shown: String = uri.path().chars().take(120).collect();
    Problem::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {shown}"),
        "GET /docs lists what there is; /api/openapi.json has it for programs",
    )
}

/// 404 under `/v1`, as clients of OpenAI's dialect read it.
pub(crate) async fn nothing_in_the_dialect(uri: Uri) -> OpenAiError {
    let shown: String = uri.path().chars().take(120).collect();
    OpenAiError {
        status: StatusCode::NOT_FOUND,
        code: "unknown_url",
        param: None,
        ..OpenAiError::invalid(
            format!(
                "there is nothing at {shown}; there are /v1/chat/completions, /v1/responses, /v1/completions, \
                 /v1/embeddings and /v1/models"
            ),
            "",
        )
    }
}

/// 405.
pub(crate) async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let shown: String = uri.path().chars().take(120).collect();
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{shown} does not know {method}"),
        "the header `Allow` names the methods that it has; GET /docs explains them",
    )
}
