//! `GET /api/skills/kinds`.

use crate::auth::Person;
use crate::dto::skill::SkillKindInfo;
use crate::extract::{Page, Paging, PagingQuery};
use crate::problem::Problem;
use serde_json::Value;
use std::sync::LazyLock;
use steward_core::skill::SkillKind;

/// What each type's `config` takes, and an example.
static KINDS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../data/skill-kinds.json")).unwrap_or_default());

/// Types of skills and how each is configured.
#[utoipa::path(get, path = "/api/skills/kinds", tag = "skills", operation_id = "listSkillKinds",
    params(PagingQuery), responses((status = 200, description = "All", body = Page<SkillKindInfo>)))]
pub(crate) async fn kinds(_: Person, paging: Paging) -> Result<Page<SkillKindInfo>, Problem> {
    Page::cut(all(), &paging)
}

fn all() -> Vec<SkillKindInfo> {
    SkillKind::ALL
        .into_iter()
        .map(|kind| {
            let (risk, effect) = kind.defaults();
            let told = &KINDS[kind.as_str()];
            SkillKindInfo {
                kind,
                risk,
                effect,
                credentials: kind.credentials().to_vec(),
                config: told["config"].clone(),
                example: told["example"].clone(),
            }
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::all;
    use crate::dto::skill::SkillInput;
    use steward_core::{SkillId, Timestamp, schema};
    use uuid::Uuid;

    #[test]
    fn each_kind_has_an_example_that_fits_its_schema_and_its_type() {
        for info in all() {
            let kind = format!("{:?}", info.kind);
            let input: SkillInput =
                serde_json::from_value(info.example.clone()).unwrap_or_else(|error| panic!("{kind}: {error}"));
            schema::validate(&info.config, &input.config).unwrap_or_else(|error| panic!("{kind}: {error}"));
            let skill = input
                .skill(SkillId(Uuid::nil()), Timestamp(0), String::new())
                .unwrap_or_else(|error| panic!("{kind}: {error:?}"));
            assert_eq!(info.kind, skill.kind(), "{kind}");
        }
    }
}
