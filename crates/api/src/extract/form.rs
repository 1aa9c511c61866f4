//! Files that are sent: as the body itself, or in a form (`multipart/form-data`).

use super::{broken_off, file_of, limited, whole};
use crate::guard::MAX_FORM;
use crate::headers::content_type;
use crate::problem::Problem;
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::StatusCode;
use futures::TryStreamExt as _;

/// The field of a form that holds the file.
pub(crate) const FILE: &str = "file";
/// Longest text of a field beside the file, bytes.
const MAX_TEXT: usize = 4 << 10;

pub(crate) fn is_form(request: &Request) -> bool {
    content_type(request.headers()) == "multipart/form-data"
}

pub(crate) async fn form_of(request: Request) -> Result<Multipart, Problem> {
    Multipart::from_request(request, &()).await.map_err(|error| broken_off("form", error))
}

/// The next field of a form.
pub(crate) async fn next_field(form: &mut Multipart) -> Result<Option<Field<'_>>, Problem> {
    form.next_field().await.map_err(broken)
}

/// Whether a field holds a file: it is called `file`, or has the name of one.
pub(crate) fn holds_file(field: &Field<'_>) -> bool {
    field.name() == Some(FILE) || field.file_name().is_some()
}

/// The name and the text of a field that holds no file.
pub(crate) async fn text_field(field: Field<'_>) -> Result<(String, String), Problem> {
    let name = field.name().unwrap_or_default().to_owned();
    let bytes = whole(limited(field.map_err(broken), MAX_TEXT)).await?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Problem::invalid(&name, format!("the field `{name}` is no text"), "send it as UTF-8"))?;
    Ok((name, text))
}

/// A field that nothing is made of.
pub(crate) fn unknown_field(name: &str, known: &str) -> Problem {
    Problem::invalid(
        name,
        format!("the form has a field `{name}`, which means nothing here"),
        format!("send the file as `{FILE}`, and beside it only {known}"),
    )
}

/// The whole file, up to `most` bytes: the body, or the file of the form.
pub(crate) async fn sent_file(request: Request, most: usize) -> Result<Vec<u8>, Problem> {
    if !is_form(&request) {
        return whole(file_of(request, most)).await;
    }
    let mut form = form_of(request).await?;
    while let Some(field) = next_field(&mut form).await? {
        if holds_file(&field) {
            return whole(limited(field.map_err(broken), most)).await;
        }
    }
    Err(no_file())
}

pub(crate) fn no_file() -> Problem {
    Problem::invalid(
        FILE,
        format!("the form has no field `{FILE}`"),
        format!("send the file as the form's field `{FILE}`, or as the body itself"),
    )
}

pub(crate) fn second_file() -> Problem {
    Problem::invalid(FILE, "the form has more than one file; none was taken", "send each in a request of its own")
}

pub(crate) fn broken(error: MultipartError) -> Problem {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the form is too long",
            format!("a form may have {} MB; send the rest in another request", MAX_FORM >> 20),
        );
    }
    broken_off("form", error)
}
