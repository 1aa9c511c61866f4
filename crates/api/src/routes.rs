//! The operations under `/api` that are not about logging in.

mod admin;
mod agents;
mod approvals;
mod audit;
mod backups;
mod budgets;
mod collections;
mod connections;
mod conversations;
mod credentials;
mod datasources;
mod documents;
mod domains;
mod event_stream;
mod files;
mod governance;
mod graphql;
mod groups;
mod hooks;
mod identity;
mod keys;
mod mcp_servers;
mod own_data;
mod packages;
mod policies;
mod prelude;
mod rag;
mod record_changes;
mod reminders;
mod resource_access;
mod retention;
mod runs;
mod schedules;
mod scim;
mod skills;
mod subscriptions;
mod tenants;
mod usage;
mod users;

use crate::ApiState;
use crate::health;
use crate::operations::routes;
use utoipa_axum::router::OpenApiRouter;

/// Groups of operations in the OpenAPI document, in its order.
pub(crate) const TAGS: &[(&str, &str)] = &[
    ("auth", "Logging in, and what a login may do."),
    ("agents", "Instructions, tools and policy under a name."),
    ("chat", "A message to an agent begins a run."),
    ("conversations", "Messages with an agent, in order."),
    ("runs", "What agents did: watch, stop, steer, fork, replay, undo."),
    ("kept", "Runs kept as regression tests."),
    ("approvals", "Decisions that wait for a person."),
    ("grants", "Permissions that outlive their run."),
    ("identity", "How people log in: rules, providers of OpenID Connect, the directory. For administrators."),
    ("policies", "Rules over what agents do unasked, for the whole installation."),
    ("reminders", "What agents were asked to remind of."),
    ("schedules", "What starts runs by itself."),
    ("hooks", "What starts runs when somebody else's program calls `POST /hooks/{id}`."),
    ("subscriptions", "Addresses that are told of what happens."),
    ("connections", "Model endpoints."),
    ("usage", "What calls of models took."),
    ("budgets", "Hard limits of what may be spent."),
    ("keys", "Virtual keys: they let a program use /v1, within limits."),
    ("users", "Who may log in, and as what; for administrators."),
    ("groups", "Users who have grants together."),
    ("tenants", "Organisations, apart from each other; for administrators of the installation."),
    ("access", "Who may use, change and share single agents, skills, connections, credentials and collections."),
    ("governance", "Which data is confidential, and what follows for runs that have seen it."),
    ("audit", "Who did what, when, from where, with which result; chained, so that a change shows."),
    ("documents", "Files that are found by their content, in collections."),
    ("domains", "Databases of users through described tables: their rows, views, texts and changes."),
    ("skills", "Configured units that give agents tools or prompt context."),
    ("credentials", "The vault: secrets go in and are used by skills, but never come back."),
    ("mcp", "MCP servers whose tools agents may use, pinned by what a person accepted."),
    ("files", "Files in the workspace."),
    ("admin", "The settings of the program, and whether all is well that it needs."),
    ("backups", "Copies of the whole installation; for its administrators."),
    ("about", "This installation."),
];

/// All of them, in the order in which the OpenAPI document holds them.
pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .merge(agents::routes())
        .merge(own_data::routes())
        .routes(routes!(conversations::chat))
        .merge(files::routes())
        .merge(conversations::routes())
        .merge(runs::routes())
        .merge(approvals::routes())
        .merge(policies::routes())
        .merge(governance::routes())
        .merge(retention::routes())
        .merge(reminders::routes())
        .merge(schedules::routes())
        .merge(hooks::routes())
        .merge(subscriptions::routes())
        .merge(connections::routes())
        .routes(routes!(agents::preview_routing))
        .merge(usage::routes())
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
        .merge(backups::routes())
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
