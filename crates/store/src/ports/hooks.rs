//! Webhooks and their deliveries. A delivery is kept once for each event of its sender; its run is made together with its
//! fate.

use crate::append::AppendBatch;
use crate::codec::{from_json, page_size, to_json};
use crate::error::DbError;
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use steward_core::ports::{
    Accepted, DeliveryFate, DeliveryKey, DeliveryRow, FATE_STARTED, HookBody, HookFilter, HookRow, NewDelivery, Page,
    StoreError, StoreResult,
};
use steward_core::{AgentId, DeliveryId, HookId, RunId, TenantId, Timestamp, UserId};

macro_rules! select_hook {
    ($rest:expr) => {
        concat!(
            "select id, owner_id, agent_id, body, resumed_at, revision, created_at, updated_at, deleted_at from hooks ",
            $rest
        )
    };
}

macro_rules! select_delivery {
    ($content:literal, $rest:expr) => {
        concat!(
            "select d.id, d.hook_id, d.event, d.received_at, d.fate, d.reason, d.settled_at, d.run_id,
                    coalesce(d.outcome, r.ended_as, case when d.run_id is not null and r.id is null then 'deleted' end),
                    d.repeats, d.bytes, ",
            $content,
            " from deliveries d left join runs r on r.tenant_id = d.tenant_id and r.id = d.run_id ",
            $rest
        )
    };
}

impl Store {
    pub async fn create_hook(&self, tenant: TenantId, row: &HookRow) -> StoreResult<()> {
        let sql = "insert into hooks (tenant_id, id, owner_id, agent_id, body, resumed_at, revision, created_at,
                                      updated_at, deleted_at)
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let args = args![
            tenant,
            row.id,
            row.owner,
            row.agent,
            to_json(&row.body)?,
            row.resumed_at,
            row.revision,
            row.created_at,
            row.updated_at,
            row.deleted_at
        ];
        self.write_unique(sql, args, || format!("webhook {} exists already", row.id)).await
    }

    /// Writes what is in `row`, with the next revision; `false`: its revision isn't the last one.
    pub async fn change_hook(&self, tenant: TenantId, row: &HookRow) -> StoreResult<bool> {
        let sql =
            "update hooks set agent_id = $4, body = $5, resumed_at = $6, revision = revision + 1, updated_at = $7,
                                    deleted_at = $8
                   where tenant_id = $1 and id = $2 and revision = $3";
        let args = args![
            tenant,
            row.id,
            row.revision,
            row.agent,
            to_json(&row.body)?,
            row.resumed_at,
            row.updated_at,
            row.deleted_at
        ];
        Ok(self.execute(sql, args).await? > 0)
    }

    /// Deleted ones, too.
    pub async fn hook(&self, tenant: TenantId, id: HookId) -> StoreResult<Option<HookRow>> {
        self.first(select_hook!("where tenant_id = $1 and id = $2"), args![tenant, id], hook_row).await
    }

    /// Newest first.
    pub async fn hooks(&self, tenant: TenantId, filter: &HookFilter) -> StoreResult<Page<HookRow>> {
        let sql = select_hook!(
            "where tenant_id = $1 and ($2 is null or owner_id = $2) and ($3 is null or agent_id = $3)
               and (deleted_at is not null) = ($4 = 1) and ($5 is null or id < $5)
             order by id desc limit $6"
        );
        let args = args![
            tenant,
            filter.owner,
            filter.agent,
            i64::from(filter.deleted),
            filter.before,
            i64::from(filter.limit) + 1
        ];
        Ok(Page::cut(self.all(sql, args, hook_row).await?, filter.limit))
    }

    /// Whose it is, over all tenants: who calls a webhook names nothing else.
    pub async fn tenant_of_hook(&self, id: HookId) -> StoreResult<Option<TenantId>> {
        self.first("select tenant_id from hooks where id = $1", args![id], |row| Ok(TenantId(row.id(0)?))).await
    }

    /// How many a user has that aren't deleted.
    pub async fn count_hooks(&self, tenant: TenantId, owner: UserId) -> StoreResult<u64> {
        let sql = "select count(*) from hooks where tenant_id = $1 and owner_id = $2 and deleted_at is null";
        Ok(self.first(sql, args![tenant, owner], |row| row.count(0)).await?.unwrap_or_default())
    }

    /// Durable once it is answered.
    pub async fn accept_delivery(&self, tenant: TenantId, new: NewDelivery) -> StoreResult<Accepted> {
        self.write((tenant, new), |(tenant, new), tx| Box::pin(accept(tx, *tenant, new))).await
    }

    /// Webhooks whose deliveries wait for their runs.
    pub async fn hooks_with_waiting(&self, tenant: TenantId) -> StoreResult<Vec<HookId>> {
        let sql = "select distinct hook_id from deliveries where tenant_id = $1 and fate is null";
        self.all(sql, args![tenant], |row| Ok(HookId(row.id(0)?))).await
    }

    /// Those of a webhook that wait for their runs, in the order in which they came, with their contents.
    pub async fn waiting_deliveries(
        &self,
        tenant: TenantId,
        hook: HookId,
        limit: u32,
    ) -> StoreResult<Vec<DeliveryRow>> {
        let sql = select_delivery!(
            "d.content",
            "where d.tenant_id = $1 and d.hook_id = $2 and d.fate is null order by d.id limit $3"
        );
        self.all(sql, args![tenant, hook, page_size(limit)], delivery_row).await
    }

    /// With its content, if that is kept.
    pub async fn delivery(&self, tenant: TenantId, key: DeliveryKey) -> StoreResult<Option<DeliveryRow>> {
        let sql = select_delivery!("d.content", "where d.tenant_id = $1 and d.hook_id = $2 and d.id = $3");
        self.first(sql, args![tenant, key.hook, key.delivery], delivery_row).await
    }

    /// Newest first, without their contents.
    pub async fn deliveries(
        &self,
        tenant: TenantId,
        hook: HookId,
        before: Option<DeliveryId>,
        limit: u32,
    ) -> StoreResult<Page<DeliveryRow>> {
        let sql = select_delivery!(
            "null",
            "where d.tenant_id = $1 and d.hook_id = $2 and ($3 is null or d.id < $3) order by d.id desc limit $4"
        );
        let args = args![tenant, hook, before, i64::from(limit) + 1];
        Ok(Page::cut(self.all(sql, args, delivery_row).await?, limit))
    }

    /// How the runs ended that were started since, the latest first; those that work are left out.
    pub async fn delivery_outcomes(
        &self,
        tenant: TenantId,
        hook: HookId,
        since: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<String>> {
        let sql = "select coalesce(d.outcome, r.ended_as) from deliveries d
                   left join runs r on r.tenant_id = d.tenant_id and r.id = d.run_id
                   where d.tenant_id = $1 and d.hook_id = $2 and d.run_id is not null and d.settled_at >= $3
                     and coalesce(d.outcome, r.ended_as) is not null
                   order by d.id desc limit $4";
        self.all(sql, args![tenant, hook, since, page_size(limit)], |row| row.text(0)).await
    }

    /// Gives one that waits a fate without a run.
    pub async fn settle_delivery(
        &self,
        tenant: TenantId,
        key: DeliveryKey,
        at: Timestamp,
        fate: &DeliveryFate,
    ) -> StoreResult<bool> {
        let sql = "update deliveries set fate = $4, reason = $5, settled_at = $6
                   where tenant_id = $1 and hook_id = $2 and id = $3 and fate is null";
        let args = args![tenant, key.hook, key.delivery, &fate.word, fate.reason.as_deref(), at];
        Ok(self.execute(sql, args).await? > 0)
    }

    /// Removes what is older than the latest `keep`, and the contents of those beyond `keep_bytes`. How runs ended is noted
    /// first, since these may be deleted, too.
    pub async fn trim_deliveries(&self, tenant: TenantId, hook: HookId, keep: u32, keep_bytes: u64) -> StoreResult<()> {
        self.write((tenant, hook, keep, keep_bytes), |(tenant, hook, keep, keep_bytes), tx| {
            Box::pin(trim(tx, *tenant, *hook, *keep, *keep_bytes))
        })
        .await
    }

    /// A person's, with their deliveries; their runs stay. Answers how many there were.
    pub async fn delete_hooks_of(&self, tenant: TenantId, owner: UserId) -> StoreResult<u64> {
        self.write((tenant, owner), |(tenant, owner), tx| {
            Box::pin(async move {
                let sql = "delete from deliveries where tenant_id = $1 and hook_id in (
                               select id from hooks where tenant_id = $1 and owner_id = $2)";
                tx.run(sql, args![*tenant, *owner]).await?;
                let sql = "delete from hooks where tenant_id = $1 and owner_id = $2";
                Ok(tx.execute(sql, args![*tenant, *owner]).await?)
            })
        })
        .await
    }
}

/// Gives a delivery its run; the run itself is made in the same transaction.
pub(super) async fn start(tx: &mut Tx<'_>, batch: &AppendBatch, key: DeliveryKey) -> StoreResult<()> {
    let sql = "update deliveries set fate = $4, settled_at = $5, run_id = $6
               where tenant_id = $1 and hook_id = $2 and id = $3 and fate is null";
    let args = args![batch.tenant, key.hook, key.delivery, FATE_STARTED, batch.at, batch.run];
    if tx.execute(sql, args).await? == 0 {
        return Err(StoreError::Conflict(format!("the delivery {} has its fate", key.delivery)));
    }
    Ok(())
}

async fn accept(tx: &mut Tx<'_>, tenant: TenantId, new: &NewDelivery) -> StoreResult<Accepted> {
    if let Some(known) = count_repeat(tx, tenant, new).await? {
        return Ok(Accepted::Repeated(known));
    }
    let sql = "select count(*) from (select 1 from deliveries
               where tenant_id = $1 and hook_id = $2 and fate is null limit $3) as waiting";
    if new.fate.is_none() && tx.count(sql, args![tenant, new.hook, new.most_waiting]).await? >= new.most_waiting {
        return Ok(Accepted::Full);
    }
    let sql = "insert into deliveries (tenant_id, id, hook_id, event, received_at, fate, reason, settled_at, repeats,
                                       bytes, content)
               values ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10)";
    let args = args![
        tenant,
        new.id,
        new.hook,
        &new.event,
        new.received_at,
        new.fate.as_ref().map(|fate| fate.word.as_str()),
        new.fate.as_ref().and_then(|fate| fate.reason.as_deref()),
        new.fate.as_ref().map(|_| new.received_at),
        new.bytes,
        to_json(&new.content)?
    ];
    match tx.execute(sql, args).await {
        Ok(_) => Ok(Accepted::Kept),
        // Another node was faster with the same event.
        Err(DbError::Duplicate) => Err(StoreError::Conflict("the same event comes twice at once".to_owned())),
        Err(error) => Err(error.into()),
    }
}

async fn count_repeat(tx: &mut Tx<'_>, tenant: TenantId, new: &NewDelivery) -> StoreResult<Option<DeliveryId>> {
    let sql = "select id from deliveries where tenant_id = $1 and hook_id = $2 and event = $3";
    let Some(row) = tx.row(sql, args![tenant, new.hook, &new.event]).await? else { return Ok(None) };
    let known = DeliveryId(row.id(0)?);
    let sql = "update deliveries set repeats = repeats + 1 where tenant_id = $1 and hook_id = $2 and id = $3";
    tx.run(sql, args![tenant, new.hook, known]).await?;
    Ok(Some(known))
}

async fn trim(tx: &mut Tx<'_>, tenant: TenantId, hook: HookId, keep: u32, keep_bytes: u64) -> StoreResult<()> {
    let sql = "update deliveries set outcome = (
                   select r.ended_as from runs r where r.tenant_id = $1 and r.id = deliveries.run_id)
               where tenant_id = $1 and hook_id = $2 and run_id is not null and outcome is null";
    tx.run(sql, args![tenant, hook]).await?;
    let sql = "delete from deliveries
               where tenant_id = $1 and hook_id = $2 and fate is not null
                 and id <= (select id from deliveries where tenant_id = $1 and hook_id = $2
                           order by id desc limit 1 offset $3)";
    tx.run(sql, args![tenant, hook, i64::from(keep)]).await?;
    let sql = "update deliveries set content = null
               where tenant_id = $1 and hook_id = $2 and fate is not null and content is not null and id in (
                   select id from (
                       select id, sum(bytes) over (order by id desc) as total from deliveries
                       where tenant_id = $1 and hook_id = $2 and content is not null) as sizes
                   where total > $3)";
    tx.run(sql, args![tenant, hook, keep_bytes]).await
}

fn hook_row(row: &Row) -> StoreResult<HookRow> {
    let body: HookBody = from_json("a webhook", &row.text(3)?)?;
    Ok(HookRow {
        id: HookId(row.id(0)?),
        owner: UserId(row.id(1)?),
        agent: AgentId(row.id(2)?),
        body,
        resumed_at: Timestamp(row.int(4)?),
        revision: row.count(5)?,
        created_at: Timestamp(row.int(6)?),
        updated_at: Timestamp(row.int(7)?),
        deleted_at: row.opt_int(8)?.map(Timestamp),
    })
}

fn delivery_row(row: &Row) -> StoreResult<DeliveryRow> {
    let reason = row.opt_text(5)?;
    let content = row.opt_text(11)?;
    Ok(DeliveryRow {
        id: DeliveryId(row.id(0)?),
        hook: HookId(row.id(1)?),
        event: row.text(2)?,
        received_at: Timestamp(row.int(3)?),
        fate: row.opt_text(4)?.map(|word| DeliveryFate { word, reason }),
        settled_at: row.opt_int(6)?.map(Timestamp),
        run: row.opt_id(7)?.map(RunId),
        outcome: row.opt_text(8)?,
        repeats: row.count(9)?,
        bytes: row.count(10)?,
        content: content.map(|text| from_json("a delivery", &text)).transpose()?,
    })
}
