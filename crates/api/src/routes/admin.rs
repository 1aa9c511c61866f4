//! `/api/admin`: the settings of the program, and its health.

use crate::dto::about::HealthReport;
use crate::dto::config::{Config, ConfigChange, RestartHint};
use crate::guard::AuditNote;
use crate::routes::prelude::*;
use axum::Extension;
use serde_json::{Value, json};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(config, change))
        .routes(routes!(restart_hint, published_restart_hint))
        .routes(routes!(health))
}

/// The settings of this program: what counts, who says so, and what can be changed here. Secrets are not shown.
#[utoipa::path(get, path = "/api/admin/config", tag = "admin", operation_id = "readConfig",
    responses((status = 200, description = "In groups", body = Config)))]
async fn config(Call(state, caller): Call) -> Answer<Config> {
    Ok(Json(state.app.config(&caller).await?))
}

/// Changes settings
///
/// All of them, or none if one is wrong, or can't be put into force; then `errors` names every wrong one, and those before
/// stay. Each says when a change acts. The audit trail has what was before and is now.
#[utoipa::path(put, path = "/api/admin/config", tag = "admin", operation_id = "changeConfig",
    request_body = ConfigChange, responses((status = 200, description = "As they are now", body = Config)))]
async fn change(
    Call(state, caller): Call,
    Body(change): Body<ConfigChange>,
) -> Result<(Extension<AuditNote>, Json<Config>), Problem> {
    let (config, settings) = state.change_config(&caller, change).await?;
    let names: Vec<&str> = settings.iter().map(|one| one.name).collect();
    let changes = settings.iter().map(|one| (one.name.to_owned(), json!({"from": one.from, "to": one.to}))).collect();
    let note = AuditNote::target(names.join(", ")).changes(Value::Object(changes));
    Ok((Extension(note), Json(config)))
}

/// Whether the program has to be started anew for changes to count, and how.
#[utoipa::path(get, path = "/api/admin/restart-hint", tag = "admin", operation_id = "restartHint",
    responses((status = 200, description = "As it is now", body = RestartHint)))]
async fn restart_hint(Call(state, caller): Call) -> Answer<RestartHint> {
    Ok(Json(state.restart_hint(&caller).await?))
}

/// The same, as it was published for the platform that this one follows
#[utoipa::path(post, path = "/api/admin/restart-hint", tag = "admin", operation_id = "publishedRestartHint",
    responses((status = 200, description = "As it is now", body = RestartHint)))]
async fn published_restart_hint(call: Call) -> Answer<RestartHint> {
    restart_hint(call).await
}

/// Looks at everything that the program needs
///
/// All checks run at the same time, each within a few seconds; some start a program or ask a server.
#[utoipa::path(get, path = "/api/admin/health", tag = "admin", operation_id = "checkHealth",
    responses((status = 200, description = "What was found", body = HealthReport)))]
async fn health(Call(state, caller): Call) -> Answer<HealthReport> {
    Ok(Json(state.app.health(&caller).await?))
}
