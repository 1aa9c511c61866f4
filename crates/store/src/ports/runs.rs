//! `RunStore`: which function does what.

use super::{leases, log, run_commit, run_inbox, run_list, side_writes};
use crate::append::AppendBatch;
use crate::store::Store;
use async_trait::async_trait;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{
    Claim, Command, Commit, DueTimer, Lease, Page, QueuedCommand, RunFilter, RunRow, RunStore, SideWrite, StoreResult,
    StoredEvent,
};
use steward_core::run::OutsideFile;
use steward_core::tool::Staged;
use steward_core::{RunId, TenantId, Timestamp};

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
        let tool_set = self.take_tool_set(tenant, &mut first)?;
        let batch = AppendBatch {
            tenant: row.tenant,
            run: row.id,
            epoch: 1,
            after: 0,
            at: row.created_at,
            rows: self.event_rows(&first).await?,
            side,
        };
        let lease = Lease { tenant: row.tenant, run: row.id, epoch: 1, last_seq: first.len() as u64 };
        self.write(
            (row, batch, tool_set.clone(), owner.to_owned(), lease_until),
            |(row, batch, tool_set, owner, until), tx| {
                Box::pin(run_commit::create(tx, row, batch, tool_set.as_ref(), owner, *until))
            },
        )
        .await?;
        if let Some(set) = tool_set {
            self.tool_sets.add(tenant, set.hash, set.tools);
        }
        Ok(lease)
    }

    async fn commit(&self, commit: Commit) -> StoreResult<Vec<Event>> {
        let batch = AppendBatch {
            tenant: commit.tenant,
            run: commit.run,
            epoch: commit.epoch,
            after: commit.after,
            at: commit.at,
            rows: self.event_rows(&commit.events).await?,
            side: commit.side,
        };
        if batch.side.is_empty() && !batch.rows.is_empty() {
            self.append(batch).await?;
        } else {
            self.write(batch, |batch, tx| Box::pin(run_commit::commit(tx, batch))).await?;
        }
        let events = (commit.after + 1..).zip(commit.events);
        Ok(events
            .map(|(seq, body)| Event { run_id: commit.run, seq, at: commit.at, epoch: commit.epoch, body })
            .collect())
    }

    async fn events(&self, tenant: TenantId, run: RunId, after: u64, limit: u32) -> StoreResult<Vec<StoredEvent>> {
        let rows = self
            .read((tenant, run, after, limit), |args, tx| Box::pin(log::rows(tx, args.0, args.1, args.2, args.3)))
            .await?;
        log::restore(self, tenant, run, rows).await
    }

    async fn staged_since(&self, tenant: TenantId, except: RunId, since: Timestamp) -> StoreResult<Vec<Staged>> {
        let rows =
            self.read((tenant, except, since), |args, tx| Box::pin(log::staged(tx, args.0, args.1, args.2))).await?;
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
        what: Claim,
        owner: &str,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<Option<Lease>> {
        self.write((what, owner.to_owned(), now, lease_until), |(what, owner, now, until), tx| {
            Box::pin(leases::claim(tx, what, owner, *now, *until))
        })
        .await
    }

    async fn renew(&self, lease: &Lease, lease_until: Timestamp) -> StoreResult<()> {
        self.write((lease.clone(), lease_until), |(lease, until), tx| Box::pin(leases::renew(tx, lease, *until))).await
    }

    async fn release(&self, lease: &Lease) -> StoreResult<()> {
        self.write(lease.clone(), |lease, tx| Box::pin(leases::release(tx, lease))).await
    }

    async fn run(&self, tenant: TenantId, run: RunId) -> StoreResult<RunRow> {
        self.read((tenant, run), |(tenant, run), tx| Box::pin(run_list::one(tx, *tenant, *run))).await
    }

    async fn runs(&self, tenant: TenantId, filter: RunFilter) -> StoreResult<Page<RunRow>> {
        self.read((tenant, filter), |(tenant, filter), tx| Box::pin(run_list::page(tx, *tenant, filter))).await
    }

    async fn push_command(&self, tenant: TenantId, run: RunId, command: Command) -> StoreResult<()> {
        self.write((tenant, run, command), |(tenant, run, command), tx| {
            Box::pin(run_inbox::push(tx, *tenant, *run, command))
        })
        .await
    }

    async fn commands(&self, tenant: TenantId, run: RunId) -> StoreResult<Vec<QueuedCommand>> {
        self.read((tenant, run), |(tenant, run), tx| Box::pin(run_inbox::waiting(tx, *tenant, *run))).await
    }

    async fn due_timers(&self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueTimer>> {
        self.read((now, limit), |(now, limit), tx| Box::pin(run_inbox::due_timers(tx, *now, *limit))).await
    }

    async fn outside_files(&self, tenant: TenantId, workspace: &str) -> StoreResult<Vec<OutsideFile>> {
        self.read((tenant, workspace.to_owned()), |(tenant, workspace), tx| {
            Box::pin(side_writes::outside_files(tx, *tenant, workspace))
        })
        .await
    }

    async fn check(&self) -> StoreResult<()> {
        self.read((), |(), tx| Box::pin(log::check(tx))).await
    }
}
