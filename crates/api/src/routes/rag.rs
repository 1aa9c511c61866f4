//! `/api/rag`: what agents really have to answer from, and the answers that are kept.

use crate::dto::rag::{RagCacheCleared, RagCacheStats, RagDebug};
use crate::routes::prelude::*;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(debug)).routes(routes!(cache_stats)).routes(routes!(clear_cache))
}

/// Whose answers.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OfAgent {
    /// Those for this agent, by id or name; all if left out.
    #[param(nullable = false, max_length = 200)]
    agent_id: Option<String>,
}

/// What to try.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Question {
    /// A question, to see what it finds.
    #[param(nullable = false, max_length = 1000)]
    query: Option<String>,
}

/// What an agent has to answer from: linked documents, their chunks, the model, and what a question finds in them.
#[utoipa::path(get, path = "/api/rag/debug/{agent_id}", tag = "documents", operation_id = "ragDebug",
    params(("agent_id" = String, Path, description = "The agent, by id or name"), Question),
    responses((status = 200, description = "As far as one may see it", body = RagDebug)))]
async fn debug(
    Call(state, caller): Call,
    PathName(agent): PathName,
    Params(question): Params<Question>,
) -> Answer<RagDebug> {
    Ok(Json(state.rag_debug(&caller, &agent, question.query.as_deref()).await?))
}

/// Figures of the answers that are kept for those who ask the same again.
#[utoipa::path(get, path = "/api/rag/cache/stats", tag = "documents", operation_id = "ragCacheStats",
    params(OfAgent), responses((status = 200, description = "As far as one may see them", body = RagCacheStats)))]
async fn cache_stats(Call(state, caller): Call, Params(of): Params<OfAgent>) -> Answer<RagCacheStats> {
    Ok(Json(state.rag_cache_stats(&caller, of.agent_id.as_deref()).await?))
}

/// Forgets the answers that are kept. A change of documents does so by itself.
#[utoipa::path(delete, path = "/api/rag/cache", tag = "documents", operation_id = "clearRagCache",
    params(OfAgent), responses((status = 200, description = "How many", body = RagCacheCleared)))]
async fn clear_cache(Call(state, caller): Call, Params(of): Params<OfAgent>) -> Answer<RagCacheCleared> {
    Ok(Json(state.clear_rag_cache(&caller, of.agent_id.as_deref()).await?))
}
