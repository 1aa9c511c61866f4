//! Schedules and their occurrences. Of two that decide on one at once, the second finds another revision and writes nothing;
//! a run is made together with its occurrence's fate.

use crate::append::AppendBatch;
use crate::codec::{from_json, page_size, to_json};
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use steward_core::ports::{
    FATE_RAN, OccurrenceKey, OccurrenceRow, Page, ScheduleBody, ScheduleFilter, ScheduleRow, SettledFate, Settlement,
    StartedOccurrence, StoreError, StoreResult,
};
use steward_core::{AgentId, RunId, ScheduleId, TenantId, Timestamp, UserId};

macro_rules! select_schedule {
    ($rest:expr) => {
        concat!(
            "select id, owner_id, agent_id, body, planned_until, wake_at, resumed_at, revision, created_at, updated_at,
                    deleted_at
             from schedules ",
            $rest
        )
    };
}

impl Store {
    pub async fn create_schedule(&self, tenant: TenantId, row: &ScheduleRow) -> StoreResult<()> {
        let sql = "insert into schedules (tenant_id, id, owner_id, agent_id, body, planned_until, wake_at, resumed_at,
                                          revision, created_at, updated_at, deleted_at)
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let args = args![
            tenant,
            row.id,
            row.owner,
            row.agent,
            to_json(&row.body)?,
            row.planned_until,
            row.wake_at,
            row.resumed_at,
            row.revision,
            row.created_at,
            row.updated_at,
            row.deleted_at
        ];
        self.write_unique(sql, args, || format!("schedule {} exists already", row.id)).await
    }

    /// Writes what is in `row`, with the next revision; `false`: its revision isn't the last one. `withdraw`: occurrences
    /// without a fate whose rows are taken back.
    pub async fn change_schedule(
        &self,
        tenant: TenantId,
        row: &ScheduleRow,
        withdraw: Vec<Timestamp>,
    ) -> StoreResult<bool> {
        self.write((tenant, row.clone(), withdraw), |(tenant, row, withdraw), tx| {
            Box::pin(change(tx, *tenant, row, withdraw))
        })
        .await
    }

    /// Deleted ones, too.
    pub async fn schedule(&self, tenant: TenantId, id: ScheduleId) -> StoreResult<Option<ScheduleRow>> {
        let sql = select_schedule!("where tenant_id = $1 and id = $2");
        self.first(sql, args![tenant, id], schedule_row).await
    }

    /// Newest first.
    pub async fn schedules(&self, tenant: TenantId, filter: &ScheduleFilter) -> StoreResult<Page<ScheduleRow>> {
        let sql = select_schedule!(
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
        Ok(Page::cut(self.all(sql, args, schedule_row).await?, filter.limit))
    }

    /// How many a user has that aren't deleted.
    pub async fn count_schedules(&self, tenant: TenantId, owner: UserId) -> StoreResult<u64> {
        let sql = "select count(*) from schedules where tenant_id = $1 and owner_id = $2 and deleted_at is null";
        Ok(self.first(sql, args![tenant, owner], |row| row.count(0)).await?.unwrap_or_default())
    }

    /// Those to decide on now, the longest due first.
    pub async fn due_schedules(&self, tenant: TenantId, now: Timestamp, limit: u32) -> StoreResult<Vec<ScheduleId>> {
        let sql = "select id from schedules where tenant_id = $1 and wake_at <= $2 order by wake_at, id limit $3";
        self.all(sql, args![tenant, now, page_size(limit)], |row| Ok(ScheduleId(row.id(0)?))).await
    }

    /// When one is next decided on.
    pub async fn next_schedule_wake(&self, tenant: TenantId) -> StoreResult<Option<Timestamp>> {
        let sql = "select min(wake_at) from schedules where tenant_id = $1 and wake_at is not null";
        Ok(self.first(sql, args![tenant], |row| row.opt_int(0)).await?.flatten().map(Timestamp))
    }

    /// Those without a fate, in their order.
    pub async fn open_occurrences(&self, tenant: TenantId, schedule: ScheduleId) -> StoreResult<Vec<OccurrenceRow>> {
        let sql = "select nominal, due, queued, by_hand, fate, reason, joined, settled_at, run_id, outcome
                   from occurrences where tenant_id = $1 and schedule_id = $2 and fate is null order by nominal";
        self.all(sql, args![tenant, schedule], occurrence_row).await
    }

    /// Those whose runs have not been seen to end, in their order.
    pub async fn started_occurrences(
        &self,
        tenant: TenantId,
        schedule: ScheduleId,
    ) -> StoreResult<Vec<StartedOccurrence>> {
        // A run that was deleted meanwhile has ended.
        let sql = "select o.nominal, o.run_id,
                          case when r.id is null then 'deleted' when r.status = 'finished' then r.ended_as end
                   from occurrences o
                   left join runs r on r.tenant_id = o.tenant_id and r.id = o.run_id
                   where o.tenant_id = $1 and o.schedule_id = $2 and o.running = 1
                   order by o.nominal";
        let read = |row: &Row| {
            let (nominal, run, ended_as) = (Timestamp(row.int(0)?), RunId(row.id(1)?), row.opt_text(2)?);
            Ok(StartedOccurrence { nominal, run, ended_as })
        };
        self.all(sql, args![tenant, schedule], read).await
    }

    /// How the runs ended that were started since, the latest first.
    pub async fn occurrence_outcomes(
        &self,
        tenant: TenantId,
        schedule: ScheduleId,
        since: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<String>> {
        let sql = "select outcome from occurrences
                   where tenant_id = $1 and schedule_id = $2 and outcome is not null and settled_at >= $3
                   order by nominal desc limit $4";
        self.all(sql, args![tenant, schedule, since, page_size(limit)], |row| row.text(0)).await
    }

    /// Newest first; what isn't due yet is among them.
    pub async fn occurrences(
        &self,
        tenant: TenantId,
        schedule: ScheduleId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> StoreResult<Page<OccurrenceRow>> {
        let sql = "select o.nominal, o.due, o.queued, o.by_hand, o.fate, o.reason, o.joined, o.settled_at, o.run_id,
                          coalesce(o.outcome, r.ended_as)
                   from occurrences o
                   left join runs r on r.tenant_id = o.tenant_id and r.id = o.run_id
                   where o.tenant_id = $1 and o.schedule_id = $2 and ($3 is null or o.nominal < $3)
                   order by o.nominal desc limit $4";
        let args = args![tenant, schedule, before, i64::from(limit) + 1];
        Ok(Page::cut(self.all(sql, args, occurrence_row).await?, limit))
    }

    /// The last one that has its fate.
    pub async fn last_occurrence(&self, tenant: TenantId, schedule: ScheduleId) -> StoreResult<Option<OccurrenceRow>> {
        let sql = "select o.nominal, o.due, o.queued, o.by_hand, o.fate, o.reason, o.joined, o.settled_at, o.run_id,
                          coalesce(o.outcome, r.ended_as)
                   from occurrences o
                   left join runs r on r.tenant_id = o.tenant_id and r.id = o.run_id
                   where o.tenant_id = $1 and o.schedule_id = $2 and o.fate is not null
                   order by o.nominal desc limit 1";
        self.first(sql, args![tenant, schedule], occurrence_row).await
    }

    /// `false`: the schedule has another revision by now, and nothing was written.
    pub async fn settle_occurrences(
        &self,
        tenant: TenantId,
        schedule: ScheduleId,
        revision: u64,
        at: Timestamp,
        settlement: Settlement,
    ) -> StoreResult<bool> {
        self.write((tenant, schedule, revision, at, settlement), |(tenant, schedule, revision, at, settlement), tx| {
            Box::pin(settle(tx, (*tenant, *schedule), *revision, *at, settlement))
        })
        .await
    }

    /// Sets when it is next decided on; `false`: it has another revision by now.
    pub async fn wake_schedule_at(
        &self,
        tenant: TenantId,
        schedule: ScheduleId,
        revision: u64,
        wake_at: Option<Timestamp>,
    ) -> StoreResult<bool> {
        let sql = "update schedules set wake_at = $4 where tenant_id = $1 and id = $2 and revision = $3";
        Ok(self.execute(sql, args![tenant, schedule, revision, wake_at]).await? > 0)
    }

    /// A person's, with their occurrences; their runs stay. Answers how many there were.
    pub async fn delete_schedules_of(&self, tenant: TenantId, owner: UserId) -> StoreResult<u64> {
        self.write((tenant, owner), |(tenant, owner), tx| {
            Box::pin(async move {
                let sql = "delete from occurrences where tenant_id = $1 and schedule_id in (
                               select id from schedules where tenant_id = $1 and owner_id = $2)";
                tx.run(sql, args![*tenant, *owner]).await?;
                let sql = "delete from schedules where tenant_id = $1 and owner_id = $2";
                Ok(tx.execute(sql, args![*tenant, *owner]).await?)
            })
        })
        .await
    }
}

/// Gives an occurrence its run; the run itself is made in the same transaction.
pub(super) async fn start(tx: &mut Tx<'_>, batch: &AppendBatch, key: OccurrenceKey) -> StoreResult<()> {
    let OccurrenceKey { schedule, nominal, by_hand } = key;
    if by_hand {
        let sql = "insert into occurrences (tenant_id, schedule_id, nominal, due, queued, by_hand, fate, settled_at,
                                            run_id, running)
                   values ($1, $2, $3, $3, 0, 1, $4, $5, $6, 1)";
        let args = args![batch.tenant, schedule, nominal, FATE_RAN, batch.at, batch.run];
        return tx.write_unique(sql, args, || "the schedule is due at this very moment; try again".to_owned()).await;
    }
    let sql = "update occurrences set fate = $4, settled_at = $5, run_id = $6, running = 1, queued = 0
               where tenant_id = $1 and schedule_id = $2 and nominal = $3 and fate is null";
    let args = args![batch.tenant, schedule, nominal, FATE_RAN, batch.at, batch.run];
    if tx.execute(sql, args).await? == 0 {
        return Err(StoreError::Conflict(format!("the occurrence {} has its fate", nominal.rfc3339())));
    }
    Ok(())
}

async fn change(tx: &mut Tx<'_>, tenant: TenantId, row: &ScheduleRow, withdraw: &[Timestamp]) -> StoreResult<bool> {
    let sql = "update schedules set agent_id = $4, body = $5, planned_until = $6, wake_at = $7, resumed_at = $8,
                                    revision = revision + 1, updated_at = $9, deleted_at = $10
               where tenant_id = $1 and id = $2 and revision = $3";
    let args = args![
        tenant,
        row.id,
        row.revision,
        row.agent,
        to_json(&row.body)?,
        row.planned_until,
        row.wake_at,
        row.resumed_at,
        row.updated_at,
        row.deleted_at
    ];
    if tx.execute(sql, args).await? == 0 {
        return Ok(false);
    }
    take_back(tx, (tenant, row.id), withdraw).await?;
    Ok(true)
}

async fn take_back(tx: &mut Tx<'_>, (tenant, schedule): (TenantId, ScheduleId), rows: &[Timestamp]) -> StoreResult<()> {
    for nominal in rows {
        let sql = "delete from occurrences where tenant_id = $1 and schedule_id = $2 and nominal = $3 and fate is null";
        tx.run(sql, args![tenant, schedule, *nominal]).await?;
    }
    Ok(())
}

async fn settle(
    tx: &mut Tx<'_>,
    (tenant, schedule): (TenantId, ScheduleId),
    revision: u64,
    at: Timestamp,
    settlement: &Settlement,
) -> StoreResult<bool> {
    let sql = "update schedules set planned_until = $4, wake_at = $5, revision = revision + 1
               where tenant_id = $1 and id = $2 and revision = $3 and deleted_at is null";
    let args = args![tenant, schedule, revision, settlement.planned_until, settlement.wake_at];
    if tx.execute(sql, args).await? == 0 {
        return Ok(false);
    }
    if let Some(body) = &settlement.body {
        let sql = "update schedules set body = $3 where tenant_id = $1 and id = $2";
        tx.run(sql, args![tenant, schedule, to_json(body)?]).await?;
    }
    for (nominal, due) in &settlement.make {
        let sql = "insert into occurrences (tenant_id, schedule_id, nominal, due, queued, by_hand, running)
                   values ($1, $2, $3, $4, 0, 0, 0) on conflict do nothing";
        tx.run(sql, args![tenant, schedule, *nominal, *due]).await?;
    }
    for nominal in &settlement.queue {
        let sql = "update occurrences set queued = 1
                   where tenant_id = $1 and schedule_id = $2 and nominal = $3 and fate is null";
        tx.run(sql, args![tenant, schedule, *nominal]).await?;
    }
    for (nominal, fate) in &settlement.settle {
        let sql = "update occurrences set fate = $4, reason = $5, joined = $6, settled_at = $7, queued = 0
                   where tenant_id = $1 and schedule_id = $2 and nominal = $3 and fate is null";
        let args = args![tenant, schedule, *nominal, &fate.word, fate.reason.as_deref(), fate.into, at];
        tx.run(sql, args).await?;
    }
    for (nominal, outcome) in &settlement.ended {
        let sql = "update occurrences set running = 0, outcome = $4
                   where tenant_id = $1 and schedule_id = $2 and nominal = $3";
        tx.run(sql, args![tenant, schedule, *nominal, outcome]).await?;
    }
    if let Some(keep) = settlement.keep {
        let sql = "delete from occurrences
                   where tenant_id = $1 and schedule_id = $2 and fate is not null and running = 0
                     and nominal < (select nominal from occurrences
                                    where tenant_id = $1 and schedule_id = $2
                                    order by nominal desc limit 1 offset $3)";
        tx.run(sql, args![tenant, schedule, i64::from(keep)]).await?;
    }
    Ok(true)
}

fn schedule_row(row: &Row) -> StoreResult<ScheduleRow> {
    let body: ScheduleBody = from_json("a schedule", &row.text(3)?)?;
    Ok(ScheduleRow {
        id: ScheduleId(row.id(0)?),
        owner: UserId(row.id(1)?),
        agent: AgentId(row.id(2)?),
        body,
        planned_until: Timestamp(row.int(4)?),
        wake_at: row.opt_int(5)?.map(Timestamp),
        resumed_at: Timestamp(row.int(6)?),
        revision: row.count(7)?,
        created_at: Timestamp(row.int(8)?),
        updated_at: Timestamp(row.int(9)?),
        deleted_at: row.opt_int(10)?.map(Timestamp),
    })
}

fn occurrence_row(row: &Row) -> StoreResult<OccurrenceRow> {
    let (reason, into) = (row.opt_text(5)?, row.opt_int(6)?.map(Timestamp));
    Ok(OccurrenceRow {
        nominal: Timestamp(row.int(0)?),
        due: Timestamp(row.int(1)?),
        queued: row.int(2)? != 0,
        by_hand: row.int(3)? != 0,
        settled: row.opt_text(4)?.map(|word| SettledFate { word, reason, into }),
        settled_at: row.opt_int(7)?.map(Timestamp),
        run: row.opt_id(8)?.map(RunId),
        outcome: row.opt_text(9)?,
    })
}
