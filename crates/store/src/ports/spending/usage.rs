//! The port of the record of usage.

use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::ports::{StoreResult, UsageBy, UsageRecord, UsageRow};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

#[async_trait]
impl UsageRecord for Store {
    async fn usage(
        &self,
        tenant: TenantId,
        by: UsageBy,
        from: Timestamp,
        to: Timestamp,
        user: Option<UserId>,
    ) -> StoreResult<Vec<UsageRow>> {
        self.read((tenant, by, from, to, user), |(tenant, by, from, to, user), tx| {
            Box::pin(sums(tx, *tenant, *by, (*from, *to), *user))
        })
        .await
    }
}

macro_rules! sums {
    ($column:literal) => {
        concat!(
            "select ",
            $column,
            ", cast(sum(calls) as bigint), cast(sum(failed) as bigint),
               cast(sum(unpriced) as bigint), cast(sum(prompt_tokens) as bigint),
               cast(sum(cached_tokens) as bigint), cast(sum(completion_tokens) as bigint),
               cast(sum(cost_micros) as bigint)
             from usage_days
             where tenant_id = $1 and day >= $2 and day < $3 and ($4 is null or user_id = $4)
             group by ",
            $column
        )
    };
}

async fn sums(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    by: UsageBy,
    (from, to): (Timestamp, Timestamp),
    user: Option<UserId>,
) -> StoreResult<Vec<UsageRow>> {
    let sql = match by {
        UsageBy::Day => sums!("day"),
        UsageBy::Agent => sums!("agent_id"),
        UsageBy::User => sums!("user_id"),
        UsageBy::Connection => sums!("connection_id"),
        UsageBy::Model => sums!("model"),
        UsageBy::Key => sums!("key_id"),
    };
    // A day that has begun counts whole.
    let end = Timestamp(to.0.saturating_sub(1)).day().saturating_add(1);
    let rows = tx.rows(sql, args![tenant, from.day(), end, user]).await?;
    let mut found: Vec<UsageRow> = rows.iter().map(|row| sum(row, by)).collect::<StoreResult<_>>()?;
    if by == UsageBy::Day {
        found.sort_by(|a, b| a.group.cmp(&b.group));
    } else {
        found.sort_by(|a, b| {
            let size = |row: &UsageRow| (row.cost_micros, row.prompt_tokens + row.completion_tokens);
            size(b).cmp(&size(a)).then_with(|| a.group.cmp(&b.group))
        });
    }
    Ok(found)
}

fn sum(row: &Row, by: UsageBy) -> StoreResult<UsageRow> {
    let group = match by {
        UsageBy::Day => Timestamp::of_day(row.int(0)?).date(),
        UsageBy::Model => row.text(0)?,
        _ => match row.id(0)? {
            none if none == Uuid::nil() => String::new(),
            id => id.to_string(),
        },
    };
    Ok(UsageRow {
        group,
        calls: row.count(1)?,
        failed: row.count(2)?,
        unpriced: row.count(3)?,
        prompt_tokens: row.count(4)?,
        cached_tokens: row.count(5)?,
        completion_tokens: row.count(6)?,
        cost_micros: row.count(7)?,
    })
}
