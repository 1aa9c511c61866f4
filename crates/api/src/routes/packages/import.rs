//! `POST /api/skills/import-package` and `POST /api/universal-agents/{id}/import-skill-pack`.

use super::archive::archive;
use crate::auth::Person;
use crate::dto::package::SkillPackage;
use crate::extract::{Params, PathId};
use crate::problem::Problem;
use crate::routes::agents::live;
use crate::state::ApiState;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use steward_core::package::{PackageState, SkillPackage as Package};
use steward_core::ports::Role;
use steward_core::{AgentId, package};
use steward_tools::package::{DangerousFindings, bundled, bundled_names};
use utoipa::IntoParams;

/// How to import.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Import {
    /// Put it to use at once if the scan finds nothing dangerous.
    #[serde(default)]
    activate: bool,
    /// Name of a package that comes with Steward, instead of a file.
    ready: Option<String>,
}

/// The archive, for the document.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema counts")]
pub(crate) struct ArchiveBody(Vec<u8>);

/// Takes a skill package in: a `.skill` archive as the form's field `file` or as the body. It is in quarantine
/// until somebody accepts it, unless `activate` is given and the scan finds nothing dangerous.
#[utoipa::path(post, path = "/api/skills/import-package", tag = "skills", operation_id = "importPackage",
    params(Import), request_body(content = inline(ArchiveBody), content_type = "application/octet-stream"),
    responses((status = 201, description = "Taken in", body = SkillPackage)))]
pub(crate) async fn import(
    State(state): State<ApiState>,
    person: Person,
    Params(how): Params<Import>,
    request: Request,
) -> Result<(StatusCode, Json<SkillPackage>), Problem> {
    person.may(Role::Operator)?;
    let taken = take_in(&state, &person, &how, how.activate, request).await?;
    Ok((StatusCode::CREATED, Json(taken.into())))
}

/// Takes a skill package in, puts it to use and gives its skills to the agent. One with dangerous findings stays
/// in quarantine.
#[utoipa::path(post, path = "/api/universal-agents/{id}/import-skill-pack", tag = "agents",
    operation_id = "importSkillPack", params(("id" = Uuid, Path), Import),
    request_body(content = inline(ArchiveBody), content_type = "application/octet-stream"),
    responses((status = 201, description = "Taken in", body = SkillPackage)))]
pub(crate) async fn import_for_agent(
    State(state): State<ApiState>,
    person: Person,
    PathId(agent): PathId<AgentId>,
    Params(how): Params<Import>,
    request: Request,
) -> Result<(StatusCode, Json<SkillPackage>), Problem> {
    person.may(Role::Operator)?;
    live(&state, agent).await?;
    let mut taken = take_in(&state, &person, &how, true, request).await?;
    if taken.state == PackageState::Active {
        let tenant = state.runs.deps().tenant;
        taken = state.packages.attach(tenant, agent, &taken.name).await?;
    }
    Ok((StatusCode::CREATED, Json(taken.into())))
}

async fn take_in(
    state: &ApiState,
    person: &Person,
    how: &Import,
    activate: bool,
    request: Request,
) -> Result<Package, Problem> {
    let bytes = match &how.ready {
        Some(name) => bundled(name).ok_or_else(|| {
            Problem::invalid(
                "ready",
                format!("no package `{name}` comes with Steward"),
                format!("there are: {}", bundled_names().join(", ")),
            )
        })?,
        None => archive(request).await?,
    };
    let tenant = state.runs.deps().tenant;
    let by = person.by();
    let taken = state.packages.import(tenant, bytes, &by).await?;
    let dangerous = taken.findings.iter().any(|finding| finding.severity == package::Severity::Danger);
    if !activate || dangerous || taken.state == PackageState::Active {
        return Ok(taken);
    }
    let (name, hash) = (taken.name.clone(), taken.hash.clone());
    Ok(state.packages.accept(tenant, &name, &hash, &by, DangerousFindings::Refuse).await?)
}
