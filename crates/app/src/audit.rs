//! The audit trail: search, export, check, retention. Entries of runs are written with their events, those of other
//! writes by `api/guard/audit.rs`.

mod export;
mod verify;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::audit::AuditRetention;
use crate::inputs::in_order;
use crate::retention::Deletes;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::audit::{AuditEntry, SealedEntry};
use steward_core::ports::{AuditFilter, AuditOrder, Page, Settings as _, StoreResult};
use steward_core::{TenantId, Timestamp};
use steward_store::Store;

pub use export::AuditFormat;

const RETENTION_SETTING: &str = "audit.retention_days";
/// Longest retention, days.
const MAX_DAYS: u32 = 36_500;
/// Entries that get their places in one transaction: no writer waits long for it.
const SEALED_AT_ONCE: u32 = 200;
/// Entries that are read at a time.
const PAGE: u32 = 1000;
/// How often new entries get their places.
const SEAL_EVERY: Duration = Duration::from_secs(1);
/// How often old entries are looked for, in turns of [`SEAL_EVERY`].
const PRUNE_EVERY: u32 = 600;
/// Entries that are deleted in one transaction.
const PRUNED_AT_ONCE: u32 = 2_000;

impl App {
    /// Newest first, before the entry `before`.
    pub async fn audit(
        &self,
        caller: &Caller,
        filter: &AuditFilter,
        before: Option<u64>,
        limit: u32,
    ) -> AppResult<Page<SealedEntry>> {
        authorize(caller, Action::Administer, Resource::Audit)?;
        check_filter(filter)?;
        self.seal_audit().await?;
        let order = AuditOrder::NewestBefore(before);
        Ok(self.store.audit_entries(self.tenant(), filter, order, limit).await?)
    }

    pub async fn audit_entry(&self, caller: &Caller, seq: u64) -> AppResult<SealedEntry> {
        authorize(caller, Action::Administer, Resource::Audit)?;
        self.seal_audit().await?;
        let before = AuditOrder::NewestBefore(Some(seq.saturating_add(1)));
        let page = self.store.audit_entries(self.tenant(), &AuditFilter::default(), before, 1).await?;
        let found = page.items.into_iter().next().filter(|entry| entry.seq == seq);
        found.ok_or_else(|| AppError::not_found(format!("audit entry {seq}")))
    }

    /// Writes an entry down; durable when this returns.
    pub async fn record_audit(&self, entry: &AuditEntry) -> AppResult<()> {
        Ok(self.store.record_audit(self.tenant(), entry).await?)
    }

    /// An entry of what `caller` does.
    pub fn audit_entry_of(&self, caller: &Caller, action: impl Into<String>) -> AuditEntry {
        let source = caller.source();
        self.audit_fact(action).by(source.account, Some(caller.user())).via(Some(source.origin), source.address)
    }

    /// An entry of nobody that is known.
    pub fn audit_fact(&self, action: impl Into<String>) -> AuditEntry {
        AuditEntry::new(self.new_id(), self.now(), action)
    }

    pub async fn audit_retention(&self, caller: &Caller) -> AppResult<AuditRetention> {
        authorize(caller, Action::Administer, Resource::Audit)?;
        self.retention().await
    }

    /// In force within minutes.
    pub async fn set_audit_retention(&self, caller: &Caller, wanted: AuditRetention) -> AppResult<AuditRetention> {
        authorize(caller, Action::Administer, Resource::Audit)?;
        if wanted.days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
            let hint = format!("choose 1 to {MAX_DAYS} days, or null to keep all");
            return Err(AppError::invalid("days", "`days` is out of range", hint));
        }
        let before = self.retention().await?;
        // First: entries must not begin to go without a word.
        let entry = self.audit_entry_of(caller, "audit.retention.change");
        self.record_audit(&entry.with("days", wanted.days).with("days_before", before.days)).await?;
        // Whoever chooses the days has chosen what goes with them.
        self.agree_to_amount(Deletes::Audit).await?;
        self.store.set_setting(self.tenant(), RETENTION_SETTING, &json!(wanted.days)).await?;
        Ok(wanted)
    }

    async fn retention(&self) -> AppResult<AuditRetention> {
        let set = self.store.setting(self.tenant(), RETENTION_SETTING).await?;
        let days = set.as_ref().and_then(Value::as_u64).and_then(|days| u32::try_from(days).ok());
        Ok(AuditRetention { days })
    }

    /// Deletes what is older than the retention says; returns how many entries.
    pub async fn prune_audit(&self) -> AppResult<u64> {
        let Some(days) = self.retention().await?.days else {
            return Ok(0);
        };
        let kept = Duration::from_hours(24 * u64::from(days));
        let before = Timestamp(self.now().0.saturating_sub(i64::try_from(kept.as_millis()).unwrap_or(i64::MAX)));
        if !self.believes_clock(Deletes::Audit).await? {
            return Ok(0);
        }
        let (going, of) = self.store.count_audit(self.tenant(), before).await?;
        if !self.may_delete_many(Deletes::Audit, going, of).await? {
            return Ok(0);
        }
        let mut deleted = 0;
        loop {
            let step = self.store.prune_audit(self.tenant(), before, PRUNED_AT_ONCE, self.new_id(), self.now());
            let Some(pruned) = step.await? else {
                return Ok(deleted);
            };
            tracing::info!(first = pruned.first, last = pruned.last, "old entries of the audit trail were deleted");
            deleted += pruned.last - pruned.first + 1;
        }
    }

    /// The entries that fit, oldest first, some at a time.
    pub(crate) fn audit_pages(&self, filter: AuditFilter) -> BoxStream<'static, StoreResult<Vec<SealedEntry>>> {
        let app = self.clone();
        let pages = stream::try_unfold(Some(0), move |after| {
            let (app, filter) = (app.clone(), filter.clone());
            async move {
                let Some(after) = after else { return Ok(None) };
                let order = AuditOrder::OldestAfter(after);
                let page = app.store.audit_entries(app.tenant(), &filter, order, PAGE).await?;
                let next = page.items.last().filter(|_| page.more).map(|last| last.seq);
                Ok(Some((page.items, next)))
            }
        });
        pages.boxed()
    }

    pub(crate) async fn seal_audit(&self) -> AppResult<()> {
        Ok(seal_audit(&self.store, self.tenant()).await?)
    }
}

/// Gives all new entries their places in the chain.
pub async fn seal_audit(log: &Store, tenant: TenantId) -> StoreResult<()> {
    while log.seal_audit(tenant, SEALED_AT_ONCE).await? == u64::from(SEALED_AT_ONCE) {}
    Ok(())
}

/// Keeps the audit trail in order for as long as it is polled.
pub async fn keep_audit(app: App) {
    let mut failing = false;
    let mut turn = 0_u32;
    loop {
        let mut done = app.seal_audit().await;
        if done.is_ok() && turn.is_multiple_of(PRUNE_EVERY) {
            done = app.prune_audit().await.map(drop);
        }
        if let Err(error) = &done
            && !failing
        {
            tracing::error!(%error, "the audit trail can't be kept in order");
        }
        failing = done.is_err();
        turn = turn.wrapping_add(1);
        tokio::time::sleep(SEAL_EVERY).await;
    }
}

fn check_filter(filter: &AuditFilter) -> AppResult<()> {
    let Some((from, to)) = filter.from.zip(filter.to) else { return Ok(()) };
    in_order(from, to, "give two times in order, in milliseconds since 1970 UTC")
}
