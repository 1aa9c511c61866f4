//! The operations under `/api` that are not about logging in.

mod about;
mod agent_names;
mod agents;
mod approvals;
mod attachments;
mod chat;
mod connections;
mod conversations;
mod files;
mod grants;
mod kept;
mod notices;
mod people;
mod runs;
mod upload;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// All of them.
pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .merge(agents::routes())
        .routes(routes!(chat::chat))
        .routes(routes!(files::upload))
        .merge(conversations::routes())
        .merge(runs::routes())
        .merge(kept::routes())
        .merge(approvals::routes())
        .merge(grants::routes())
        .merge(connections::routes())
        .routes(routes!(about::about))
        .routes(routes!(notices::events))
}
