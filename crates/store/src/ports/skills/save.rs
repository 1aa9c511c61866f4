//! Versions: a change makes the next one, what changes nothing makes none.

use super::skill_of;
use crate::codec::{fold, sort_key, to_json};
use crate::error::clash;
use crate::tx::{Tx, args, locking};
use steward_core::ports::{StoreError, StoreResult};
use steward_core::skill::Skill;
use steward_core::{SkillId, TenantId};

pub(super) async fn save(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<Skill> {
    if let Some(current) = locked(tx, tenant, skill.id).await? {
        return change(tx, tenant, &current, skill).await;
    }
    if let Some(made) = insert(tx, tenant, skill).await? {
        return Ok(made);
    }
    // Somebody was quicker: with this id, or with this name.
    match locked(tx, tenant, skill.id).await? {
        Some(current) => change(tx, tenant, &current, skill).await,
        None => Err(StoreError::Conflict(taken(&skill.name))),
    }
}

/// Makes a skill; `None` if its id or its name is there.
pub(super) async fn insert(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<Option<Skill>> {
    // A removed skill that comes back goes on counting.
    let sql = "select coalesce(max(version), 0) from skill_versions
               where tenant_id = $1 and skill_id = $2";
    let row = tx.row(sql, args![tenant, skill.id]).await?;
    let last = row.map_or(Ok(0), |row| row.count(0))?;
    let made = numbered(skill, skill.id, last + 1)?;
    let inserted = tx
        .execute(
            "insert into skills (tenant_id, id, name, sort_key, version, kind, category, package,
                                 folded, body)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             on conflict do nothing",
            args![
                tenant,
                made.id,
                &made.name,
                sort_key(&made.name),
                made.version,
                made.kind().as_str(),
                &made.category,
                made.package.as_deref(),
                searched(&made),
                to_json(&made)?
            ],
        )
        .await?;
    if inserted == 0 {
        return Ok(None);
    }
    keep_version(tx, tenant, &made).await?;
    Ok(Some(made))
}

/// Makes `skill` the next version of `current`, under its id.
pub(super) async fn change(tx: &mut Tx<'_>, tenant: TenantId, current: &Skill, skill: &Skill) -> StoreResult<Skill> {
    let same =
        Skill { id: current.id, version: current.version, at: current.at, by: current.by.clone(), ..skill.clone() };
    if same == *current {
        return Ok(same);
    }
    let next = numbered(skill, current.id, u64::from(current.version) + 1)?;
    tx.execute(
        "update skills set name = $3, sort_key = $4, version = $5, kind = $6, category = $7,
                           package = $8, folded = $9, body = $10
         where tenant_id = $1 and id = $2",
        args![
            tenant,
            next.id,
            &next.name,
            sort_key(&next.name),
            next.version,
            next.kind().as_str(),
            &next.category,
            next.package.as_deref(),
            searched(&next),
            to_json(&next)?
        ],
    )
    .await
    .map_err(|e| clash(e, || taken(&next.name)))?;
    keep_version(tx, tenant, &next).await?;
    Ok(next)
}

/// The current version, held until the transaction ends.
pub(super) async fn locked(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId) -> StoreResult<Option<Skill>> {
    let sql = locking!(tx, "select body from skills where tenant_id = $1 and id = $2", "for update");
    let row = tx.row(sql, args![tenant, id]).await?;
    row.as_ref().map(skill_of).transpose()
}

/// The same by name.
pub(super) async fn locked_by_name(tx: &mut Tx<'_>, tenant: TenantId, name: &str) -> StoreResult<Option<Skill>> {
    let sql = locking!(tx, "select body from skills where tenant_id = $1 and name = $2", "for update");
    let row = tx.row(sql, args![tenant, name]).await?;
    row.as_ref().map(skill_of).transpose()
}

async fn keep_version(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<()> {
    tx.execute(
        "insert into skill_versions (tenant_id, skill_id, version, body) values ($1, $2, $3, $4)",
        args![tenant, skill.id, skill.version, to_json(skill)?],
    )
    .await?;
    Ok(())
}

fn numbered(skill: &Skill, id: SkillId, version: u64) -> StoreResult<Skill> {
    let version = u32::try_from(version)
        .map_err(|_| StoreError::Conflict(format!("skill {id} has too many versions; make a new skill of it")))?;
    Ok(Skill { id, version, ..skill.clone() })
}

fn searched(skill: &Skill) -> String {
    fold(&format!("{}\n{}", skill.name, skill.description))
}

fn taken(name: &str) -> String {
    format!("another skill has the name {name:?}; choose another, or change that one")
}
