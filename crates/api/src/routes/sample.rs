//! What a new conversation offers: things to try here, and a small sample workspace.

use crate::auth::Person;
use crate::dto::files::{SampleChange, Start};
use crate::extract::Params;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;
use steward_core::ports::Role;
use steward_tools::sample;
use utoipa::IntoParams;

/// Things to try that are told.
const TRIES: usize = 6;

/// In which language.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Spoken {
    /// `en`, `de`, `fr` or `es`; English if left out.
    lang: Option<String>,
}

/// What can be tried in this workspace, and whether the sample lies in it.
#[utoipa::path(get, path = "/api/start", tag = "files", operation_id = "start", params(Spoken),
    responses((status = 200, description = "As it is now", body = Start)))]
pub(crate) async fn start(
    State(state): State<ApiState>,
    _: Person,
    Params(query): Params<Spoken>,
) -> Result<Json<Start>, Problem> {
    let language = query.lang.unwrap_or_default();
    let folder = state.workspace.clone();
    let intent = Arc::clone(&state.runs.deps().intent);
    blocking(move || {
        let files = intent.files(Path::new(&folder));
        let mut tries = intent.tries(&files, &language);
        tries.truncate(TRIES);
        Ok::<_, String>(Start { empty: files.is_empty(), sample: sample::is_present(&folder), tries })
    })
    .await
}

/// Adds the sample workspace; nothing is overwritten.
#[utoipa::path(post, path = "/api/sample", tag = "files", operation_id = "addSample",
    responses((status = 200, description = "What was added", body = SampleChange)))]
pub(crate) async fn add(State(state): State<ApiState>, person: Person) -> Result<Json<SampleChange>, Problem> {
    person.may(Role::Developer)?;
    let folder = state.workspace.clone();
    blocking(move || sample::add(&folder).map(SampleChange::from)).await
}

/// Removes the files of the sample that nobody has changed.
#[utoipa::path(delete, path = "/api/sample", tag = "files", operation_id = "removeSample",
    responses((status = 200, description = "What was removed", body = SampleChange)))]
pub(crate) async fn remove(State(state): State<ApiState>, person: Person) -> Result<Json<SampleChange>, Problem> {
    person.may(Role::Developer)?;
    let folder = state.workspace.clone();
    blocking(move || sample::remove(&folder).map(SampleChange::from)).await
}

async fn blocking<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<Json<T>, Problem> {
    let failed = |why: String| {
        let hint = "see that the server may write in its workspace, and try again";
        Problem::conflict("workspace", format!("the workspace can't be used: {why}"), hint)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(Json(done)),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}
