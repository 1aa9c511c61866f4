//! The operations under `/api` that are not about logging in.

mod admin;
mod agents;
mod approvals;
mod audit;
mod budgets;
mod collections;
mod connections;
mod conversations;
mod credentials;
mod dashboard;
mod datasources;
mod documents;
mod domains;
mod event_stream;
mod files;
mod governance;
mod grants;
mod graphql;
mod groups;
mod identity;
mod keys;
mod mcp_servers;
mod own_data;
mod packages;
mod policies;
mod prelude;
mod rag;
mod record_changes;
mod regression_runs;
mod reminders;
mod resource_access;
mod retention;
mod runs;
mod scim;
mod skills;
mod tenants;
mod usage;
mod users;

use crate::ApiState;
use crate::health;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// All of them, in the order in which the OpenAPI document holds them.
pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .merge(agents::routes())
        .merge(own_data::routes())
        .routes(routes!(conversations::chat))
        .merge(files::routes())
        .merge(conversations::routes())
        .merge(runs::routes())
        .merge(regression_runs::routes())
        .merge(approvals::routes())
        .merge(grants::routes())
        .merge(policies::routes())
        .merge(governance::routes())
        .merge(retention::routes())
        .merge(reminders::routes())
        .merge(connections::routes())
        .routes(routes!(agents::preview_routing))
        .merge(usage::routes())
        .merge(dashboard::routes())
        .merge(budgets::routes())
        .merge(keys::routes())
        .merge(users::routes())
        .merge(groups::routes())
        .merge(tenants::routes())
        .merge(resource_access::routes())
        .merge(identity::routes())
        .merge(scim::routes())
        .merge(audit::routes())
        .merge(admin::routes())
        .merge(collections::routes())
        .merge(documents::routes())
        .merge(rag::routes())
        .merge(datasources::routes())
        .merge(domains::routes())
        .merge(graphql::routes())
        .merge(record_changes::routes())
        .merge(skills::routes())
        .merge(packages::routes())
        .merge(mcp_servers::routes())
        .merge(credentials::routes())
        .routes(routes!(health::about))
        .routes(routes!(event_stream::events))
}
