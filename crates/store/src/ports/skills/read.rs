//! Skills as they stand.

use super::{skill_of, unknown, unknown_agent};
use crate::codec::{from_json, page_size, paged, pattern, sort_key};
use crate::tx::{Tx, args};
use steward_core::agent::Agent;
use steward_core::ports::{Page, SkillFilter, StoreError, StoreResult};
use steward_core::skill::Skill;
use steward_core::{AgentId, SkillId, TenantId};

/// Skills asked for in one statement.
const TOGETHER: usize = 8;

pub(super) async fn one(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId) -> StoreResult<Option<Skill>> {
    let sql = "select body from skills where tenant_id = $1 and id = $2";
    let row = tx.row(sql, args![tenant, id]).await?;
    row.as_ref().map(skill_of).transpose()
}

pub(super) async fn by_name(tx: &mut Tx<'_>, tenant: TenantId, name: &str) -> StoreResult<Option<Skill>> {
    let sql = "select body from skills where tenant_id = $1 and name = $2";
    let row = tx.row(sql, args![tenant, name]).await?;
    row.as_ref().map(skill_of).transpose()
}

pub(super) async fn version(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId, version: u32) -> StoreResult<Skill> {
    let sql = "select body from skill_versions
               where tenant_id = $1 and skill_id = $2 and version = $3";
    let row = tx.row(sql, args![tenant, id, version]).await?;
    let missing = || StoreError::NotFound(format!("version {version} of skill {id}"));
    skill_of(&row.ok_or_else(missing)?)
}

pub(super) async fn versions(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId) -> StoreResult<Vec<Skill>> {
    let sql = "select body from skill_versions
               where tenant_id = $1 and skill_id = $2 order by version desc";
    let rows = tx.rows(sql, args![tenant, id]).await?;
    if rows.is_empty() {
        return Err(unknown(id));
    }
    rows.iter().map(skill_of).collect()
}

pub(super) async fn page(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    filter: &SkillFilter,
    after: Option<&str>,
    limit: u32,
) -> StoreResult<Page<Skill>> {
    let limit = page_size(limit);
    let Some(agent) = filter.agent else {
        let skills = matching(tx, tenant, filter, after, None, limit + 1).await?;
        return Ok(paged(skills, limit));
    };
    let mut skills = Vec::new();
    for id in agent_of(tx, tenant, agent).await?.skills {
        skills.extend(matching(tx, tenant, filter, after, Some(id), 1).await?);
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(paged(skills, limit))
}

/// Those that the filter finds, but for its agent; of `id` only, if one is given.
async fn matching(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    filter: &SkillFilter,
    after: Option<&str>,
    id: Option<SkillId>,
    limit: u32,
) -> StoreResult<Vec<Skill>> {
    let rows = tx
        .rows(
            r"select body from skills
              where tenant_id = $1 and ($2 is null or id = $2)
                and ($3 is null or sort_key > $3) and ($4 is null or kind = $4)
                and ($5 is null or package = $5) and ($6 is null or category = $6)
                and ($7 is null or folded like $7 escape '\')
              order by sort_key limit $8",
            args![
                tenant,
                id,
                after.map(sort_key),
                filter.kind.map(steward_core::skill::SkillKind::as_str),
                filter.package.as_deref(),
                filter.category.as_deref(),
                pattern(filter.text.as_deref())?,
                limit
            ],
        )
        .await?;
    rows.iter().map(skill_of).collect()
}

pub(super) async fn of_agent(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Skill>> {
    let wanted = agent_of(tx, tenant, agent).await?.skills;
    let mut found = Vec::with_capacity(wanted.len());
    for ids in wanted.chunks(TOGETHER) {
        let at = |index: usize| ids.get(index).copied();
        let rows = tx
            .rows(
                "select body from skills where tenant_id = $1
                   and id in ($2, $3, $4, $5, $6, $7, $8, $9)",
                args![tenant, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)],
            )
            .await?;
        for row in &rows {
            found.push(skill_of(row)?);
        }
    }
    let place = |skill: &Skill| wanted.iter().position(|id| *id == skill.id);
    found.sort_by_key(place);
    Ok(found)
}

async fn agent_of(tx: &mut Tx<'_>, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
    let sql = "select body from agents where tenant_id = $1 and id = $2 and deleted_at is null";
    let row = tx.row(sql, args![tenant, id]).await?;
    from_json("an agent", &row.ok_or_else(|| unknown_agent(id))?.text(0)?)
}

pub(super) async fn agents_with(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId) -> StoreResult<Vec<AgentId>> {
    let sql = "select body from agents
               where tenant_id = $1 and deleted_at is null and body like $2 order by id";
    let mut with = Vec::new();
    for row in tx.rows(sql, args![tenant, naming(id)]).await? {
        let agent: Agent = from_json("an agent", &row.text(0)?)?;
        if agent.skills.contains(&id) {
            with.push(agent.id);
        }
    }
    Ok(with)
}

/// The pattern of a body that names this skill somewhere.
pub(super) fn naming(id: SkillId) -> String {
    format!("%\"{id}\"%")
}
