use super::{LONGEST_WAIT, leases, log, run_commit, run_inbox, run_list};
use crate::append::{AppendBatch, AuditRow};
use crate::codec::{from_json, page_size};
use crate::store::Store;
use crate::tx::{Row, args};
use async_trait::async_trait;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{
    Claim, Command, Commit, DueTimer, Lease, OpenRuns, Page, QueuedCommand, RunFilter, RunRow, RunStore, SideWrite,
    StoreError, StoreResult, StoredEvent,
};
use steward_core::provenance::Provenance;
use steward_core::run::FileProvenance;
use steward_core::tool::Staged;
use steward_core::{RunId, TenantId, TimerId, Timestamp, UserId};

#[async_trait]
impl RunStore for Store {
    async fn create_run(
        &self,
        row: RunRow,
        mut first: Vec<EventBody>,
        side: Vec<SideWrite>,
        owner: &str,
        lease_until: Timestamp,
    ) -> StoreResult<Lease> {
        let tenant = row.tenant;
        let (side, audit) = apart(side)?;
        let tool_set = self.take_tool_set(tenant, &mut first)?;
        let batch = AppendBatch {
            tenant: row.tenant,
            run: row.id,
            epoch: 1,
            after: 0,
            at: row.created_at,
            rows: self.event_rows(tenant, &first).await?,
            side,
            audit,
        };
        let blobs = batch.blobs();
        let lease = Lease { tenant: row.tenant, run: row.id, epoch: 1, last_seq: first.len() as u64 };
        self.write_content(
            (row, batch, tool_set.clone(), owner.to_owned(), lease_until),
            |(row, batch, tool_set, owner, until), tx| {
                Box::pin(run_commit::create(tx, row, batch, tool_set.as_ref(), owner, *until))
            },
        )
        .await?;
        self.keep_blobs(tenant, &blobs, &first).await?;
        if let Some(set) = tool_set {
            self.tool_sets.add(tenant, set.hash, set.tools);
        }
        Ok(lease)
    }

    async fn commit(&self, commit: Commit) -> StoreResult<Vec<Event>> {
        let (side, audit) = apart(commit.side)?;
        let batch = AppendBatch {
            tenant: commit.tenant,
            run: commit.run,
            epoch: commit.epoch,
            after: commit.after,
            at: commit.at,
            rows: self.event_rows(commit.tenant, &commit.events).await?,
            side,
            audit,
        };
        let blobs = batch.blobs();
        if batch.side.is_empty() && !batch.rows.is_empty() {
            self.append(batch).await?;
        } else {
            self.write_content(batch, |batch, tx| Box::pin(run_commit::commit(tx, batch))).await?;
        }
        self.keep_blobs(commit.tenant, &blobs, &commit.events).await?;
        let events = (commit.after + 1..).zip(commit.events);
        Ok(events
            .map(|(seq, body)| Event { run_id: commit.run, seq, at: commit.at, epoch: commit.epoch, body })
            .collect())
    }

    async fn events(&self, tenant: TenantId, run: RunId, after: u64, limit: u32) -> StoreResult<Vec<StoredEvent>> {
        let rows = log::rows(self, tenant, run, after, limit).await?;
        log::restore(self, tenant, run, rows).await
    }

    async fn staged_since(&self, tenant: TenantId, except: RunId, since: Timestamp) -> StoreResult<Vec<Staged>> {
        let rows = log::staged(self, tenant, except, since).await?;
        let events = log::restore(self, tenant, except, rows).await?;
        Ok(events
            .into_iter()
            .filter_map(|stored| match stored.event.body {
                EventBody::ToolStaged { staged, .. } => Some(*staged),
                _ => None,
            })
            .collect())
    }

    async fn claim(
        &self,
        tenant: TenantId,
        what: Claim,
        owner: &str,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<Option<Lease>> {
        self.write((tenant, what, owner.to_owned(), now, lease_until), |(tenant, what, owner, now, until), tx| {
            Box::pin(leases::claim(tx, *tenant, what, owner, *now, *until))
        })
        .await
    }

    async fn open_runs(&self, tenant: TenantId, user: Option<UserId>, now: Timestamp) -> StoreResult<OpenRuns> {
        let sql = "select count(case when lease_until >= $3 then 1 end),
                    count(case when status = 'running' and (lease_until is null or lease_until < $3) then 1 end)
             from runs
             where tenant_id = $1 and status <> 'finished' and (user_id = $2 or ($2 is null and user_id is null))";
        let counts = |row: &Row| Ok(OpenRuns { at_work: row.count(0)?, waiting: row.count(1)? });
        Ok(self.first(sql, args![tenant, user, now], counts).await?.unwrap_or_default())
    }

    async fn renew(&self, lease: &Lease, lease_until: Timestamp) -> StoreResult<()> {
        let sql = "update runs set lease_until = $4
             where tenant_id = $1 and id = $2 and epoch = $3 and owner is not null";
        match self.execute(sql, args![lease.tenant, lease.run, lease.epoch, lease_until]).await? {
            // It was taken over, or given back.
            0 => Err(StoreError::Fenced { run: lease.run, epoch: lease.epoch }),
            _ => Ok(()),
        }
    }

    async fn release(&self, lease: &Lease) -> StoreResult<()> {
        // One that was lost is left to its new holder.
        let sql = "update runs set owner = null, lease_until = null
             where tenant_id = $1 and id = $2 and epoch = $3";
        self.run(sql, args![lease.tenant, lease.run, lease.epoch]).await
    }

    async fn run(&self, tenant: TenantId, run: RunId) -> StoreResult<RunRow> {
        run_list::one(self, tenant, run).await
    }

    async fn push_command(&self, tenant: TenantId, run: RunId, command: Command) -> StoreResult<()> {
        self.write((tenant, run, command), |(tenant, run, command), tx| {
            Box::pin(run_inbox::push(tx, *tenant, *run, command))
        })
        .await
    }

    async fn commands(&self, tenant: TenantId, run: RunId) -> StoreResult<Vec<QueuedCommand>> {
        let sql = "select id, body from run_inbox where tenant_id = $1 and run_id = $2 order by id";
        self.all(sql, args![tenant, run], |row| {
            Ok(QueuedCommand { id: row.int(0)?, command: from_json("a queued command", &row.text(1)?)? })
        })
        .await
    }

    async fn due_timers(&self, tenant: TenantId, now: Timestamp, limit: u32) -> StoreResult<Vec<DueTimer>> {
        // Those that should have rung and are not queued.
        let sql = "select t.run_id, t.id from timers t
             where t.tenant_id = $1 and t.done = 0 and (t.at <= $2 or t.at > $4) and not exists (
               select 1 from run_inbox q
               where q.tenant_id = t.tenant_id and q.run_id = t.run_id and q.timer_id = t.id)
             order by t.at, t.id limit $3";
        self.all(sql, args![tenant, now, page_size(limit), now.plus(LONGEST_WAIT)], |row| {
            Ok(DueTimer { run: RunId(row.id(0)?), id: TimerId(row.id(1)?) })
        })
        .await
    }

    async fn file_provenance(&self, tenant: TenantId, workspace: &str) -> StoreResult<Vec<FileProvenance>> {
        let entries = self.file_provenance_entries(tenant, workspace).await?;
        let datasources = self.datasources(tenant).await?;
        // Their texts are from outside by whatever way they are read.
        let untrusted = datasources.iter().filter(|one| one.untrusted).filter_map(|one| {
            let provenance = Provenance::from_outside(&format!("datasource {}", one.name));
            Some(FileProvenance { path: one.workspace_path()?.to_owned(), provenance })
        });
        Ok(entries.into_iter().map(|entry| entry.file).chain(untrusted).collect())
    }
}

impl Store {
    pub async fn runs(&self, tenant: TenantId, filter: RunFilter) -> StoreResult<Page<RunRow>> {
        run_list::page(self, tenant, &filter).await
    }

    /// Checks the whole database (`integrity_check` or the like).
    pub async fn check(&self) -> StoreResult<()> {
        self.read((), |(), tx| Box::pin(log::check(tx))).await
    }
}

/// Entries of the audit trail go along with the events; all else is written after them.
fn apart(side: Vec<SideWrite>) -> StoreResult<(Vec<SideWrite>, Vec<AuditRow>)> {
    let mut audit = Vec::new();
    let mut rest = Vec::with_capacity(side.len());
    for write in side {
        match write {
            SideWrite::Audit(entry) => audit.push(AuditRow::of(&entry)?),
            other => rest.push(other),
        }
    }
    Ok((rest, audit))
}
