//! Skills and their versions: a change makes the next version, what changes nothing makes none. And which skills an
//! agent has: its body is read, changed and written in one transaction. Locks are taken in one order everywhere, the
//! skill's first and the agent's then.

use crate::codec::{body, fold, from_json, page_size, paged, pattern, sort_key, to_json};
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::agent::Agent;
use steward_core::package::SkillPackage;
use steward_core::ports::{Page, SkillFilter, SkillPackages, Skills, StoreError, StoreResult};
use steward_core::skill::Skill;
use steward_core::{AgentId, SkillId, TenantId};

#[async_trait]
impl Skills for Store {
    async fn save_skill(&self, tenant: TenantId, skill: &Skill) -> StoreResult<Skill> {
        self.write((tenant, skill.clone()), |(tenant, skill), tx| Box::pin(save(tx, *tenant, skill))).await
    }

    async fn skill(&self, tenant: TenantId, id: SkillId) -> StoreResult<Skill> {
        let sql = "select body from skills where tenant_id = $1 and id = $2";
        self.first(sql, args![tenant, id], skill_of).await?.ok_or_else(|| unknown_skill(id))
    }

    async fn skill_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Skill>> {
        self.first("select body from skills where tenant_id = $1 and name = $2", args![tenant, name], skill_of).await
    }

    async fn skill_version(&self, tenant: TenantId, id: SkillId, version: u32) -> StoreResult<Skill> {
        let sql = "select body from skill_versions where tenant_id = $1 and skill_id = $2 and version = $3";
        let found = self.first(sql, args![tenant, id, version], skill_of).await?;
        found.ok_or_else(|| StoreError::NotFound(format!("version {version} of skill {id}")))
    }

    async fn skills(
        &self,
        tenant: TenantId,
        filter: &SkillFilter,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<Skill>> {
        self.read((tenant, filter.clone(), after.map(str::to_owned), limit), |(tenant, filter, after, limit), tx| {
            Box::pin(page(tx, *tenant, filter, after.as_deref(), *limit))
        })
        .await
    }

    async fn remove_skill(&self, tenant: TenantId, id: SkillId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove(tx, *tenant, *id))).await
    }

    async fn skills_of(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Skill>> {
        self.read((tenant, agent), |(tenant, agent), tx| Box::pin(of_agent(tx, *tenant, *agent))).await
    }

    async fn attach_skill(&self, tenant: TenantId, agent: AgentId, skill: SkillId, attached: bool) -> StoreResult<()> {
        self.write((tenant, agent, skill, attached), |(tenant, agent, skill, attached), tx| {
            Box::pin(attach(tx, *tenant, *agent, *skill, *attached))
        })
        .await
    }

    async fn create_and_attach(&self, tenant: TenantId, agent: AgentId, skill: &Skill) -> StoreResult<(Skill, bool)> {
        self.write((tenant, agent, skill.clone()), |(tenant, agent, skill), tx| {
            Box::pin(create_and_attach(tx, *tenant, *agent, skill))
        })
        .await
    }
}

impl Store {
    /// All versions, the latest first.
    pub async fn skill_versions(&self, tenant: TenantId, id: SkillId) -> StoreResult<Vec<Skill>> {
        let sql = "select body from skill_versions where tenant_id = $1 and skill_id = $2 order by version desc";
        let versions = self.all(sql, args![tenant, id], skill_of).await?;
        if versions.is_empty() { Err(unknown_skill(id)) } else { Ok(versions) }
    }

    pub async fn agents_with(&self, tenant: TenantId, id: SkillId) -> StoreResult<Vec<AgentId>> {
        let sql = "select body from agents
             where tenant_id = $1 and deleted_at is null and body like $2 order by id";
        let agents: Vec<Agent> = self.all(sql, args![tenant, body_pattern(id)], body("an agent")).await?;
        Ok(agents.into_iter().filter(|agent| agent.skills.contains(&id)).map(|agent| agent.id).collect())
    }
}

fn skill_of(row: &Row) -> StoreResult<Skill> {
    from_json("a skill", &row.text(0)?)
}

fn unknown_skill(id: SkillId) -> StoreError {
    StoreError::NotFound(format!("skill {id}"))
}

fn unknown_agent(id: AgentId) -> StoreError {
    StoreError::NotFound(format!("agent {id}"))
}

/// Skills asked for in one statement.
const MAX_IDS: usize = 8;

async fn page(
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
    for id in read_agent(tx, tenant, agent).await?.skills {
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
    let sql = r"select body from skills
              where tenant_id = $1 and ($2 is null or id = $2)
                and ($3 is null or sort_key > $3) and ($4 is null or kind = $4)
                and ($5 is null or package = $5) and ($6 is null or category = $6)
                and ($7 is null or folded like $7 escape '\')
              order by sort_key limit $8";
    let rows = tx
        .rows(
            sql,
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

async fn of_agent(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Skill>> {
    let wanted = read_agent(tx, tenant, agent).await?.skills;
    let mut found = Vec::with_capacity(wanted.len());
    for ids in wanted.chunks(MAX_IDS) {
        let at = |index: usize| ids.get(index).copied();
        let sql = "select body from skills where tenant_id = $1
                   and id in ($2, $3, $4, $5, $6, $7, $8, $9)";
        let rows = tx.rows(sql, args![tenant, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)]).await?;
        for row in &rows {
            found.push(skill_of(row)?);
        }
    }
    let place = |skill: &Skill| wanted.iter().position(|id| *id == skill.id);
    found.sort_by_key(place);
    Ok(found)
}

async fn read_agent(tx: &mut Tx<'_>, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
    let sql = "select body from agents where tenant_id = $1 and id = $2 and deleted_at is null";
    let row = tx.row(sql, args![tenant, id]).await?;
    from_json("an agent", &row.ok_or_else(|| unknown_agent(id))?.text(0)?)
}

pub(super) fn body_pattern(id: SkillId) -> String {
    format!("%\"{id}\"%")
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<Skill> {
    if let Some(current) = lock_skill(tx, tenant, skill.id).await? {
        return change_skill(tx, tenant, &current, skill).await;
    }
    if let Some(made) = insert_skill(tx, tenant, skill).await? {
        return Ok(made);
    }
    // Somebody was quicker: with this id, or with this name.
    match lock_skill(tx, tenant, skill.id).await? {
        Some(current) => change_skill(tx, tenant, &current, skill).await,
        None => Err(StoreError::Conflict(name_taken(&skill.name))),
    }
}

/// Makes a skill; `None` if its id or its name is there.
async fn insert_skill(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<Option<Skill>> {
    // A removed skill that comes back goes on counting.
    let sql = "select coalesce(max(version), 0) from skill_versions
               where tenant_id = $1 and skill_id = $2";
    let last = tx.count(sql, args![tenant, skill.id]).await?;
    let made = with_version(skill, skill.id, last + 1)?;
    let sql = "insert into skills (tenant_id, id, name, sort_key, version, kind, category, package,
                                 folded, body)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             on conflict do nothing";
    let inserted = tx
        .execute(
            sql,
            args![
                tenant,
                made.id,
                &made.name,
                sort_key(&made.name),
                made.version,
                made.kind().as_str(),
                &made.category,
                made.package.as_deref(),
                search_text(&made),
                to_json(&made)?
            ],
        )
        .await?;
    if inserted == 0 {
        return Ok(None);
    }
    insert_version(tx, tenant, &made).await?;
    Ok(Some(made))
}

/// Makes `skill` the next version of `current`, under its id.
async fn change_skill(tx: &mut Tx<'_>, tenant: TenantId, current: &Skill, skill: &Skill) -> StoreResult<Skill> {
    let same =
        Skill { id: current.id, version: current.version, at: current.at, by: current.by.clone(), ..skill.clone() };
    if same == *current {
        return Ok(same);
    }
    let next = with_version(skill, current.id, u64::from(current.version) + 1)?;
    tx.write_unique(
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
            search_text(&next),
            to_json(&next)?
        ],
        || name_taken(&next.name),
    )
    .await?;
    insert_version(tx, tenant, &next).await?;
    Ok(next)
}

/// The current version, held until the transaction ends.
async fn lock_skill(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId) -> StoreResult<Option<Skill>> {
    let sql = locking!(tx, "select body from skills where tenant_id = $1 and id = $2", "for update");
    tx.row(sql, args![tenant, id]).await?.as_ref().map(skill_of).transpose()
}

/// The same by name.
async fn lock_skill_by_name(tx: &mut Tx<'_>, tenant: TenantId, name: &str) -> StoreResult<Option<Skill>> {
    let sql = locking!(tx, "select body from skills where tenant_id = $1 and name = $2", "for update");
    tx.row(sql, args![tenant, name]).await?.as_ref().map(skill_of).transpose()
}

async fn insert_version(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<()> {
    let sql = "insert into skill_versions (tenant_id, skill_id, version, body) values ($1, $2, $3, $4)";
    tx.run(sql, args![tenant, skill.id, skill.version, to_json(skill)?]).await
}

fn with_version(skill: &Skill, id: SkillId, version: u64) -> StoreResult<Skill> {
    let version = u32::try_from(version)
        .map_err(|_| StoreError::Conflict(format!("skill {id} has too many versions; make a new skill of it")))?;
    Ok(Skill { id, version, ..skill.clone() })
}

fn search_text(skill: &Skill) -> String {
    fold(&format!("{}\n{}", skill.name, skill.description))
}

fn name_taken(name: &str) -> String {
    format!("another skill has the name {name:?}; choose another, or change that one")
}

/// Removes a skill. Its versions stay, since runs refer to them.
async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId) -> StoreResult<()> {
    let sql = "delete from skills where tenant_id = $1 and id = $2";
    if tx.execute(sql, args![tenant, id]).await? == 0 {
        return Err(unknown_skill(id));
    }
    // Deleted agents too: one that is restored must not name what is gone.
    let sql = locking!(tx, "select body from agents where tenant_id = $1 and body like $2 order by id", "for update");
    for row in tx.rows(sql, args![tenant, body_pattern(id)]).await? {
        let mut agent: Agent = from_json("an agent", &row.text(0)?)?;
        let before = agent.skills.len();
        agent.skills.retain(|skill| *skill != id);
        if agent.skills.len() < before {
            write_agent(tx, tenant, &agent).await?;
        }
    }
    Ok(())
}

async fn attach(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId, skill: SkillId, attached: bool) -> StoreResult<()> {
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

async fn create_and_attach(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    agent: AgentId,
    skill: &Skill,
) -> StoreResult<(Skill, bool)> {
    let (kept, made) = create_or_change(tx, tenant, skill).await?;
    attach(tx, tenant, agent, kept.id, true).await?;
    Ok((kept, made))
}

/// The skill under its name, made or changed.
async fn create_or_change(tx: &mut Tx<'_>, tenant: TenantId, skill: &Skill) -> StoreResult<(Skill, bool)> {
    if let Some(current) = lock_skill_by_name(tx, tenant, &skill.name).await? {
        return Ok((change_skill(tx, tenant, &current, skill).await?, false));
    }
    if let Some(made) = insert_skill(tx, tenant, skill).await? {
        return Ok((made, true));
    }
    // A call beside this one made it between the two statements, or its id is another skill's.
    match lock_skill_by_name(tx, tenant, &skill.name).await? {
        Some(current) => Ok((change_skill(tx, tenant, &current, skill).await?, false)),
        None => {
            Err(StoreError::Conflict(format!("skill {} has another name; make the new one under a new id", skill.id)))
        }
    }
}

/// Changes an agent's skills; `how` says whether it did.
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

async fn write_agent(tx: &mut Tx<'_>, tenant: TenantId, agent: &Agent) -> StoreResult<()> {
    tx.run("update agents set body = $3 where tenant_id = $1 and id = $2", args![tenant, agent.id, to_json(agent)?])
        .await
}

// Imported packages: each revision a row.
#[async_trait]
impl SkillPackages for Store {
    async fn save_package(&self, tenant: TenantId, package: &SkillPackage) -> StoreResult<()> {
        let sql = "insert into skill_packages (tenant_id, name, sort_key, revision, body)
             values ($1, $2, $3, $4, $5)
             on conflict (tenant_id, name, revision) do update set body = excluded.body";
        let args = args![tenant, &package.name, sort_key(&package.name), package.revision, to_json(package)?];
        self.run(sql, args).await
    }

    async fn package(&self, tenant: TenantId, name: &str, revision: Option<u32>) -> StoreResult<Option<SkillPackage>> {
        let sql = "select body from skill_packages
             where tenant_id = $1 and name = $2 and ($3 is null or revision = $3)
             order by revision desc limit 1";
        self.first(sql, args![tenant, name, revision], body("a package")).await
    }
}

impl Store {
    /// Latest revisions by name.
    pub async fn packages(&self, tenant: TenantId, after: Option<&str>, limit: u32) -> StoreResult<Page<SkillPackage>> {
        let sql = "select body from skill_packages p
             where tenant_id = $1 and ($2 is null or sort_key > $2)
               and revision = (select max(revision) from skill_packages
                               where tenant_id = $1 and name = p.name)
             order by sort_key limit $3";
        let limit = page_size(limit);
        self.page(sql, args![tenant, after.map(sort_key), limit + 1], limit, body("a package")).await
    }
}
