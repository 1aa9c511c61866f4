//! `GET /api/about`.

use crate::auth::Person;
use crate::dto::about::{About, Database, Part, PartStatus};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::event::EVENT_VERSION;

/// Versions and health of this installation.
#[utoipa::path(get, path = "/api/about", tag = "about", operation_id = "about",
    responses((status = 200, description = "As it is now", body = About)))]
pub(crate) async fn about(State(state): State<ApiState>, _: Person) -> Result<Json<About>, Problem> {
    let mut health = Vec::new();
    for (name, needed, probe) in &state.health.probes {
        let (status, detail) = match probe().await {
            Ok(detail) => (PartStatus::Ok, detail),
            Err(why) => (PartStatus::Failing, why),
        };
        health.push(Part { name: (*name).to_owned(), status, detail, needed: *needed });
    }
    let facts = &state.about;
    Ok(Json(About {
        version: facts.version.clone(),
        commit: facts.commit.clone(),
        event_version: EVENT_VERSION,
        schema_version: facts.schema_version,
        database: if facts.database == "postgresql" { Database::Postgresql } else { Database::Sqlite },
        database_version: facts.database_version.clone(),
        data_dir: facts.data_dir.clone(),
        workspace: state.workspace.clone(),
        started_at: facts.started_at.0,
        runs_at_work: state.runs.at_work(),
        health,
    }))
}
