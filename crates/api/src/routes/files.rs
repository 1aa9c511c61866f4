//! `/api/files`: files into the workspace, and out of it. `/api/start` and `/api/sample`: what a new conversation offers.

use crate::dto::files::{FileOrigin, SampleChange, SentFile, Start, Uploaded};
use crate::extract::{
    broken, file_of, form_of, holds_file, is_form, length_of, limited, next_field, no_file, second_file, unknown_field,
};
use crate::guard::{AuditNote, MAX_UPLOAD};
use crate::problem::ProblemBody;
use crate::response::saved_file;
use crate::routes::prelude::*;
use axum::Extension;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use steward_app::FileUpload;
use steward_core::UserId;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(upload, download, remove))
        .routes(routes!(uploads))
        .routes(routes!(origins, clear_origin))
        .routes(routes!(start))
        .routes(routes!(add_sample, remove_sample))
}

/// What to call it; a form's file has a name of its own.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Name {
    /// The file's name; folders and odd characters in it are left out.
    #[param(min_length = 1, max_length = 255, nullable = false)]
    name: Option<String>,
}

/// A file whatever it is, so that a browser runs nothing in it.
pub(super) const OCTETS: &str = "application/octet-stream";

/// The bytes of a file, for the document.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema counts")]
pub(super) struct FileBody(Vec<u8>);

/// A form with a file, for the document.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct FileForm {
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Puts a file into the folder `uploads` of the workspace, up to 20 MB: the body, or the file of a form. Nothing is
/// overwritten: a second `x.csv` becomes `x-2.csv`.
#[utoipa::path(post, path = "/api/files", tag = "files", operation_id = "uploadFile", params(Name),
    request_body(content(
        (inline(FileBody) = "application/octet-stream"), (inline(FileForm) = "multipart/form-data"))),
    responses((status = 201, description = "Where it is", body = Uploaded),
        (status = 507, description = "A quota or the disk is full", body = ProblemBody, content_type = "application/problem+json")))]
async fn upload(Call(state, caller): Call, Params(query): Params<Name>, request: Request) -> Created<Uploaded> {
    if !is_form(&request) {
        let name = query.name.ok_or_else(no_name)?;
        let mut upload = state.begin_upload(&caller, &name, length_of(&request)).await?;
        receive(&mut upload, file_of(request, MAX_UPLOAD)).await?;
        return finished(upload).await;
    }
    let mut form = form_of(request).await?;
    let mut received = None;
    while let Some(field) = next_field(&mut form).await? {
        if !holds_file(&field) {
            return Err(unknown_field(field.name().unwrap_or_default(), "nothing; `?name=` says another name"));
        }
        if received.is_some() {
            return Err(second_file());
        }
        let name = query.name.as_deref().or(field.file_name()).ok_or_else(no_name)?;
        let mut upload = state.begin_upload(&caller, name, None).await?;
        receive(&mut upload, limited(field.map_err(broken), MAX_UPLOAD)).await?;
        received = Some(upload);
    }
    finished(received.ok_or_else(no_file)?).await
}

fn no_name() -> Problem {
    Problem::invalid("name", "the file has no name", "give one, such as ?name=report.pdf")
}

async fn receive(
    upload: &mut FileUpload,
    mut pieces: impl Stream<Item = Result<Bytes, Problem>> + Unpin,
) -> Result<(), Problem> {
    while let Some(piece) = pieces.next().await {
        upload.write(piece?).await?;
    }
    Ok(())
}

async fn finished(upload: FileUpload) -> Created<Uploaded> {
    let (path, bytes) = upload.finish().await?;
    created(Uploaded { path, bytes })
}

/// Whose files.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SentBy {
    /// Only those of this user; operators see those of others.
    #[param(nullable = false)]
    user: Option<UserId>,
}

/// Files that people have sent into the workspace: one's own; for operators, everybody's.
#[utoipa::path(get, path = "/api/files/uploads", tag = "files", operation_id = "listUploads", params(SentBy, Paging),
    responses((status = 200, description = "By path", body = Page<SentFile>)))]
async fn uploads(Call(state, caller): Call, Params(of): Params<SentBy>, paging: Paging) -> Listed<SentFile> {
    let after = paging.after::<String>()?;
    let page = state.uploaded_files(&caller, of.user, after.as_deref(), paging.limit()).await?;
    Ok(Page::after_last(page, |sent| sent.file.path.clone()))
}

/// Which file.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Place {
    /// Its path in the workspace.
    #[param(min_length = 1, max_length = 4096)]
    path: String,
}

/// A file of the workspace, always as bytes to be kept: nothing in it is ever run by a browser.
#[utoipa::path(get, path = "/api/files", tag = "files", operation_id = "downloadFile", params(Place),
    responses(
        (status = 200, description = "Its content", content_type = "application/octet-stream", body = inline(FileBody)),
        (status = 404, description = "There is no such file in the workspace", body = ProblemBody, content_type = "application/problem+json"),
    ))]
async fn download(Call(state, caller): Call, Params(Place { path }): Params<Place>) -> Result<Response, Problem> {
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let (file, bytes) = state.open_file(&caller, path.clone()).await?;
    Ok((Extension(AuditNote::target(path)), saved_file(OCTETS, attachment(&name), file, bytes)).into_response())
}

/// Removes a file of the workspace for good. Whoever sent it may, and operators any.
#[utoipa::path(delete, path = "/api/files", tag = "files", operation_id = "removeFile", params(Place),
    responses(
        (status = 204, description = "Removed"),
        (status = 404, description = "There is no such file in the workspace", body = ProblemBody, content_type = "application/problem+json"),
    ))]
async fn remove(Call(state, caller): Call, Params(Place { path }): Params<Place>) -> Result<Response, Problem> {
    let path = state.remove_file(&caller, path).await?;
    Ok((StatusCode::NO_CONTENT, Extension(AuditNote::target(path))).into_response())
}

/// Which file or folder.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OriginPlace {
    /// Its path as it is listed; empty: the whole workspace.
    #[param(max_length = 4096)]
    path: String,
}

/// Files and folders of the workspace that runs wrote after reading something from outside, or confidential. For operators.
#[utoipa::path(get, path = "/api/files/origins", tag = "files", operation_id = "listFileOrigins",
    responses((status = 200, description = "By path, 5,000 at most", body = Vec<FileOrigin>)))]
async fn origins(Call(state, caller): Call) -> Answer<Vec<FileOrigin>> {
    Ok(Json(state.file_origins(&caller).await?))
}

/// Forgets what is recorded of a file or folder, since a person has read it and answers for it. For operators; where it is
/// confidential, for administrators.
#[utoipa::path(delete, path = "/api/files/origins", tag = "files", operation_id = "clearFileOrigin", params(OriginPlace),
    responses(
        (status = 204, description = "Forgotten"),
        (status = 404, description = "Nothing is recorded of it", body = ProblemBody, content_type = "application/problem+json"),
    ))]
async fn clear_origin(
    Call(state, caller): Call,
    Params(OriginPlace { path }): Params<OriginPlace>,
) -> Result<Response, Problem> {
    state.clear_file_origin(&caller, &path).await?;
    Ok((StatusCode::NO_CONTENT, Extension(AuditNote::target(path))).into_response())
}

/// In which language.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Spoken {
    /// `en`, `de`, `fr` or `es`; English if left out.
    lang: Option<String>,
}

/// What can be tried in this workspace, and whether the sample lies in it.
#[utoipa::path(get, path = "/api/start", tag = "files", operation_id = "start", params(Spoken),
    responses((status = 200, description = "As it is now", body = Start)))]
async fn start(Call(state, caller): Call, Params(query): Params<Spoken>) -> Answer<Start> {
    Ok(Json(state.tries(&caller, query.lang.unwrap_or_default()).await?))
}

/// Adds the sample workspace; nothing is overwritten.
#[utoipa::path(post, path = "/api/sample", tag = "files", operation_id = "addSample",
    responses((status = 200, description = "What was added", body = SampleChange)))]
async fn add_sample(Call(state, caller): Call) -> Answer<SampleChange> {
    Ok(Json(state.add_sample(&caller).await?))
}

/// Removes the files of the sample that nobody has changed.
#[utoipa::path(delete, path = "/api/sample", tag = "files", operation_id = "removeSample",
    responses((status = 200, description = "What was removed", body = SampleChange)))]
async fn remove_sample(Call(state, caller): Call) -> Answer<SampleChange> {
    Ok(Json(state.remove_sample(&caller).await?))
}

/// `attachment` with a name that no header can be cut at (RFC 6266, RFC 8187).
pub(super) fn attachment(name: &str) -> HeaderValue {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');
    let value = format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(name, ENCODED));
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn a_name_can_not_break_out_of_its_header() {
        for (name, header) in [
            ("todo.md", "todo.md"),
            ("Größe 1.md", "Gr%C3%B6%C3%9Fe%201.md"),
            ("a\"; x=\r\nSet-Cookie: b", "a%22%3B%20x%3D%0D%0ASet-Cookie%3A%20b"),
        ] {
            let value = attachment(name);
            assert_eq!(value, format!("attachment; filename*=UTF-8''{header}"));
        }
    }
}
