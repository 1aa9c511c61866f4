//! How this installation is: its health, its metrics, and what happened lately.

use crate::app::{Action, App, AppResult, Caller, Resource, authorize, listed_owner};
use crate::dto::about::{HealthReport, PartStatus};
use crate::dto::dashboard::{Dashboard, DashboardPeriod, FailedRun, ModelGlance, RunTotals, RunsInTime};
use crate::metrics::MetricsFormat;
use std::collections::HashMap;
use std::net::IpAddr;
use steward_core::Timestamp;
use steward_core::ports::{AuditFilter, AuditOrder, RunCount, RunFilter, RunStatus, UsageBy};

/// Failures that are shown.
const FAILURES: u32 = 5;

impl App {
    /// A look at everything that the program needs.
    pub async fn health(&self, caller: &Caller) -> AppResult<HealthReport> {
        authorize(caller, Action::Read, Resource::Health)?;
        let parts = self.health.all().await;
        let well = |status| matches!(status, PartStatus::Ok | PartStatus::Off);
        let status = if parts.iter().any(|part| part.needed && part.status == PartStatus::Down) {
            PartStatus::Down
        } else if parts.iter().all(|part| well(part.status)) {
            PartStatus::Ok
        } else {
            PartStatus::Degraded
        };
        Ok(HealthReport { status, at: self.now(), parts })
    }

    /// The metrics for an administrator.
    pub async fn metrics(&self, caller: &Caller, format: MetricsFormat) -> AppResult<String> {
        authorize(caller, Action::Administer, Resource::Metrics)?;
        self.read_metrics(format).await
    }

    /// The metrics for a program that shows this token, or none; `None`: it may not read them.
    pub async fn metrics_for_program(
        &self,
        token: Option<&str>,
        peer: Option<IpAddr>,
        format: MetricsFormat,
    ) -> AppResult<Option<String>> {
        if !self.config.may_read_metrics(token, peer) {
            return Ok(None);
        }
        self.read_metrics(format).await.map(Some)
    }

    async fn read_metrics(&self, format: MetricsFormat) -> AppResult<String> {
        let (store, tenant) = (&self.store, self.tenant());
        let open = store.open_approvals(tenant, None).await?;
        let newest = store.audit_entries(tenant, &AuditFilter::default(), AuditOrder::NewestBefore(None), 1).await?;
        self.metrics.set(self.runs.at_work(), open, newest.items.first().map_or(0, |entry| entry.seq));
        Ok(self.metrics.written(format))
    }

    /// What happened lately: operators see everybody's, others their own.
    pub async fn dashboard(&self, caller: &Caller, period: DashboardPeriod) -> AppResult<Dashboard> {
        authorize(caller, Action::Read, Resource::Runs)?;
        let owner = listed_owner(caller, Resource::Runs);
        let (store, tenant) = (&self.store, self.tenant());
        let (step_ms, steps) = period.steps();
        // Whole steps, of which the last has just begun: the bars stay where they are while time goes on.
        let to = Timestamp((self.now().0.div_euclid(step_ms) + 1) * step_ms);
        let from = Timestamp(to.0 - step_ms * i64::from(steps));
        let counts = store.run_counts(tenant, from, to, step_ms, owner).await?;
        let failed =
            RunFilter { outcome: Some("failed".to_owned()), user: owner, limit: FAILURES, ..RunFilter::default() };
        let failed = store.runs(tenant, failed).await?;
        let usage = self.usage(caller, UsageBy::Day, Some(from), Some(to)).await?;
        Ok(Dashboard {
            period,
            from,
            to,
            step_ms,
            everybody: owner.is_none(),
            totals: totals(&counts),
            runs: in_time(&counts, from, step_ms, steps),
            approvals_waiting: store.open_approvals(tenant, owner).await?,
            failures: failed.items.into_iter().filter(|run| run.created_at >= from).map(FailedRun::of).collect(),
            usage: usage.total,
            usage_days: usage.items,
            models: self.models_at_a_glance(caller, from, to).await?,
        })
    }

    async fn models_at_a_glance(&self, caller: &Caller, from: Timestamp, to: Timestamp) -> AppResult<Vec<ModelGlance>> {
        let usage = self.usage(caller, UsageBy::Connection, Some(from), Some(to)).await?;
        let mut used: HashMap<String, _> =
            usage.items.into_iter().map(|row| (row.sum.group.clone(), row.sum)).collect();
        let health: HashMap<_, _> =
            self.deps().models.health().await.into_iter().map(|one| (one.connection, one)).collect();
        let known = self.readable_connections(caller).await.into_iter();
        let glances = known.map(|known| {
            let id = known.connection.id;
            let sum = used.remove(&id.to_string()).unwrap_or_default();
            ModelGlance {
                connection: id,
                name: known.connection.name,
                model: known.connection.model,
                default: known.default,
                resting: health.get(&id).is_some_and(|one| one.retry_in_ms.is_some()),
                first_ms: health.get(&id).and_then(|one| one.first_ms),
                calls: sum.calls,
                failed: sum.failed,
                cost_micros: sum.cost_micros,
            }
        });
        let mut glances: Vec<_> = glances.collect();
        glances.sort_by_key(|one| (std::cmp::Reverse(one.calls), !one.default));
        Ok(glances)
    }
}

fn totals(counts: &[RunCount]) -> RunTotals {
    let mut totals = RunTotals::default();
    for count in counts {
        totals.started += count.runs;
        *totals.of(count.status, count.ended_as.as_deref()) += count.runs;
    }
    totals
}

fn in_time(counts: &[RunCount], from: Timestamp, step_ms: i64, steps: u32) -> Vec<RunsInTime> {
    let mut times: Vec<RunsInTime> = (0..i64::from(steps))
        .map(|step| RunsInTime { at: Timestamp(from.0 + step * step_ms), completed: 0, failed: 0, other: 0 })
        .collect();
    for count in counts {
        let Some(time) = usize::try_from(count.step).ok().and_then(|step| times.get_mut(step)) else { continue };
        match (count.status, count.ended_as.as_deref()) {
            (RunStatus::Finished, Some("completed")) => time.completed += count.runs,
            (RunStatus::Finished, Some("failed")) => time.failed += count.runs,
            _ => time.other += count.runs,
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::{in_time, totals};
    use steward_core::Timestamp;
    use steward_core::ports::{RunCount, RunStatus};

    #[test]
    fn runs_are_summed_up_by_their_ends_and_times() {
        let count = |step, status, ended_as: &str, runs| RunCount {
            step,
            status,
            ended_as: Some(ended_as.to_owned()).filter(|word| !word.is_empty()),
            runs,
        };
        let counts = [
            count(0, RunStatus::Finished, "completed", 3),
            count(2, RunStatus::Finished, "failed", 1),
            count(2, RunStatus::Finished, "stopped", 2),
            count(2, RunStatus::Parked, "", 1),
            count(9, RunStatus::Running, "", 1),
        ];
        let all = totals(&counts);
        assert_eq!((all.started, all.completed, all.failed, all.stopped, all.waiting, all.running), (8, 3, 1, 2, 1, 1));
        let times = in_time(&counts, Timestamp(1000), 10, 3);
        let seen: Vec<_> = times.iter().map(|time| (time.at.0, time.completed, time.failed, time.other)).collect();
        assert_eq!(seen, [(1000, 3, 0, 0), (1010, 0, 0, 0), (1020, 0, 1, 3)]);
    }
}
