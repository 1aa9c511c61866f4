//! `/api/skills/packages`.

use crate::auth::Person;
use crate::dto::package::SkillPackage;
use crate::extract::{Page, Paging, PagingQuery};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_tools::package::bundled_names;

/// Skill packages by name, the latest revision of each.
#[utoipa::path(get, path = "/api/skills/packages", tag = "skills", operation_id = "listPackages",
    params(PagingQuery), responses((status = 200, description = "By name", body = Page<SkillPackage>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    _: Person,
    paging: Paging,
) -> Result<Page<SkillPackage>, Problem> {
    let after = paging.after::<String>()?;
    let tenant = state.runs.deps().tenant;
    let page = state.packages.store().packages(tenant, after.as_deref(), paging.limit).await?;
    let next = page.items.last().filter(|_| page.more).map(|one| one.name.clone());
    Ok(Page::new(page.items.into_iter().map(SkillPackage::from).collect(), next))
}

/// Names of the packages that come with Steward; import one with `?ready=NAME`.
#[utoipa::path(get, path = "/api/skills/ready-packages", tag = "skills", operation_id = "listReadyPackages",
    responses((status = 200, description = "Names", body = Vec<String>)))]
pub(crate) async fn ready(_: Person) -> Json<Vec<String>> {
    Json(bundled_names())
}
