//! `POST /api/files`.

use crate::auth::Person;
use crate::dto::conversation::Uploaded;
use crate::extract::{Params, too_long};
use crate::guard::MAX_UPLOAD;
use crate::problem::Problem;
use crate::routes::upload::{Upload, safe_name};
use crate::state::ApiState;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use futures::StreamExt;
use serde::Deserialize;
use std::path::Path;
use steward_core::ports::Role;
use utoipa::IntoParams;

/// What to call it.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Name {
    /// The file's name; folders and odd characters in it are left out.
    #[param(min_length = 1, max_length = 255)]
    name: String,
}

/// The bytes of a file, for the document.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema counts")]
pub(crate) struct FileBody(Vec<u8>);

/// Puts a file into the folder `uploads` of the workspace, up to 20 MB. Nothing is overwritten: a
/// second `x.csv` becomes `x-2.csv`.
#[utoipa::path(post, path = "/api/files", tag = "files", operation_id = "uploadFile", params(Name),
    request_body(content = inline(FileBody), content_type = "application/octet-stream"),
    responses((status = 201, description = "Where it is", body = Uploaded)))]
pub(crate) async fn upload(
    State(state): State<ApiState>,
    person: Person,
    Params(query): Params<Name>,
    request: Request,
) -> Result<(StatusCode, Json<Uploaded>), Problem> {
    person.may(Role::Developer)?;
    let mut upload = Upload::begin(Path::new(&state.workspace), &safe_name(&query.name)?)?;
    let mut bytes = 0u64;
    let mut body = request.into_body().into_data_stream();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|error| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                format!("the file did not arrive whole: {error}"),
                "send it again",
            )
        })?;
        bytes += piece.len() as u64;
        if bytes > MAX_UPLOAD as u64 {
            return Err(too_long());
        }
        upload.write(piece).await?;
    }
    let path = upload.finish().await?;
    Ok((StatusCode::CREATED, Json(Uploaded { path, bytes })))
}
