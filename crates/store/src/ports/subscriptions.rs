//! Subscriptions and their dispatches. What happened is read from the audit trail; the place up to which it was turned into
//! dispatches is written together with these, so that each is made once.

use crate::codec::{from_json, page_size, to_json};
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use steward_core::ports::{
    DispatchOutcome, DispatchRow, DispatchTry, NewDispatch, Page, StoreResult, SubscriptionBody, SubscriptionFilter,
    SubscriptionRow,
};
use steward_core::{DispatchId, RunId, SubscriptionId, TenantId, Timestamp, UserId};

macro_rules! select_subscription {
    ($rest:expr) => {
        concat!("select id, owner_id, body, revision, created_at, updated_at, deleted_at from subscriptions ", $rest)
    };
}

macro_rules! select_dispatch {
    ($rest:expr) => {
        concat!(
            "select d.id, d.subscription_id, d.seq, d.kind, d.subject, d.body, d.made_at, d.next_at, d.tries, d.sent_at,
                    d.last
             from dispatches d ",
            $rest
        )
    };
}

impl Store {
    pub async fn create_subscription(&self, tenant: TenantId, row: &SubscriptionRow) -> StoreResult<()> {
        let sql =
            "insert into subscriptions (tenant_id, id, owner_id, body, revision, created_at, updated_at, deleted_at)
                   values ($1, $2, $3, $4, $5, $6, $7, $8)";
        let args = args![
            tenant,
            row.id,
            row.owner,
            to_json(&row.body)?,
            row.revision,
            row.created_at,
            row.updated_at,
            row.deleted_at
        ];
        self.write_unique(sql, args, || format!("subscription {} exists already", row.id)).await
    }

    /// Writes what is in `row`, with the next revision; `false`: its revision isn't the last one.
    pub async fn change_subscription(&self, tenant: TenantId, row: &SubscriptionRow) -> StoreResult<bool> {
        let sql = "update subscriptions set body = $4, revision = revision + 1, updated_at = $5, deleted_at = $6
                   where tenant_id = $1 and id = $2 and revision = $3";
        let args = args![tenant, row.id, row.revision, to_json(&row.body)?, row.updated_at, row.deleted_at];
        Ok(self.execute(sql, args).await? > 0)
    }

    /// Deleted ones, too.
    pub async fn subscription(&self, tenant: TenantId, id: SubscriptionId) -> StoreResult<Option<SubscriptionRow>> {
        self.first(select_subscription!("where tenant_id = $1 and id = $2"), args![tenant, id], subscription_row).await
    }

    /// Newest first.
    pub async fn subscriptions(
        &self,
        tenant: TenantId,
        filter: &SubscriptionFilter,
    ) -> StoreResult<Page<SubscriptionRow>> {
        let sql = select_subscription!(
            "where tenant_id = $1 and ($2 is null or owner_id = $2) and (deleted_at is not null) = ($3 = 1)
               and ($4 is null or id < $4)
             order by id desc limit $5"
        );
        let args = args![tenant, filter.owner, i64::from(filter.deleted), filter.before, i64::from(filter.limit) + 1];
        Ok(Page::cut(self.all(sql, args, subscription_row).await?, filter.limit))
    }

    /// How many a user has that aren't deleted.
    pub async fn count_subscriptions(&self, tenant: TenantId, owner: UserId) -> StoreResult<u64> {
        let sql = "select count(*) from subscriptions where tenant_id = $1 and owner_id = $2 and deleted_at is null";
        Ok(self.first(sql, args![tenant, owner], |row| row.count(0)).await?.unwrap_or_default())
    }

    /// Whose a run is; `None`: it is nobody's that is known, or isn't there.
    pub async fn run_owner(&self, tenant: TenantId, run: RunId) -> StoreResult<Option<UserId>> {
        let sql = "select user_id from runs where tenant_id = $1 and id = $2";
        Ok(self.first(sql, args![tenant, run], |row| row.opt_id(0)).await?.flatten().map(UserId))
    }

    /// The entry of the audit trail up to which dispatches were made; `None`: none was ever looked at.
    pub async fn dispatched_until(&self, tenant: TenantId) -> StoreResult<Option<u64>> {
        let sql = "select seq from dispatch_ends where tenant_id = $1";
        self.first(sql, args![tenant], |row| row.count(0)).await
    }

    /// Makes dispatches for the entries from `from` to `until`; `false`: another node did so, and nothing was written.
    pub async fn make_dispatches(
        &self,
        tenant: TenantId,
        (from, until): (Option<u64>, u64),
        now: Timestamp,
        new: Vec<NewDispatch>,
    ) -> StoreResult<bool> {
        self.write((tenant, from, until, now, new), |(tenant, from, until, now, new), tx| {
            Box::pin(make(tx, *tenant, (*from, *until), *now, new))
        })
        .await
    }

    /// One that is not about an entry, such as a test.
    pub async fn make_dispatch(&self, tenant: TenantId, now: Timestamp, new: NewDispatch) -> StoreResult<()> {
        self.write((tenant, now, new), |(tenant, now, new), tx| Box::pin(insert(tx, *tenant, *now, new))).await
    }

    /// Those that messages are due to.
    pub async fn subscriptions_due(
        &self,
        tenant: TenantId,
        now: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<SubscriptionId>> {
        let sql = "select subscription_id from dispatches where tenant_id = $1 and next_at <= $2
                   group by subscription_id order by min(next_at) limit $3";
        self.all(sql, args![tenant, now, page_size(limit)], |row| Ok(SubscriptionId(row.id(0)?))).await
    }

    /// Takes up to `limit` that are due, and puts each off until `again`, should this node end before it is done. What is told
    /// of one subject waits for what was told of it before.
    pub async fn take_dispatches(
        &self,
        tenant: TenantId,
        subscription: SubscriptionId,
        now: Timestamp,
        again: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<DispatchRow>> {
        self.write((tenant, subscription, now, again, limit), |(tenant, subscription, now, again, limit), tx| {
            Box::pin(take(tx, (*tenant, *subscription), *now, *again, *limit))
        })
        .await
    }

    /// Notes how a try ended. What was given up meanwhile, because its subscription rests, isn't tried again.
    pub async fn tried_dispatch(
        &self,
        tenant: TenantId,
        id: DispatchId,
        now: Timestamp,
        tried: &DispatchTry,
    ) -> StoreResult<()> {
        let (next_at, sent_at) = match tried.outcome {
            DispatchOutcome::Sent => (None, Some(now)),
            DispatchOutcome::TryAgain(at) => (Some(at), None),
            DispatchOutcome::GivenUp => (None, None),
        };
        let sql = "update dispatches set next_at = $3, sent_at = $4, last = $5, tries = tries + 1
                   where tenant_id = $1 and id = $2 and sent_at is null and (next_at is not null or $6 = 1)";
        let sent = i64::from(sent_at.is_some());
        self.execute(sql, args![tenant, id, next_at, sent_at, &tried.told, sent]).await?;
        Ok(())
    }

    /// Has one sent once more, whatever became of it; `false`: there is none.
    pub async fn send_dispatch_again(
        &self,
        tenant: TenantId,
        subscription: SubscriptionId,
        id: DispatchId,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let sql = "update dispatches set next_at = $4, sent_at = null, tries = 0, last = null
                   where tenant_id = $1 and subscription_id = $2 and id = $3";
        Ok(self.execute(sql, args![tenant, subscription, id, now]).await? > 0)
    }

    /// Newest first. `failed`: only what is given up.
    pub async fn dispatches(
        &self,
        tenant: TenantId,
        subscription: SubscriptionId,
        failed: bool,
        before: Option<DispatchId>,
        limit: u32,
    ) -> StoreResult<Page<DispatchRow>> {
        let sql = select_dispatch!(
            "where d.tenant_id = $1 and d.subscription_id = $2 and ($3 is null or d.id < $3)
               and ($4 = 0 or (d.next_at is null and d.sent_at is null))
             order by d.id desc limit $5"
        );
        let args = args![tenant, subscription, before, i64::from(failed), i64::from(limit) + 1];
        Ok(Page::cut(self.all(sql, args, dispatch_row).await?, limit))
    }

    pub async fn dispatch(
        &self,
        tenant: TenantId,
        subscription: SubscriptionId,
        id: DispatchId,
    ) -> StoreResult<Option<DispatchRow>> {
        let sql = select_dispatch!("where d.tenant_id = $1 and d.subscription_id = $2 and d.id = $3");
        self.first(sql, args![tenant, subscription, id], dispatch_row).await
    }

    /// How many of those made since `since` were given up, after the last one that arrived.
    pub async fn count_given_up(
        &self,
        tenant: TenantId,
        subscription: SubscriptionId,
        since: Timestamp,
    ) -> StoreResult<u64> {
        let sql = "select count(*) from dispatches d
                   where d.tenant_id = $1 and d.subscription_id = $2 and d.next_at is null and d.sent_at is null
                     and d.made_at >= $3
                     and not exists (select 1 from dispatches e
                                     where e.tenant_id = $1 and e.subscription_id = $2 and e.id > d.id
                                       and e.sent_at is not null)";
        let args = args![tenant, subscription, since];
        Ok(self.first(sql, args, |row| row.count(0)).await?.unwrap_or_default())
    }

    /// Takes back what waits for a subscription that is gone or rests.
    pub async fn give_up_dispatches(
        &self,
        tenant: TenantId,
        subscription: SubscriptionId,
        why: &str,
    ) -> StoreResult<()> {
        let sql = "update dispatches set next_at = null, last = $3
                   where tenant_id = $1 and subscription_id = $2 and next_at is not null";
        self.execute(sql, args![tenant, subscription, why]).await?;
        Ok(())
    }

    /// Removes what is older than the latest `keep` and doesn't wait.
    pub async fn trim_dispatches(&self, tenant: TenantId, subscription: SubscriptionId, keep: u32) -> StoreResult<()> {
        let sql = "delete from dispatches
                   where tenant_id = $1 and subscription_id = $2 and next_at is null
                     and id <= (select id from dispatches where tenant_id = $1 and subscription_id = $2
                               order by id desc limit 1 offset $3)";
        self.execute(sql, args![tenant, subscription, i64::from(keep)]).await?;
        Ok(())
    }

    /// A person's, with their dispatches. Answers how many there were.
    pub async fn delete_subscriptions_of(&self, tenant: TenantId, owner: UserId) -> StoreResult<u64> {
        self.write((tenant, owner), |(tenant, owner), tx| {
            Box::pin(async move {
                let sql = "delete from dispatches where tenant_id = $1 and subscription_id in (
                               select id from subscriptions where tenant_id = $1 and owner_id = $2)";
                tx.run(sql, args![*tenant, *owner]).await?;
                let sql = "delete from subscriptions where tenant_id = $1 and owner_id = $2";
                Ok(tx.execute(sql, args![*tenant, *owner]).await?)
            })
        })
        .await
    }
}

async fn make(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    (from, until): (Option<u64>, u64),
    now: Timestamp,
    new: &[NewDispatch],
) -> StoreResult<bool> {
    let written = if let Some(from) = from {
        let sql = "update dispatch_ends set seq = $3 where tenant_id = $1 and seq = $2";
        tx.execute(sql, args![tenant, from, until]).await?
    } else {
        let sql = "insert into dispatch_ends (tenant_id, seq) values ($1, $2) on conflict do nothing";
        tx.execute(sql, args![tenant, until]).await?
    };
    if written == 0 {
        return Ok(false);
    }
    for one in new {
        insert(tx, tenant, now, one).await?;
    }
    Ok(true)
}

async fn insert(tx: &mut Tx<'_>, tenant: TenantId, now: Timestamp, new: &NewDispatch) -> StoreResult<()> {
    let sql =
        "insert into dispatches (tenant_id, id, subscription_id, seq, kind, subject, body, made_at, next_at, tries)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $8, 0)";
    let body = to_json(&new.body)?;
    tx.run(sql, args![tenant, new.id, new.subscription, new.seq, &new.kind, &new.subject, body, now]).await
}

async fn take(
    tx: &mut Tx<'_>,
    (tenant, subscription): (TenantId, SubscriptionId),
    now: Timestamp,
    again: Timestamp,
    limit: u32,
) -> StoreResult<Vec<DispatchRow>> {
    let sql = select_dispatch!(
        "where d.tenant_id = $1 and d.subscription_id = $4 and d.next_at <= $2
           and not exists (select 1 from dispatches e
                           where e.tenant_id = $1 and e.subscription_id = d.subscription_id and e.subject = d.subject
                             and e.id < d.id and e.next_at is not null)
         order by d.next_at, d.id limit $3"
    );
    let mut taken = Vec::new();
    for row in tx.rows(sql, args![tenant, now, page_size(limit), subscription]).await? {
        let found = dispatch_row(&row)?;
        // Another node may have taken it at this moment.
        let sql = "update dispatches set next_at = $4 where tenant_id = $1 and id = $2 and next_at = $3";
        if tx.execute(sql, args![tenant, found.id, found.next_at, again]).await? > 0 {
            taken.push(found);
        }
    }
    Ok(taken)
}

fn subscription_row(row: &Row) -> StoreResult<SubscriptionRow> {
    let body: SubscriptionBody = from_json("a subscription", &row.text(2)?)?;
    Ok(SubscriptionRow {
        id: SubscriptionId(row.id(0)?),
        owner: UserId(row.id(1)?),
        body,
        revision: row.count(3)?,
        created_at: Timestamp(row.int(4)?),
        updated_at: Timestamp(row.int(5)?),
        deleted_at: row.opt_int(6)?.map(Timestamp),
    })
}

fn dispatch_row(row: &Row) -> StoreResult<DispatchRow> {
    Ok(DispatchRow {
        id: DispatchId(row.id(0)?),
        subscription: SubscriptionId(row.id(1)?),
        seq: row.count(2)?,
        kind: row.text(3)?,
        subject: row.text(4)?,
        body: from_json("a dispatch", &row.text(5)?)?,
        made_at: Timestamp(row.int(6)?),
        next_at: row.opt_int(7)?.map(Timestamp),
        tries: u32::try_from(row.int(8)?).unwrap_or(u32::MAX),
        sent_at: row.opt_int(9)?.map(Timestamp),
        last: row.opt_text(10)?,
    })
}
