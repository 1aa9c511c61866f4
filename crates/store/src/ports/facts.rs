use crate::codec::{provenance_of, provenance_text};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::agent::KeptFor;
use steward_core::ports::{Facts, Memory, Note, Reminder, StoreError, StoreResult};
use steward_core::{AgentId, TenantId, UserId};
use uuid::Uuid;

/// Of a user, in each table of what agents keep.
const FORGET: [&str; 4] = [
    "delete from memories where tenant_id = $1 and user_id = $2",
    "delete from database_docs where tenant_id = $1 and user_id = $2",
    "delete from notes where tenant_id = $1 and user_id = $2",
    "delete from reminders where tenant_id = $1 and user_id = $2",
];

#[async_trait]
impl Facts for Store {
    async fn memory(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Memory> {
        let sql = "select text, version, provenance from memories
             where tenant_id = $1 and agent_id = $2 and user_id = $3";
        Ok(self.first(sql, args![tenant, agent, owner(of)], |row| text_of(row, 0)).await?.unwrap_or_default())
    }

    async fn save_memory(&self, tenant: TenantId, agent: AgentId, of: KeptFor, memory: &Memory) -> StoreResult<()> {
        let sql = if memory.version == 0 {
            "insert into memories (tenant_id, agent_id, user_id, text, version, provenance)
             values ($1, $2, $3, $4, $5 + 1, $6)
             on conflict do nothing"
        } else {
            "update memories set text = $4, version = $5 + 1, provenance = $6
             where tenant_id = $1 and agent_id = $2 and user_id = $3 and version = $5"
        };
        let args = args![tenant, agent, owner(of), &memory.text, memory.version, provenance_text(&memory.provenance)?];
        if self.execute(sql, args).await? == 0 {
            return Err(StoreError::Conflict("the memory was changed meanwhile; read it again".to_owned()));
        }
        Ok(())
    }

    async fn database_doc(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Memory> {
        let sql = "select text, version, provenance from database_docs
             where tenant_id = $1 and agent_id = $2 and user_id = $3";
        Ok(self.first(sql, args![tenant, agent, owner(of)], |row| text_of(row, 0)).await?.unwrap_or_default())
    }

    async fn save_database_doc(&self, tenant: TenantId, agent: AgentId, of: KeptFor, doc: &Memory) -> StoreResult<()> {
        let sql = if doc.version == 0 {
            "insert into database_docs (tenant_id, agent_id, user_id, text, version, provenance)
             values ($1, $2, $3, $4, $5 + 1, $6)
             on conflict do nothing"
        } else {
            "update database_docs set text = $4, version = $5 + 1, provenance = $6
             where tenant_id = $1 and agent_id = $2 and user_id = $3 and version = $5"
        };
        let args = args![tenant, agent, owner(of), &doc.text, doc.version, provenance_text(&doc.provenance)?];
        if self.execute(sql, args).await? == 0 {
            return Err(StoreError::Conflict("the documentation was changed meanwhile; read it again".to_owned()));
        }
        Ok(())
    }

    async fn save_note(&self, tenant: TenantId, agent: AgentId, of: KeptFor, note: &Note) -> StoreResult<Option<Note>> {
        self.write((tenant, agent, of, note.clone()), |(tenant, agent, of, note), tx| {
            Box::pin(note_down(tx, *tenant, *agent, *of, note))
        })
        .await
    }

    async fn remove_note(&self, tenant: TenantId, agent: AgentId, of: KeptFor, title: &str) -> StoreResult<()> {
        let sql = "delete from notes where tenant_id = $1 and agent_id = $2 and user_id = $3 and title = $4";
        require_changed(self.execute(sql, args![tenant, agent, owner(of), title]).await?, || format!("note {title:?}"))
    }

    async fn notes(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Vec<Note>> {
        let sql = "select title, text, updated_at, provenance from notes
             where tenant_id = $1 and agent_id = $2 and user_id = $3";
        self.all_by_name(sql, args![tenant, agent, owner(of)], |row| note(row, 0), |note| note.title.as_str()).await
    }

    async fn save_reminder(
        &self,
        tenant: TenantId,
        agent: AgentId,
        of: KeptFor,
        reminder: &Reminder,
    ) -> StoreResult<()> {
        let sql = "insert into reminders (tenant_id, agent_id, user_id, id, at, text, done, provenance)
             values ($1, $2, $3, $4, $5, $6, $7, $8)
             on conflict (tenant_id, agent_id, user_id, id)
             do update set at = excluded.at, text = excluded.text, done = excluded.done,
                           provenance = excluded.provenance";
        let Reminder { id, at, text, done, provenance } = reminder;
        self.run(sql, args![tenant, agent, owner(of), id, *at, text, *done, provenance_text(provenance)?]).await
    }

    async fn remove_reminder(&self, tenant: TenantId, agent: AgentId, of: KeptFor, id: &str) -> StoreResult<()> {
        let sql = "delete from reminders where tenant_id = $1 and agent_id = $2 and user_id = $3 and id = $4";
        require_changed(self.execute(sql, args![tenant, agent, owner(of), id]).await?, || format!("reminder {id:?}"))
    }

    async fn reminders(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Vec<Reminder>> {
        let sql = "select id, at, text, done, provenance from reminders
             where tenant_id = $1 and agent_id = $2 and user_id = $3 order by at, id";
        self.all(sql, args![tenant, agent, owner(of)], |row| reminder(row, 0)).await
    }
}

/// What all agents keep for one.
impl Store {
    pub async fn memories_of(&self, tenant: TenantId, of: KeptFor) -> StoreResult<Vec<(AgentId, Memory)>> {
        let sql = "select agent_id, text, version, provenance from memories
             where tenant_id = $1 and user_id = $2 order by agent_id";
        self.all(sql, args![tenant, owner(of)], |row| Ok((AgentId(row.id(0)?), text_of(row, 1)?))).await
    }

    pub async fn database_docs_of(&self, tenant: TenantId, of: KeptFor) -> StoreResult<Vec<(AgentId, Memory)>> {
        let sql = "select agent_id, text, version, provenance from database_docs
             where tenant_id = $1 and user_id = $2 order by agent_id";
        self.all(sql, args![tenant, owner(of)], |row| Ok((AgentId(row.id(0)?), text_of(row, 1)?))).await
    }

    pub async fn notes_of(&self, tenant: TenantId, of: KeptFor) -> StoreResult<Vec<(AgentId, Note)>> {
        let sql = "select agent_id, title, text, updated_at, provenance from notes
             where tenant_id = $1 and user_id = $2 order by agent_id, title";
        self.all(sql, args![tenant, owner(of)], |row| Ok((AgentId(row.id(0)?), note(row, 1)?))).await
    }

    /// By time.
    pub async fn reminders_of(&self, tenant: TenantId, of: KeptFor) -> StoreResult<Vec<(AgentId, Reminder)>> {
        let sql = "select agent_id, id, at, text, done, provenance from reminders
             where tenant_id = $1 and user_id = $2 order by at, id";
        self.all(sql, args![tenant, owner(of)], |row| Ok((AgentId(row.id(0)?), reminder(row, 1)?))).await
    }

    /// Deletes for good what agents keep for a user; returns how many rows there were.
    pub async fn delete_kept_of(&self, tenant: TenantId, user: UserId) -> StoreResult<u64> {
        self.write((tenant, user), |(tenant, user), tx| Box::pin(forget_kept_of(tx, *tenant, *user))).await
    }
}

/// As [`Store::delete_kept_of`].
pub(crate) async fn forget_kept_of(tx: &mut Tx<'_>, tenant: TenantId, user: UserId) -> StoreResult<u64> {
    let mut deleted = 0;
    for sql in FORGET {
        deleted += tx.execute(sql, args![tenant, user]).await?;
    }
    Ok(deleted)
}

fn owner(of: KeptFor) -> UserId {
    match of {
        KeptFor::Everybody => UserId(Uuid::nil()),
        KeptFor::User(user) => user,
    }
}

/// From three columns on: text, version, provenance.
fn text_of(row: &Row, at: usize) -> StoreResult<Memory> {
    let provenance = provenance_of(row.opt_text(at + 2)?)?;
    Ok(Memory { text: row.text(at)?, version: row.count(at + 1)?, provenance })
}

async fn note_down(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    agent: AgentId,
    of: KeptFor,
    new: &Note,
) -> StoreResult<Option<Note>> {
    let sql = locking!(
        tx,
        "select title, text, updated_at, provenance from notes
         where tenant_id = $1 and agent_id = $2 and user_id = $3 and title = $4",
        "for update"
    );
    let before = tx.row(sql, args![tenant, agent, owner(of), &new.title]).await?;
    let sql = "insert into notes (tenant_id, agent_id, user_id, title, text, updated_at, provenance)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (tenant_id, agent_id, user_id, title)
         do update set text = excluded.text, updated_at = excluded.updated_at, provenance = excluded.provenance";
    let Note { title, text, updated_at, provenance } = new;
    tx.execute(sql, args![tenant, agent, owner(of), title, text, *updated_at, provenance_text(provenance)?]).await?;
    before.as_ref().map(|row| note(row, 0)).transpose()
}

/// From four columns on: title, text, time, provenance.
fn note(row: &Row, at: usize) -> StoreResult<Note> {
    let provenance = provenance_of(row.opt_text(at + 3)?)?;
    Ok(Note { title: row.text(at)?, text: row.text(at + 1)?, updated_at: row.time(at + 2)?, provenance })
}

/// From five columns on: id, time, text, whether it is done, provenance.
fn reminder(row: &Row, at: usize) -> StoreResult<Reminder> {
    let (done, provenance) = (row.int(at + 3)? != 0, provenance_of(row.opt_text(at + 4)?)?);
    Ok(Reminder { id: row.text(at)?, at: row.time(at + 1)?, text: row.text(at + 2)?, done, provenance })
}
