use crate::codec::{from_json, to_json};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::governance::Classified;
use steward_core::ports::{Facts, Memory, Note, Reminder, StoreError, StoreResult};
use steward_core::{AgentId, TenantId, UserId};
use uuid::Uuid;

#[async_trait]
impl Facts for Store {
    async fn memory(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Memory> {
        let sql = "select text, version, classified from memories where tenant_id = $1 and agent_id = $2";
        Ok(self.first(sql, args![tenant, agent], |row| doc(row, 0)).await?.unwrap_or_default())
    }

    async fn save_memory(&self, tenant: TenantId, agent: AgentId, memory: &Memory) -> StoreResult<()> {
        let sql = if memory.version == 0 {
            "insert into memories (tenant_id, agent_id, text, version, classified) values ($1, $2, $3, $4 + 1, $5)
             on conflict do nothing"
        } else {
            "update memories set text = $3, version = $4 + 1, classified = $5
             where tenant_id = $1 and agent_id = $2 and version = $4"
        };
        let classified = memory.classified.as_ref().map(to_json).transpose()?;
        let args = args![tenant, agent, &memory.text, memory.version, classified];
        if self.execute(sql, args).await? == 0 {
            return Err(StoreError::Conflict("the memory was changed meanwhile; read it again".to_owned()));
        }
        Ok(())
    }

    async fn database_doc(&self, tenant: TenantId, agent: AgentId, user: Option<UserId>) -> StoreResult<Memory> {
        let sql = "select text, version, classified from database_docs
             where tenant_id = $1 and agent_id = $2 and user_id = $3";
        Ok(self.first(sql, args![tenant, agent, owner(user)], |row| doc(row, 0)).await?.unwrap_or_default())
    }

    async fn save_database_doc(
        &self,
        tenant: TenantId,
        agent: AgentId,
        user: Option<UserId>,
        doc: &Memory,
    ) -> StoreResult<()> {
        let sql = if doc.version == 0 {
            "insert into database_docs (tenant_id, agent_id, user_id, text, version, classified)
             values ($1, $2, $3, $4, $5 + 1, $6)
             on conflict do nothing"
        } else {
            "update database_docs set text = $4, version = $5 + 1, classified = $6
             where tenant_id = $1 and agent_id = $2 and user_id = $3 and version = $5"
        };
        let classified = doc.classified.as_ref().map(to_json).transpose()?;
        let args = args![tenant, agent, owner(user), &doc.text, doc.version, classified];
        if self.execute(sql, args).await? == 0 {
            return Err(StoreError::Conflict("the documentation was changed meanwhile; read it again".to_owned()));
        }
        Ok(())
    }

    async fn save_note(&self, tenant: TenantId, agent: AgentId, note: &Note) -> StoreResult<Option<Note>> {
        self.write((tenant, agent, note.clone()), |(tenant, agent, note), tx| {
            Box::pin(note_down(tx, *tenant, *agent, note))
        })
        .await
    }

    async fn remove_note(&self, tenant: TenantId, agent: AgentId, title: &str) -> StoreResult<()> {
        let sql = "delete from notes where tenant_id = $1 and agent_id = $2 and title = $3";
        require_changed(self.execute(sql, args![tenant, agent, title]).await?, || format!("note {title:?}"))
    }

    async fn notes(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Note>> {
        let sql = "select title, text, updated_at, classified from notes where tenant_id = $1 and agent_id = $2";
        self.all_by_name(sql, args![tenant, agent], note, |note| note.title.as_str()).await
    }

    async fn save_reminder(&self, tenant: TenantId, agent: AgentId, reminder: &Reminder) -> StoreResult<()> {
        let sql = "insert into reminders (tenant_id, agent_id, id, at, text, done, classified)
             values ($1, $2, $3, $4, $5, $6, $7)
             on conflict (tenant_id, agent_id, id)
             do update set at = excluded.at, text = excluded.text, done = excluded.done, removed = 0,
                           classified = excluded.classified";
        let classified = reminder.classified.as_ref().map(to_json).transpose()?;
        let args = args![tenant, agent, &reminder.id, reminder.at, &reminder.text, reminder.done, classified];
        self.run(sql, args).await
    }

    async fn remove_reminder(&self, tenant: TenantId, agent: AgentId, id: &str) -> StoreResult<()> {
        let sql = "update reminders set removed = 1
             where tenant_id = $1 and agent_id = $2 and id = $3 and removed = 0";
        require_changed(self.execute(sql, args![tenant, agent, id]).await?, || format!("reminder {id:?}"))
    }

    async fn reminders(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Reminder>> {
        let sql = "select id, at, text, done, classified from reminders
             where tenant_id = $1 and agent_id = $2 and removed = 0 order by at, id";
        self.all(sql, args![tenant, agent], reminder).await
    }
}

impl Store {
    /// What agents have written down about databases of this user's own.
    pub async fn database_docs_of(&self, tenant: TenantId, user: UserId) -> StoreResult<Vec<(AgentId, Memory)>> {
        let sql = "select agent_id, text, version, classified from database_docs
             where tenant_id = $1 and user_id = $2 order by agent_id";
        self.all(sql, args![tenant, user], |row| Ok((AgentId(row.id(0)?), doc(row, 1)?))).await
    }

    /// Deletes them for good; returns how many there were.
    pub async fn delete_database_docs_of(&self, tenant: TenantId, user: UserId) -> StoreResult<u64> {
        let sql = "delete from database_docs where tenant_id = $1 and user_id = $2";
        Ok(self.execute(sql, args![tenant, user]).await?)
    }

    /// Those of all agents, by time.
    pub async fn all_reminders(&self, tenant: TenantId) -> StoreResult<Vec<(AgentId, Reminder)>> {
        let sql = "select id, at, text, done, classified, agent_id from reminders
             where tenant_id = $1 and removed = 0 order by at, id";
        self.all(sql, args![tenant], |row| Ok((AgentId(row.id(5)?), reminder(row)?))).await
    }
}

fn owner(user: Option<UserId>) -> UserId {
    user.unwrap_or(UserId(Uuid::nil()))
}

/// From three columns on: text, version, classification.
fn doc(row: &Row, at: usize) -> StoreResult<Memory> {
    let classified = classified(row.opt_text(at + 2)?)?;
    Ok(Memory { text: row.text(at)?, version: row.count(at + 1)?, classified })
}

async fn note_down(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId, note: &Note) -> StoreResult<Option<Note>> {
    let sql = locking!(
        tx,
        "select title, text, updated_at, classified from notes
         where tenant_id = $1 and agent_id = $2 and title = $3",
        "for update"
    );
    let before = tx.row(sql, args![tenant, agent, &note.title]).await?;
    let classified = note.classified.as_ref().map(to_json).transpose()?;
    let sql = "insert into notes (tenant_id, agent_id, title, text, updated_at, classified)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (tenant_id, agent_id, title)
         do update set text = excluded.text, updated_at = excluded.updated_at, classified = excluded.classified";
    tx.execute(sql, args![tenant, agent, &note.title, &note.text, note.updated_at, classified]).await?;
    before.as_ref().map(self::note).transpose()
}

fn note(row: &Row) -> StoreResult<Note> {
    let classified = classified(row.opt_text(3)?)?;
    Ok(Note { title: row.text(0)?, text: row.text(1)?, updated_at: row.time(2)?, classified })
}

fn reminder(row: &Row) -> StoreResult<Reminder> {
    let (done, classified) = (row.int(3)? != 0, classified(row.opt_text(4)?)?);
    Ok(Reminder { id: row.text(0)?, at: row.time(1)?, text: row.text(2)?, done, classified })
}

fn classified(text: Option<String>) -> StoreResult<Option<Classified>> {
    text.map(|text| from_json("the classification of what an agent keeps", &text)).transpose()
}
