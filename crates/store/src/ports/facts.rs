//! What agents keep for themselves.

use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::ports::{Facts, Note, Reminder, StoreError, StoreResult};
use steward_core::{AgentId, TenantId};

#[async_trait]
impl Facts for Store {
    async fn memory(&self, tenant: TenantId, agent: AgentId) -> StoreResult<(String, u64)> {
        self.read((tenant, agent), |(tenant, agent), tx| {
            Box::pin(async move {
                let sql = "select text, version from memories where tenant_id = $1 and agent_id = $2";
                match tx.row(sql, args![*tenant, *agent]).await? {
                    Some(row) => Ok((row.text(0)?, row.count(1)?)),
                    None => Ok((String::new(), 0)),
                }
            })
        })
        .await
    }

    async fn save_memory(&self, tenant: TenantId, agent: AgentId, text: &str, version: u64) -> StoreResult<()> {
        self.write((tenant, agent, text.to_owned(), version), |args, tx| {
            Box::pin(remember(tx, args.0, args.1, &args.2, args.3))
        })
        .await
    }

    async fn save_note(&self, tenant: TenantId, agent: AgentId, note: &Note) -> StoreResult<Option<Note>> {
        self.write((tenant, agent, note.clone()), |(tenant, agent, note), tx| {
            Box::pin(note_down(tx, *tenant, *agent, note))
        })
        .await
    }

    async fn remove_note(&self, tenant: TenantId, agent: AgentId, title: &str) -> StoreResult<()> {
        let sql = "delete from notes where tenant_id = $1 and agent_id = $2 and title = $3";
        remove(self, sql, "note", tenant, agent, title).await
    }

    async fn notes(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Note>> {
        self.read((tenant, agent), |(tenant, agent), tx| Box::pin(notes(tx, *tenant, *agent))).await
    }

    async fn save_reminder(&self, tenant: TenantId, agent: AgentId, reminder: &Reminder) -> StoreResult<()> {
        let args = (tenant, agent, reminder.clone());
        self.write(args, |(tenant, agent, reminder), tx| Box::pin(remind(tx, *tenant, *agent, reminder))).await
    }

    async fn remove_reminder(&self, tenant: TenantId, agent: AgentId, id: &str) -> StoreResult<()> {
        let sql = "update reminders set removed = 1
                   where tenant_id = $1 and agent_id = $2 and id = $3 and removed = 0";
        remove(self, sql, "reminder", tenant, agent, id).await
    }

    async fn reminders(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Reminder>> {
        self.read((tenant, agent), |(tenant, agent), tx| Box::pin(reminders(tx, *tenant, *agent))).await
    }

    async fn all_reminders(&self, tenant: TenantId) -> StoreResult<Vec<(AgentId, Reminder)>> {
        self.read(tenant, |tenant, tx| Box::pin(all_reminders(tx, *tenant))).await
    }
}

async fn remember(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId, text: &str, version: u64) -> StoreResult<()> {
    let sql = if version == 0 {
        "insert into memories (tenant_id, agent_id, text, version) values ($1, $2, $3, $4 + 1)
         on conflict do nothing"
    } else {
        "update memories set text = $3, version = $4 + 1
         where tenant_id = $1 and agent_id = $2 and version = $4"
    };
    let changed = tx.execute(sql, args![tenant, agent, text, version]).await?;
    if changed == 0 {
        return Err(StoreError::Conflict("the memory was changed meanwhile; read it again".to_owned()));
    }
    Ok(())
}

async fn note_down(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId, note: &Note) -> StoreResult<Option<Note>> {
    let sql = locking!(
        tx,
        "select title, text, updated_at from notes
         where tenant_id = $1 and agent_id = $2 and title = $3",
        "for update"
    );
    let before = tx.row(sql, args![tenant, agent, &note.title]).await?;
    tx.execute(
        "insert into notes (tenant_id, agent_id, title, text, updated_at)
         values ($1, $2, $3, $4, $5)
         on conflict (tenant_id, agent_id, title)
         do update set text = excluded.text, updated_at = excluded.updated_at",
        args![tenant, agent, &note.title, &note.text, note.updated_at],
    )
    .await?;
    before.map(|row| Ok(Note { title: row.text(0)?, text: row.text(1)?, updated_at: row.time(2)? })).transpose()
}

async fn notes(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Note>> {
    let rows = tx
        .rows("select title, text, updated_at from notes where tenant_id = $1 and agent_id = $2", args![tenant, agent])
        .await?;
    let mut notes: Vec<_> = rows
        .iter()
        .map(|row| Ok(Note { title: row.text(0)?, text: row.text(1)?, updated_at: row.time(2)? }))
        .collect::<StoreResult<_>>()?;
    // Sorted here: the order of text in PostgreSQL depends on its locale.
    notes.sort_by(|a, b| a.title.cmp(&b.title));
    Ok(notes)
}

async fn remind(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId, reminder: &Reminder) -> StoreResult<()> {
    tx.execute(
        "insert into reminders (tenant_id, agent_id, id, at, text, done)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (tenant_id, agent_id, id)
         do update set at = excluded.at, text = excluded.text, done = excluded.done,
                       removed = 0",
        args![tenant, agent, &reminder.id, reminder.at, &reminder.text, reminder.done],
    )
    .await?;
    Ok(())
}

async fn reminders(tx: &mut Tx<'_>, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Reminder>> {
    let rows = tx
        .rows(
            "select id, at, text, done from reminders
             where tenant_id = $1 and agent_id = $2 and removed = 0 order by at, id",
            args![tenant, agent],
        )
        .await?;
    rows.iter().map(reminder).collect()
}

async fn all_reminders(tx: &mut Tx<'_>, tenant: TenantId) -> StoreResult<Vec<(AgentId, Reminder)>> {
    let rows = tx
        .rows(
            "select id, at, text, done, agent_id from reminders
             where tenant_id = $1 and removed = 0 order by at, id",
            args![tenant],
        )
        .await?;
    rows.iter().map(|row| Ok((AgentId(row.id(4)?), reminder(row)?))).collect()
}

fn reminder(row: &Row) -> StoreResult<Reminder> {
    Ok(Reminder { id: row.text(0)?, at: row.time(1)?, text: row.text(2)?, done: row.int(3)? != 0 })
}

async fn remove(
    store: &Store,
    sql: &'static str,
    what: &str,
    tenant: TenantId,
    agent: AgentId,
    key: &str,
) -> StoreResult<()> {
    let args = (sql, tenant, agent, key.to_owned());
    let removed = store
        .write(args, |(sql, tenant, agent, key), tx| {
            Box::pin(async move { Ok(tx.execute(sql, args![*tenant, *agent, key]).await?) })
        })
        .await?;
    if removed == 0 {
        return Err(StoreError::NotFound(format!("{what} {key:?}")));
    }
    Ok(())
}
