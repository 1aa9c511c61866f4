use crate::dto::skills::{
    Rollback, Skill, SkillDetail, SkillInput, SkillKindInfo, SkillTest, SkillTested, SshHost, SshHostInput,
};
use crate::extract::PublishedBody;
use crate::routes::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;
use steward_app::Caller;
use steward_core::ports::SkillFilter;
use steward_core::skill::SkillKind;
use steward_core::{AgentId, SkillId};
use uuid::Uuid;

/// What each type's `config` takes, and an example.
const KINDS_FILE: &str = include_str!("../../data/skill-kinds.json");

// A test reads the file, so it can't be broken here.
static KINDS: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(KINDS_FILE).unwrap_or_default());

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(kinds))
        .routes(routes!(list_hosts, trust_host))
        .routes(routes!(forget_host))
        .routes(routes!(get, replace, remove))
        .routes(routes!(list_versions))
        .routes(routes!(rollback))
        .routes(routes!(test))
}

/// Which skills.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Of this type.
    kind: Option<SkillKind>,
    /// Whose name or description holds this.
    #[param(max_length = 200)]
    text: Option<String>,
    /// Attached to this agent.
    agent: Option<Uuid>,
    /// Of this package.
    package: Option<String>,
    /// Of this category.
    category: Option<String>,
}

/// What to do where a skill of this name is there.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Upsert {
    /// Change it instead of refusing.
    #[serde(default)]
    upsert: bool,
}

/// Skills by name.
#[utoipa::path(get, path = "/api/skills", tag = "skills", operation_id = "listSkills",
    params(Wanted, Paging), responses((status = 200, description = "By name", body = Page<Skill>)))]
async fn list(Call(state, caller): Call, Params(wanted): Params<Wanted>, paging: Paging) -> Listed<Skill> {
    let filter = SkillFilter {
        kind: wanted.kind,
        text: wanted.text,
        agent: wanted.agent.map(AgentId),
        package: wanted.package,
        category: wanted.category,
    };
    let after = paging.after::<String>()?;
    let page = state.skills(&caller, filter, after.as_deref(), paging.limit()).await?;
    let next = page.items.last().filter(|_| page.more).map(|skill| skill.name.clone());
    Ok(Page::new(page.items.into_iter().map(Skill::from).collect(), next))
}

/// Makes a skill. With `upsert` one of this name becomes its next version; the same content makes none.
#[utoipa::path(post, path = "/api/skills", tag = "skills", operation_id = "createSkill",
    params(Upsert), request_body = SkillInput, responses(
        (status = 201, description = "Made", body = Skill),
        (status = 200, description = "Changed, or the same already", body = Skill)))]
async fn create(
    Call(state, caller): Call,
    Params(query): Params<Upsert>,
    PublishedBody(input): PublishedBody<SkillInput>,
) -> Result<(StatusCode, Json<Skill>), Problem> {
    let (skill, made) = state.create_skill(&caller, input, query.upsert).await?;
    let status = if made { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(skill.into())))
}

/// Types of skills and how each is configured.
#[utoipa::path(get, path = "/api/skills/kinds", tag = "skills", operation_id = "listSkillKinds",
    params(Paging), responses((status = 200, description = "All", body = Page<SkillKindInfo>)))]
async fn kinds(_: Caller, paging: Paging) -> Listed<SkillKindInfo> {
    Page::cut(all_kinds(), &paging)
}

fn all_kinds() -> Vec<SkillKindInfo> {
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

/// One skill, and which agents have it.
#[utoipa::path(get, path = "/api/skills/{id}", tag = "skills", operation_id = "getSkill",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = SkillDetail)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<SkillId>) -> Answer<SkillDetail> {
    let (skill, agents) = state.skill(&caller, id).await?;
    Ok(Json(SkillDetail { skill: skill.into(), agents }))
}

/// Changes a skill: its next version. Runs at work keep the version they began with.
#[utoipa::path(put, path = "/api/skills/{id}", tag = "skills", operation_id = "replaceSkill",
    params(("id" = Uuid, Path)), request_body = SkillInput,
    responses((status = 200, description = "Changed", body = Skill)))]
async fn replace(
    Call(state, caller): Call,
    PathId(id): PathId<SkillId>,
    PublishedBody(input): PublishedBody<SkillInput>,
) -> Answer<Skill> {
    Ok(Json(state.replace_skill(&caller, id, input).await?.into()))
}

/// Removes a skill and takes it from all agents; its versions stay readable for the runs that used it.
#[utoipa::path(delete, path = "/api/skills/{id}", tag = "skills", operation_id = "deleteSkill",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<SkillId>) -> Done {
    done(state.remove_skill(&caller, id).await)
}

/// All versions of a skill, the latest first; those of a removed one too.
#[utoipa::path(get, path = "/api/skills/{id}/versions", tag = "skills", operation_id = "listSkillVersions",
    params(("id" = Uuid, Path), Paging),
    responses((status = 200, description = "Latest first", body = Page<Skill>)))]
async fn list_versions(Call(state, caller): Call, PathId(id): PathId<SkillId>, paging: Paging) -> Listed<Skill> {
    let all = state.skill_versions(&caller, id).await?;
    Page::cut(all.into_iter().map(Skill::from).collect(), &paging)
}

/// Makes an earlier version the next one.
#[utoipa::path(post, path = "/api/skills/{id}/rollback", tag = "skills", operation_id = "rollbackSkill",
    params(("id" = Uuid, Path)), request_body = Rollback,
    responses((status = 200, description = "The new version", body = Skill)))]
async fn rollback(
    Call(state, caller): Call,
    PathId(id): PathId<SkillId>,
    Body(wanted): Body<Rollback>,
) -> Answer<Skill> {
    Ok(Json(state.roll_back_skill(&caller, id, wanted.version).await?.into()))
}

/// Tries a skill: what it would do, or with `dry_run: false` what it does. One that does more than look needs
/// `confirm` and an operator.
#[utoipa::path(post, path = "/api/skills/{id}/test", tag = "skills", operation_id = "testSkill",
    params(("id" = Uuid, Path)), request_body = SkillTest,
    responses((status = 200, description = "What came of it", body = SkillTested)))]
async fn test(
    Call(state, caller): Call,
    PathId(id): PathId<SkillId>,
    Body(wanted): Body<SkillTest>,
) -> Answer<SkillTested> {
    Ok(Json(state.test_skill(&caller, id, wanted).await?))
}

/// Servers whose host key was accepted.
#[utoipa::path(get, path = "/api/skills/hosts", tag = "skills", operation_id = "listSshHosts",
    responses((status = 200, description = "By name", body = Vec<SshHost>)))]
async fn list_hosts(Call(state, caller): Call) -> Answer<Vec<SshHost>> {
    Ok(Json(state.ssh_hosts(&caller).await?))
}

/// Accepts the host key of a server, in place of the one before. Compare the fingerprint with the server's first.
#[utoipa::path(post, path = "/api/skills/hosts", tag = "skills", operation_id = "trustSshHost",
    request_body = SshHostInput, responses((status = 200, description = "Accepted", body = SshHost)))]
async fn trust_host(Call(state, caller): Call, Body(input): Body<SshHostInput>) -> Answer<SshHost> {
    Ok(Json(state.trust_ssh_host(&caller, input).await?))
}

/// Which port.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Port {
    /// The port; left out: 22.
    #[param(nullable = false, minimum = 1)]
    port: Option<u16>,
}

/// Accepts no key of a server any more: ssh skills don't reach it until one is accepted anew.
#[utoipa::path(delete, path = "/api/skills/hosts/{host}", tag = "skills", operation_id = "forgetSshHost",
    params(("host" = String, Path), Port), responses((status = 204, description = "Forgotten")))]
async fn forget_host(Call(state, caller): Call, PathName(host): PathName, Params(query): Params<Port>) -> Done {
    done(state.forget_ssh_host(&caller, &host, query.port).await)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{KINDS_FILE, all_kinds};
    use crate::dto::skills::SkillInput;
    use serde_json::Value;
    use steward_core::{SkillId, Timestamp, schema};
    use uuid::Uuid;

    #[test]
    fn the_file_of_kinds_can_be_read() {
        let file = serde_json::from_str::<Value>(KINDS_FILE);
        let file = file.unwrap_or_else(|error| panic!("data/skill-kinds.json: {error}"));
        assert!(file.as_object().is_some_and(|kinds| !kinds.is_empty()), "{file}");
    }

    #[test]
    fn each_kind_has_an_example_that_fits_its_schema_and_its_type() {
        for info in all_kinds() {
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
