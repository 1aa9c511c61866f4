//! The archive of a request: as a form's `file`, or as the body itself.

use crate::extract::too_long;
use crate::guard::MAX_UPLOAD;
use crate::problem::Problem;
use axum::body::to_bytes;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::{StatusCode, header};

/// Name of the form's field.
const FIELD: &str = "file";

fn broken(error: impl std::fmt::Display) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, format!("the archive did not arrive whole: {error}"), "send it again")
}

/// The bytes of the archive.
pub(super) async fn archive(request: Request) -> Result<Vec<u8>, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or("");
    if !kind.starts_with("multipart/form-data") {
        let body = to_bytes(request.into_body(), MAX_UPLOAD + 1).await;
        let body = body.map_err(|_| too_long())?;
        return if body.len() > MAX_UPLOAD { Err(too_long()) } else { Ok(body.to_vec()) };
    }
    let mut form = Multipart::from_request(request, &()).await.map_err(broken)?;
    while let Some(mut field) = form.next_field().await.map_err(broken)? {
        if field.name() != Some(FIELD) {
            continue;
        }
        let mut bytes = Vec::new();
        while let Some(piece) = field.chunk().await.map_err(broken)? {
            if bytes.len() + piece.len() > MAX_UPLOAD {
                return Err(too_long());
            }
            bytes.extend_from_slice(&piece);
        }
        return Ok(bytes);
    }
    Err(Problem::invalid(
        FIELD,
        "the form has no field `file`",
        "send the package as the form's field `file`, or as the body itself",
    ))
}
