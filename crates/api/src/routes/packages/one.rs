//! `/api/skills/packages/{name}`.

use crate::auth::Person;
use crate::dto::package::{AcceptPackage, PackageDiff, PackageFileDiff, SkillPackage};
use crate::extract::{Body, Page, Paging, PagingQuery, Params, PathName};
use crate::problem::Problem;
use crate::routes::agents::live;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use steward_core::ports::Role;
use steward_tools::package::{Change, DangerousFindings};
use utoipa::IntoParams;

/// Which revisions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Between {
    /// The earlier; else the one in use.
    from: Option<u32>,
    /// The later; else the latest.
    to: Option<u32>,
}

/// Which revision.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Its number; else the one in use.
    revision: Option<u32>,
}

/// All revisions of a package, the latest first.
#[utoipa::path(get, path = "/api/skills/packages/{name}", tag = "skills", operation_id = "getPackage",
    params(("name" = String, Path), PagingQuery),
    responses((status = 200, description = "Latest first", body = Page<SkillPackage>)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    _: Person,
    PathName(name): PathName,
    paging: Paging,
) -> Result<Page<SkillPackage>, Problem> {
    let tenant = state.runs.deps().tenant;
    let all = state.packages.revisions(tenant, &name).await?;
    Page::cut(all.into_iter().map(SkillPackage::from).collect(), &paging)
}

/// Puts the revision with this hash to use. Also brings a removed one back, and goes back to an earlier one.
#[utoipa::path(post, path = "/api/skills/packages/{name}/accept", tag = "skills",
    operation_id = "acceptPackage", params(("name" = String, Path)), request_body = AcceptPackage,
    responses((status = 200, description = "In use", body = SkillPackage)))]
pub(crate) async fn accept(
    State(state): State<ApiState>,
    person: Person,
    PathName(name): PathName,
    Body(wanted): Body<AcceptPackage>,
) -> Result<Json<SkillPackage>, Problem> {
    person.may(Role::Operator)?;
    let dangers = if wanted.dangers {
        person.may(Role::Admin)?;
        DangerousFindings::Accept
    } else {
        DangerousFindings::Refuse
    };
    if let Some(agent) = wanted.agent {
        live(&state, agent).await?;
    }
    let tenant = state.runs.deps().tenant;
    let mut package = state.packages.accept(tenant, &name, &wanted.hash, &person.by(), dangers).await?;
    if let Some(agent) = wanted.agent {
        package = state.packages.attach(tenant, agent, &name).await?;
    }
    Ok(Json(package.into()))
}

/// Takes a package out of use: its skills are removed. Accepting it again brings them back.
#[utoipa::path(delete, path = "/api/skills/packages/{name}", tag = "skills", operation_id = "deletePackage",
    params(("name" = String, Path)), responses((status = 204, description = "Out of use")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathName(name): PathName,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    let tenant = state.runs.deps().tenant;
    state.packages.remove(tenant, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A revision as a `.skill` archive.
#[utoipa::path(get, path = "/api/skills/packages/{name}/export", tag = "skills",
    operation_id = "exportPackage", params(("name" = String, Path), Which),
    responses((status = 200, description = "The archive", content_type = "application/zip", body = Vec<u8>)))]
pub(crate) async fn export(
    State(state): State<ApiState>,
    _: Person,
    PathName(name): PathName,
    Params(which): Params<Which>,
) -> Result<Response, Problem> {
    let tenant = state.runs.deps().tenant;
    let bytes = state.packages.export(tenant, &name, which.revision).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/zip".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.skill\"")),
    ];
    Ok((headers, bytes).into_response())
}

/// What differs between two revisions, file by file.
#[utoipa::path(get, path = "/api/skills/packages/{name}/diff", tag = "skills", operation_id = "diffPackage",
    params(("name" = String, Path), Between),
    responses((status = 200, description = "File by file", body = PackageDiff)))]
pub(crate) async fn diff(
    State(state): State<ApiState>,
    _: Person,
    PathName(name): PathName,
    Params(between): Params<Between>,
) -> Result<Json<PackageDiff>, Problem> {
    let tenant = state.runs.deps().tenant;
    let files = state.packages.diff(tenant, &name, between.from, between.to).await?;
    Ok(Json(PackageDiff {
        files: files
            .into_iter()
            .map(|file| PackageFileDiff {
                path: file.path,
                change: match file.change {
                    Change::Added => "added",
                    Change::Removed => "removed",
                    Change::Changed => "changed",
                }
                .to_owned(),
                diff: file.diff,
            })
            .collect(),
    }))
}
