//! What a policy over data has done, from the audit trail.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::governance::{Named, PolicyReport};
use crate::governance::reference;
use crate::inputs::in_order;
use futures::TryStreamExt as _;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use steward_core::audit::AuditEntry;
use steward_core::governance::{DataPolicy, MaskedKind, PiiKind};
use steward_core::ports::AuditFilter;
use steward_core::{RunId, Timestamp};

/// Entries that are looked at.
const MOST: usize = 200_000;

#[derive(Default)]
struct Sums {
    runs: BTreeSet<RunId>,
    blocked: u64,
    routed: u64,
    masked_calls: u64,
    masked: BTreeMap<&'static str, (PiiKind, u64)>,
    labels: BTreeMap<String, u64>,
    agents: BTreeMap<String, u64>,
    weeks: BTreeMap<String, u64>,
}

impl App {
    /// Of the time from `from` on and before `to`.
    pub async fn policy_report(
        &self,
        caller: &Caller,
        name: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> AppResult<PolicyReport> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        in_order(from, to, "give two times in order")?;
        let rules = self.kept_data_rules().await?;
        let policy = rules.policies.into_iter().find(|policy| policy.name == name);
        let policy = policy.ok_or_else(|| AppError::not_found(format!("the policy `{name}`")))?;
        self.seal_audit().await?;
        let mut sums = Sums::default();
        let mut complete = true;
        for action in ["data", "run.started"] {
            complete &= self.sum_up(&policy, action, (from, to), &mut sums).await?;
        }
        let named = |sums: BTreeMap<String, u64>| sums.into_iter().map(|(name, count)| Named { name, count }).collect();
        Ok(PolicyReport {
            references_resolved: policy.references.iter().filter_map(|id| reference(id)).collect(),
            policy: policy.name,
            action: policy.action,
            from: from.0,
            to: to.0,
            runs: sums.runs.len() as u64,
            blocked: sums.blocked,
            routed: sums.routed,
            masked_calls: sums.masked_calls,
            masked: sums.masked.into_values().map(|(kind, count)| MaskedKind { kind, count }).collect(),
            by_label: named(sums.labels),
            by_agent: named(sums.agents),
            by_week: named(sums.weeks),
            complete,
        })
    }

    /// `false`: there is more than is looked at.
    async fn sum_up(
        &self,
        policy: &DataPolicy,
        action: &str,
        (from, to): (Timestamp, Timestamp),
        sums: &mut Sums,
    ) -> AppResult<bool> {
        let filter =
            AuditFilter { action: Some(action.to_owned()), from: Some(from), to: Some(to), ..AuditFilter::default() };
        let (mut read, mut pages) = (0, self.audit_pages(filter));
        while let Some(page) = pages.try_next().await? {
            if read >= MOST {
                return Ok(false);
            }
            for sealed in &page {
                sums.take(policy, &sealed.entry);
            }
            read += page.len();
        }
        Ok(true)
    }
}

impl Sums {
    fn take(&mut self, policy: &DataPolicy, entry: &AuditEntry) {
        let text = |name: &str| entry.detail.get(name).and_then(Value::as_str);
        let holds = entry.detail.get("policies").and_then(Value::as_array);
        let holds = holds.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(policy.name.as_str())));
        let acted = text("policy") == Some(policy.name.as_str());
        if !(acted || holds) || entry.action == "data.deleted" {
            return;
        }
        let agent = match entry.action.as_str() {
            "data.masked" => text("agent").map(str::to_owned),
            _ => entry.run_id.map(|_| entry.target.clone()),
        };
        match entry.action.as_str() {
            "data.blocked" if acted => self.blocked += 1,
            "data.routed" => self.routed += 1,
            "data.masked" => {
                self.masked_calls += 1;
                for kind in PiiKind::ALL {
                    let count = entry.detail.get(kind.as_str()).and_then(Value::as_u64).unwrap_or(0);
                    if count > 0 {
                        self.masked.entry(kind.as_str()).or_insert((kind, 0)).1 += count;
                    }
                }
            }
            _ => {}
        }
        // A run counts once, however often its policy had something to do.
        if entry.run_id.is_none_or(|run| self.runs.insert(run)) {
            let add = |sums: &mut BTreeMap<String, u64>, name: &str| *sums.entry(name.to_owned()).or_default() += 1;
            if let Some(label) = text("label") {
                add(&mut self.labels, label);
            }
            if let Some(agent) = agent {
                add(&mut self.agents, &agent);
            }
            // 1970-01-01 was a Thursday: weeks begin on Mondays.
            let monday = entry.at.day() - (entry.at.day() + 3).rem_euclid(7);
            add(&mut self.weeks, &Timestamp::of_day(monday).date());
        }
    }
}
