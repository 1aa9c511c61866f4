//! Which skills an agent has, changed in one transaction. Lock order everywhere: the skill, then the agent.

use super::skills::{change_skill, insert_skill, lock_skill, lock_skill_by_name, unknown_agent, unknown_skill};
use crate::codec::{from_json, to_json};
use crate::tx::{Tx, args, locking};
use steward_core::agent::Agent;
use steward_core::ports::{StoreError, StoreResult};
use steward_core::skill::Skill;
use steward_core::{AgentId, SkillId, TenantId};

pub(super) async fn attach(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    agent: AgentId,
    skill: SkillId,
    attached: bool,
) -> StoreResult<()> {
    if attached && lock_skill(tx, tenant, skill).await?.is_none() {
        return Err(unknown_skill(skill));
    }
    change_attached(tx, tenant, agent, |skills| {
        let has = skills.contains(&skill);
        match (has, attached) {
            (false, true) => skills.push(skill),
            (true, false) => skills.retain(|id| *id != skill),
            _ => {}
        }
        has != attached
    })
    .await
}

pub(super) async fn create_and_attach(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    agent: AgentId,
    skill: &Skill,
) -> StoreResult<(Skill, bool)> {
    let (kept, made) = create_or_change(tx, tenant, skill).await?;
    attach(tx, tenant, agent, kept.id, true).await?;
    Ok((kept, made))
}

async fn create_or_change(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<(Skill, bool)> {
    if let Some(current) = lock_skill_by_name(tx, tenant, &skill.name).await? {
        let kept = change_skill(tx, tenant, &current, skill).await?;
        return Ok((kept, false));
    }
    if let Some(made) = insert_skill(tx, tenant, skill).await? {
        return Ok((made, true));
    }
    // A call beside this one made it between the two statements, or its id is another skill's.
    match lock_skill_by_name(tx, tenant, &skill.name).await? {
        Some(current) => {
            let kept = change_skill(tx, tenant, &current, skill).await?;
            Ok((kept, false))
        }
        None => {
            Err(StoreError::Conflict(format!("skill {} has another name; make the new one under a new id", skill.id)))
        }
    }
}

async fn change_attached(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: AgentId,
    how: impl FnOnce(&mut Vec<SkillId>) -> bool,
) -> StoreResult<()> {
    let sql =
        locking!(tx, "select body from agents where tenant_id = $1 and id = $2 and deleted_at is null", "for update");
    let row = tx.row(sql, args![tenant, id]).await?;
    let body = row.ok_or_else(|| unknown_agent(id))?.text(0)?;
    let mut agent: Agent = from_json("an agent", &body)?;
    if how(&mut agent.skills) {
        write_agent(tx, tenant, &agent).await?;
    }
    Ok(())
}

pub(super) async fn write_agent(tx: &mut Tx<'_>, tenant: TenantId, agent: &Agent) -> StoreResult<()> {
    tx.execute(
        "update agents set body = $3 where tenant_id = $1 and id = $2",
        args![tenant, agent.id, to_json(agent)?],
    )
    .await?;
    Ok(())
}
