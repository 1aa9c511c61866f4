use super::run_commit::open_run;
use crate::codec::{body, fold, from_json, page_size, pattern, status_of};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::message::Message;
use steward_core::ports::{Conversation, ConversationFilter, Conversations, Page, RunStatus, StoreError, StoreResult};
use steward_core::prompt::Carried;
use steward_core::{AgentId, ConversationId, RunId, TenantId, Timestamp, UserId};

#[async_trait]
impl Conversations for Store {
    async fn carried(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Carried> {
        let sql = "select carried from conversations where tenant_id = $1 and id = $2";
        let row = self.row(sql, args![tenant, id]).await?;
        let text = row.ok_or_else(|| unknown_conversation(id))?.opt_text(0)?;
        text.map_or_else(|| Ok(Carried::default()), |text| from_json("what a conversation carries on", &text))
    }

    async fn messages(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>> {
        self.read((tenant, id), |(tenant, id), tx| Box::pin(messages(tx, *tenant, *id))).await
    }
}

impl Store {
    pub async fn create_conversation(&self, tenant: TenantId, conversation: &Conversation) -> StoreResult<()> {
        self.write((tenant, conversation.clone()), |(tenant, it), tx| Box::pin(create(tx, *tenant, it))).await
    }

    pub async fn conversation(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Conversation> {
        self.read((tenant, id), |(tenant, id), tx| Box::pin(one(tx, *tenant, *id))).await
    }

    pub async fn conversations(&self, tenant: TenantId, filter: ConversationFilter) -> StoreResult<Page<Conversation>> {
        let limit = page_size(filter.limit);
        let args = args![
            tenant,
            filter.user,
            filter.agent,
            pattern(filter.text.as_deref())?,
            filter.deleted,
            filter.before,
            limit + 1,
            filter.nobody
        ];
        self.page(
            "select c.id, c.agent_id, c.user_id, c.title, c.created_at, c.updated_at, c.deleted_at,
                    c.forked_from
             from conversations c
             where c.tenant_id = $1
               and ($2 is null or c.user_id = $2 or (c.user_id is null and $8 = 1))
               and ($3 is null or c.agent_id = $3)
               and ($4 is null or c.folded_title like $4 escape '\\' or exists (
                   select 1 from messages m
                   where m.tenant_id = c.tenant_id and m.conversation_id = c.id
                     and m.folded_text like $4 escape '\\'))
               and case when c.deleted_at is null then 0 else 1 end = $5
               and ($6 is null or c.id < $6)
             order by c.id desc limit $7",
            args,
            limit,
            header,
        )
        .await
    }

    pub async fn rename_conversation(
        &self,
        tenant: TenantId,
        id: ConversationId,
        title: &str,
        at: Timestamp,
    ) -> StoreResult<()> {
        let sql = "update conversations set title = $3, folded_title = $4,
               updated_at = case when updated_at < $5 then $5 else updated_at end
             where tenant_id = $1 and id = $2";
        let changed = self.execute(sql, args![tenant, id, title, fold(title), at]).await?;
        require_changed(changed, || format!("conversation {id}"))
    }

    /// Marks it deleted (`Some`) or takes that back (`None`). Nothing is lost.
    pub async fn mark_deleted(&self, tenant: TenantId, id: ConversationId, at: Option<Timestamp>) -> StoreResult<()> {
        self.write((tenant, id, at), |(tenant, id, at), tx| Box::pin(mark(tx, *tenant, *id, *at))).await
    }

    /// Begins `copy` with the messages that `from` had when `before` was made (all: `None`).
    pub async fn fork_conversation(
        &self,
        tenant: TenantId,
        from: ConversationId,
        before: Option<RunId>,
        copy: &Conversation,
    ) -> StoreResult<()> {
        let args = (tenant, from, before, copy.clone());
        self.write(args, |(tenant, from, before, copy), tx| Box::pin(fork(tx, *tenant, *from, *before, copy))).await
    }
}

/// A header without messages.
async fn create(tx: &mut Tx<'_>, tenant: TenantId, it: &Conversation) -> StoreResult<()> {
    tx.write_unique(
        "insert into conversations (tenant_id, id, agent_id, user_id, title, created_at, updated_at,
                                    deleted_at, forked_from, folded_title, messages)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)",
        args![
            tenant,
            it.id,
            it.agent,
            it.user,
            &it.title,
            it.created_at,
            it.updated_at,
            it.deleted_at,
            it.forked_from,
            fold(&it.title)
        ],
        || format!("conversation {} exists already", it.id),
    )
    .await
}

async fn one(tx: &mut Tx<'_>, tenant: TenantId, id: ConversationId) -> StoreResult<Conversation> {
    let sql = "select id, agent_id, user_id, title, created_at, updated_at, deleted_at, forked_from
             from conversations where tenant_id = $1 and id = $2";
    let row = tx.row(sql, args![tenant, id]).await?;
    header(&row.ok_or_else(|| unknown_conversation(id))?)
}

async fn messages(tx: &mut Tx<'_>, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>> {
    one(tx, tenant, id).await?;
    let sql = "select body from messages where tenant_id = $1 and conversation_id = $2 order by seq";
    let rows = tx.rows(sql, args![tenant, id]).await?;
    rows.iter().map(body("a message")).collect()
}

async fn mark(tx: &mut Tx<'_>, tenant: TenantId, id: ConversationId, at: Option<Timestamp>) -> StoreResult<()> {
    // First, as it locks the row: no run can begin here before we are done.
    let sql = "update conversations set deleted_at = $3 where tenant_id = $1 and id = $2";
    require_changed(tx.execute(sql, args![tenant, id, at]).await?, || format!("conversation {id}"))?;
    if at.is_some()
        && let Some(run) = open_run(tx, tenant, id).await?
    {
        return Err(StoreError::Conflict(format!("run {run} of the conversation has not ended; stop it first")));
    }
    Ok(())
}
fn unknown_conversation(id: ConversationId) -> StoreError {
    StoreError::NotFound(format!("conversation {id}"))
}

fn header(row: &Row) -> StoreResult<Conversation> {
    Ok(Conversation {
        id: ConversationId(row.id(0)?),
        agent: AgentId(row.id(1)?),
        user: row.opt_id(2)?.map(UserId),
        title: row.text(3)?,
        created_at: row.time(4)?,
        updated_at: row.time(5)?,
        deleted_at: row.opt_int(6)?.map(Timestamp),
        forked_from: row.opt_id(7)?.map(ConversationId),
    })
}

/// Begins `copy` with what was said in `from` before `before` said something.
async fn fork(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    from: ConversationId,
    before: Option<RunId>,
    copy: &Conversation,
) -> StoreResult<()> {
    let sql = locking!(tx, "select id from conversations where tenant_id = $1 and id = $2", "for update");
    tx.row(sql, args![tenant, from]).await?.ok_or_else(|| unknown_conversation(from))?;
    let end = match before {
        Some(run) => end_before(tx, tenant, from, run).await?,
        None => i64::MAX,
    };
    create(tx, tenant, copy).await?;
    let sql = "insert into messages (tenant_id, conversation_id, seq, body, run_id, folded_text)
             select tenant_id, $3, seq, body, run_id, folded_text from messages
             where tenant_id = $1 and conversation_id = $2 and seq < $4";
    let copied = tx.execute(sql, args![tenant, from, copy.id, end]).await?;
    tx.run("update conversations set messages = $3 where tenant_id = $1 and id = $2", args![tenant, copy.id, copied])
        .await
}

/// Runs of a conversation follow each other and their ids grow, so it is the first of this run or of a later one.
async fn end_before(tx: &mut Tx<'_>, tenant: TenantId, from: ConversationId, run: RunId) -> StoreResult<i64> {
    let sql = "select min(case when run_id >= $3 then seq end),
                    sum(case when run_id = $3 then 1 else 0 end),
                    sum(case when run_id is null then 1 else 0 end)
             from messages where tenant_id = $1 and conversation_id = $2";
    let found = tx.row(sql, args![tenant, from, run]).await?;
    let (end, own, untold) = match found {
        Some(row) => (row.opt_int(0)?, row.opt_int(1)?.unwrap_or(0), row.opt_int(2)?.unwrap_or(0)),
        None => (None, 0, 0),
    };
    if own == 0 {
        let row = tx
            .row(
                "select status from runs
                 where tenant_id = $1 and id = $2 and conversation_id = $3",
                args![tenant, run, from],
            )
            .await?
            .ok_or_else(|| StoreError::NotFound(format!("run {run} in conversation {from}")))?;
        if untold > 0 && status_of(&row.text(0)?)? == RunStatus::Finished {
            return Err(StoreError::Conflict(format!(
                "an older version did not note which messages of conversation {from} are those of \
                 run {run}; branch off after its newest message instead"
            )));
        }
    }
    Ok(end.unwrap_or(i64::MAX))
}
