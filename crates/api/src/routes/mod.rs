//! The operations under `/api` that are not about logging in.

mod about;
mod agent_names;
mod agents;
mod approvals;
mod attachments;
mod budgets;
mod chat;
mod connections;
mod conversations;
mod credentials;
mod files;
mod grants;
mod kept;
mod keys;
mod mcp_servers;
mod notices;
mod packages;
mod people;
mod reminders;
mod routing;
mod runs;
mod sample;
mod skills;
mod upload;
mod usage;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// All of them.
pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .merge(agents::routes())
        .routes(routes!(chat::chat))
        .routes(routes!(files::upload, files::download))
        .routes(routes!(sample::start))
        .routes(routes!(sample::add, sample::remove))
        .merge(conversations::routes())
        .merge(runs::routes())
        .merge(kept::routes())
        .merge(approvals::routes())
        .merge(grants::routes())
        .merge(reminders::routes())
        .merge(connections::routes())
        .merge(routing::routes())
        .merge(usage::routes())
        .merge(budgets::routes())
        .merge(keys::routes())
        .merge(skills::routes())
        .merge(packages::routes())
        .merge(mcp_servers::routes())
        .merge(credentials::routes())
        .routes(routes!(about::about))
        .routes(routes!(notices::events))
}
