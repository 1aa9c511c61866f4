use crate::store::Store;
use crate::tx::{Row, Tx, args};
use steward_core::ports::{BudgetScope, Spender, SpentRecord, StoreResult, UsageBy, UsageRow};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

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

impl Store {
    /// Sums by group, `from` inclusive, `to` exclusive, largest cost first, days in order; `user`: only theirs.
    pub async fn usage(
        &self,
        tenant: TenantId,
        by: UsageBy,
        from: Timestamp,
        to: Timestamp,
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
        let mut found: Vec<UsageRow> =
            self.all(sql, args![tenant, from.day(), end, user], |row| usage_row(row, by)).await?;
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
}

fn usage_row(row: &Row, by: UsageBy) -> StoreResult<UsageRow> {
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

/// Most tokens or millionths of a dollar that are told apart: sums of these stay in 64 bits.
pub(super) const MAX_AMOUNT: u64 = 1 << 50;
/// Longest model name that is kept, characters: it is part of a key.
const MAX_MODEL_NAME: usize = 200;

#[derive(Debug, Clone)]
pub(super) struct UsageSum {
    pub spender: Spender,
    pub at: Timestamp,
    pub cost_micros: u64,
    model: String,
    calls: u64,
    failed: u64,
    unpriced: u64,
    prompt_tokens: u64,
    cached_tokens: u64,
    completion_tokens: u64,
}

impl UsageSum {
    /// `None`: there are none, or they don't belong together.
    pub fn of(all: &[SpentRecord]) -> Option<Self> {
        let first = all.first()?;
        let day = first.at.day();
        let alike =
            all.iter().all(|one| one.spender == first.spender && one.model == first.model && one.at.day() == day);
        let add = |of: fn(&SpentRecord) -> u64| {
            let capped = all.iter().map(|one| of(one).min(MAX_AMOUNT));
            capped.fold(0_u64, u64::saturating_add)
        };
        alike.then(|| Self {
            spender: first.spender,
            at: all.iter().map(|one| one.at).max().unwrap_or(first.at),
            model: first.model.chars().take(MAX_MODEL_NAME).collect(),
            calls: add(|_| 1),
            failed: add(|one| u64::from(one.failed)),
            // A call that took nothing needs no price.
            unpriced: add(|one| {
                let usage = &one.usage;
                u64::from(!one.priced && usage.prompt_tokens + usage.completion_tokens > 0)
            }),
            prompt_tokens: add(|one| one.usage.prompt_tokens),
            cached_tokens: add(|one| one.usage.cached_tokens),
            completion_tokens: add(|one| one.usage.completion_tokens),
            cost_micros: add(|one| one.usage.cost_micros),
        })
    }

    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}
pub(super) async fn add_usage(tx: &mut Tx<'_>, tenant: TenantId, spent: &UsageSum) -> StoreResult<()> {
    let who = &spent.spender;
    let sql = "insert into usage_days (tenant_id, day, user_id, agent_id, connection_id, key_id, model,
                                 calls, failed, unpriced, prompt_tokens, cached_tokens,
                                 completion_tokens, cost_micros)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         on conflict (tenant_id, day, user_id, agent_id, connection_id, key_id, model) do update set
             calls = usage_days.calls + excluded.calls,
             failed = usage_days.failed + excluded.failed,
             unpriced = usage_days.unpriced + excluded.unpriced,
             prompt_tokens = usage_days.prompt_tokens + excluded.prompt_tokens,
             cached_tokens = usage_days.cached_tokens + excluded.cached_tokens,
             completion_tokens = usage_days.completion_tokens + excluded.completion_tokens,
             cost_micros = usage_days.cost_micros + excluded.cost_micros";
    tx.run(
        sql,
        args![
            tenant,
            spent.at.day(),
            who.user.map_or(Uuid::nil(), |id| id.0),
            who.agent.map_or(Uuid::nil(), |id| id.0),
            who.connection.map_or(Uuid::nil(), |id| id.0),
            who.key.map_or(Uuid::nil(), |id| id.0),
            spent.model.as_str(),
            spent.calls,
            spent.failed,
            spent.unpriced,
            spent.prompt_tokens,
            spent.cached_tokens,
            spent.completion_tokens,
            spent.cost_micros
        ],
    )
    .await
}

/// Tokens and cost of a scope from the day of `from` on; of days before `until`, if it is given.
pub(super) async fn spent_between(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    scope: BudgetScope,
    from: Timestamp,
    until: Option<Timestamp>,
) -> StoreResult<(u64, u64)> {
    macro_rules! sum {
        ($and:literal) => {
            concat!(
                "select cast(coalesce(sum(prompt_tokens + completion_tokens), 0) as bigint),
                        cast(coalesce(sum(cost_micros), 0) as bigint)
                 from usage_days where tenant_id = $1 and day >= $2 and day < $3",
                $and
            )
        };
    }
    let day = from.day();
    let end = until.map_or(i64::MAX, Timestamp::day);
    let row = match scope {
        BudgetScope::Installation => tx.row(sum!(""), args![tenant, day, end]).await,
        BudgetScope::User(id) => tx.row(sum!(" and user_id = $4"), args![tenant, day, end, id]).await,
        BudgetScope::Agent(id) => tx.row(sum!(" and agent_id = $4"), args![tenant, day, end, id]).await,
        BudgetScope::Connection(id) => tx.row(sum!(" and connection_id = $4"), args![tenant, day, end, id]).await,
        BudgetScope::Key(id) => tx.row(sum!(" and key_id = $4"), args![tenant, day, end, id]).await,
    }?;
    row.map_or(Ok((0, 0)), |row| Ok((row.count(0)?, row.count(1)?)))
}
