//! `POST /api/agents/preview`.

use super::check::check;
use crate::auth::Person;
use crate::dto::agent::PreviewRequest;
use crate::extract::Body;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::AgentId;
use steward_core::prompt::PromptPreview;

/// The prompt that an agent, saved or not, would begin with. Nothing is sent.
#[utoipa::path(post, path = "/api/agents/preview", tag = "agents", operation_id = "previewAgent",
    request_body = PreviewRequest, responses((status = 200, description = "Found", body = PromptPreview)))]
pub(crate) async fn preview(
    State(state): State<ApiState>,
    _: Person,
    Body(request): Body<PreviewRequest>,
) -> Result<Json<PromptPreview>, Problem> {
    check(&state, &request.agent).await?;
    let agent = request.agent.with_id(AgentId(state.runs.deps().ids.next()), None);
    let input = request.input.unwrap_or_default();
    let preview = state.runs.preview(&agent, None, &input).await?;
    Ok(Json(preview))
}
