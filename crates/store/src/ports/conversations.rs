//! Conversations.

use crate::codec::{from_json, page_size};
use crate::error::clash;
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::message::Message;
use steward_core::ports::{Conversation, Conversations, Page, StoreError, StoreResult};
use steward_core::{AgentId, ConversationId, TenantId, UserId};

#[async_trait]
impl Conversations for Store {
    async fn create_conversation(
        &self,
        tenant: TenantId,
        conversation: &Conversation,
    ) -> StoreResult<()> {
        self.write((tenant, conversation.clone()), |(tenant, it), tx| {
            Box::pin(create(tx, *tenant, it))
        })
        .await
    }

    async fn conversation(
        &self,
        tenant: TenantId,
        id: ConversationId,
    ) -> StoreResult<Conversation> {
        self.read((tenant, id), |(tenant, id), tx| {
            Box::pin(one(tx, *tenant, *id))
        })
        .await
    }

    async fn messages(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>> {
        self.read((tenant, id), |(tenant, id), tx| {
            Box::pin(said(tx, *tenant, *id))
        })
        .await
    }

    async fn conversations(
        &self,
        tenant: TenantId,
        before: Option<ConversationId>,
        limit: u32,
    ) -> StoreResult<Page<Conversation>> {
        self.read((tenant, before, page_size(limit)), |args, tx| {
            Box::pin(page(tx, args.0, args.1, args.2))
        })
        .await
    }
}

async fn create(tx: &mut Tx<'_>, tenant: TenantId, it: &Conversation) -> StoreResult<()> {
    tx.execute(
        "insert into conversations (tenant_id, id, agent_id, user_id, title, created_at, messages)
         values ($1, $2, $3, $4, $5, $6, 0)",
        args![tenant, it.id, it.agent, it.user, &it.title, it.created_at],
    )
    .await
    .map_err(|e| clash(e, || format!("conversation {} exists already", it.id)))?;
    Ok(())
}

async fn one(tx: &mut Tx<'_>, tenant: TenantId, id: ConversationId) -> StoreResult<Conversation> {
    let row = tx
        .row(
            "select id, agent_id, user_id, title, created_at from conversations
             where tenant_id = $1 and id = $2",
            args![tenant, id],
        )
        .await?;
    header(&row.ok_or_else(|| StoreError::NotFound(format!("conversation {id}")))?)
}

async fn said(tx: &mut Tx<'_>, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>> {
    one(tx, tenant, id).await?;
    let rows = tx
        .rows(
            "select body from messages where tenant_id = $1 and conversation_id = $2 order by seq",
            args![tenant, id],
        )
        .await?;
    rows.iter()
        .map(|row| from_json("a message", &row.text(0)?))
        .collect()
}

async fn page(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    before: Option<ConversationId>,
    limit: u32,
) -> StoreResult<Page<Conversation>> {
    let rows = tx
        .rows(
            "select id, agent_id, user_id, title, created_at from conversations
             where tenant_id = $1 and ($2 is null or id < $2) order by id desc limit $3",
            args![tenant, before, limit + 1],
        )
        .await?;
    let mut items: Vec<_> = rows.iter().map(header).collect::<StoreResult<_>>()?;
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    Ok(Page { items, more })
}

fn header(row: &Row) -> StoreResult<Conversation> {
    Ok(Conversation {
        id: ConversationId(row.id(0)?),
        agent: AgentId(row.id(1)?),
        user: row.opt_id(2)?.map(UserId),
        title: row.text(3)?,
        created_at: row.time(4)?,
    })
}
