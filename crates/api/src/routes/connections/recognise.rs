//! `POST /api/connections/recognise`.

use super::check;
use crate::auth::Person;
use crate::dto::exam::RecogniseInput;
use crate::extract::Body;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::ports::{Recognised, Role};

/// Recognises what answers at a URL, by the URL and then by asking it. Nothing is saved.
#[utoipa::path(post, path = "/api/connections/recognise", tag = "connections", operation_id = "recogniseConnection",
    request_body = RecogniseInput, responses((status = 200, description = "Found", body = Recognised)))]
pub(crate) async fn recognise(
    State(state): State<ApiState>,
    person: Person,
    Body(input): Body<RecogniseInput>,
) -> Result<Json<Recognised>, Problem> {
    person.may(Role::Operator)?;
    check::address(&input.base_url)?;
    check::auth(&input.auth)?;
    let (auth, key) = input.auth.parted();
    let found = state.examiner.recognise(input.base_url.trim(), &auth, key);
    Ok(Json(found.await?))
}
