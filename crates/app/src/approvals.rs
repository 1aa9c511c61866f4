//! The inbox as one person sees it: entries with what is needed to decide them.

mod decide;
mod decision_rules;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::approvals::{Approval as ApprovalView, ApprovalRun, ApprovalStatus, RunAbove, StandingGrant};
use decision_rules::dedup_key;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::ControlFlow;
use steward_core::approval::{Approval, Subject};
use steward_core::event::EventBody;
use steward_core::ports::{ApprovalFilter, Approvals as _, Command, Grants as _, RunRow, RunStore as _, StoreError};
use steward_core::run::MAX_DEPTH;
use steward_core::{AgentId, ApprovalId, RunId};
use utoipa::ToSchema;
use uuid::Uuid;

/// How many open entries are looked through for duplicates.
const MOST_OPEN: usize = 1000;
/// How many entries are looked at for one page, at most.
const MOST_READ: usize = 2000;
const PAGE: u32 = 100;

/// Which entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalsWanted {
    /// Those that wait, oldest first.
    #[default]
    Open,
    /// Those that were decided or withdrawn, newest first.
    Closed,
    /// All, newest first.
    All,
}

#[derive(Debug)]
pub struct InboxPage {
    pub items: Vec<ApprovalView>,
    /// The last entry that was looked at, if more follow.
    pub next: Option<ApprovalId>,
}

impl App {
    /// What waits, or waited, for a decision on the runs that one may see.
    pub async fn approvals(
        &self,
        caller: &Caller,
        wanted: ApprovalsWanted,
        run: Option<RunId>,
        after: Option<ApprovalId>,
        limit: u32,
    ) -> AppResult<InboxPage> {
        authorize(caller, Action::Read, Resource::Approvals)?;
        let mut inbox = InboxView::new(self, caller);
        let mut filter = ApprovalFilter {
            open: wanted == ApprovalsWanted::Open,
            closed: wanted == ApprovalsWanted::Closed,
            run,
            after,
            limit,
        };
        let (mut items, mut read) = (Vec::new(), 0);
        // The store doesn't know whose they are: read on until the page is full.
        loop {
            let page = match self.store.approvals(self.tenant(), filter.clone()).await {
                Err(StoreError::NotFound(_)) if filter.after.is_some() => return Err(bad_cursor()),
                page => page?,
            };
            let mut rest = page.items.into_iter().peekable();
            while let Some(row) = rest.next() {
                filter.after = Some(row.id);
                read += 1;
                if let Some(run) = inbox.run(row.run_id).await? {
                    items.push(inbox.show(row, run).await?);
                }
                if items.len() == limit as usize {
                    let more = page.more || rest.peek().is_some();
                    return Ok(InboxPage { items, next: filter.after.filter(|_| more) });
                }
            }
            if !page.more || read >= MOST_READ {
                return Ok(InboxPage { items, next: filter.after.filter(|_| page.more) });
            }
        }
    }

    pub async fn approval(&self, caller: &Caller, id: ApprovalId) -> AppResult<ApprovalView> {
        authorize(caller, Action::Read, Resource::Approvals)?;
        let mut inbox = InboxView::new(self, caller);
        let (row, run) = inbox.entry(id).await?;
        inbox.show(row, run).await
    }

    /// Whether the caller has put words into a run: by its request, or by a message, feedback or an answer since, also one
    /// that the run has not taken in yet.
    async fn has_asked(&self, caller: &Caller, run: RunId) -> AppResult<bool> {
        let user = Some(caller.user());
        let waits = self.store.commands(self.tenant(), run).await?.into_iter().any(|queued| match queued.command {
            Command::Steer { source, .. } => source.and_then(|source| source.user) == user,
            Command::Decide { answer, source, .. } => {
                answer.puts_words_in() && source.and_then(|source| source.user) == user
            }
            _ => false,
        });
        Ok(waits || self.runs.state(run).await?.askers.contains(&caller.user()))
    }

    /// The runs above one whose parent is `parent`, the first one first.
    async fn delegation_chain(&self, parent: Option<RunId>) -> AppResult<Vec<RunAbove>> {
        let mut chain = Vec::new();
        let mut next = parent;
        while let Some(id) = next.take()
            && chain.len() < usize::from(MAX_DEPTH)
        {
            let row = self.store.run(self.tenant(), id).await?;
            let names = self.agent_names(vec![row.agent]).await?;
            chain.push(RunAbove { run_id: id, agent_name: names.get(row.agent) });
            self.each_event(id, |event| {
                if let EventBody::RunStarted { setup, .. } = &event.body {
                    next = setup.parent;
                }
                ControlFlow::Break(())
            })
            .await?;
        }
        chain.reverse();
        Ok(chain)
    }
}

fn bad_cursor() -> AppError {
    AppError::invalid(
        "cursor",
        "the cursor is not one of this list",
        "take `next_cursor` of the page before, or leave it out to begin anew",
    )
}

struct InboxView<'a> {
    app: &'a App,
    caller: &'a Caller,
    runs: HashMap<RunId, Option<RunRow>>,
    open: Option<Vec<Approval>>,
    /// Whether the person has put words into a run.
    asked: HashMap<RunId, bool>,
}

impl<'a> InboxView<'a> {
    fn new(app: &'a App, caller: &'a Caller) -> Self {
        Self { app, caller, runs: HashMap::new(), open: None, asked: HashMap::new() }
    }

    /// Whether a rule asks for somebody else than this person.
    async fn needs_other(&mut self, row: &Approval) -> AppResult<bool> {
        if !row.about.four_eyes {
            return Ok(false);
        }
        if let Some(known) = self.asked.get(&row.run_id) {
            return Ok(*known);
        }
        let asked = self.app.has_asked(self.caller, row.run_id).await?;
        self.asked.insert(row.run_id, asked);
        Ok(asked)
    }

    /// The run, unless the person may not see it.
    async fn run(&mut self, id: RunId) -> AppResult<Option<RunRow>> {
        if let Some(known) = self.runs.get(&id) {
            return Ok(known.clone());
        }
        let row = self.app.store.run(self.app.tenant(), id).await?;
        let seen = authorize(self.caller, Action::Read, Resource::Run { id, owner: row.user }).is_ok().then_some(row);
        self.runs.insert(id, seen.clone());
        Ok(seen)
    }

    /// An entry and its run, if the person may see them.
    async fn entry(&mut self, id: ApprovalId) -> AppResult<(Approval, RunRow)> {
        let row = self.app.store.approval(self.app.tenant(), id).await?;
        match self.run(row.run_id).await? {
            Some(run) => Ok((row, run)),
            None => Err(AppError::not_found(format!("approval {id}"))),
        }
    }

    async fn duplicates(&mut self, row: &Approval) -> AppResult<Vec<Approval>> {
        let Some(wanted) = dedup_key(row) else {
            return Ok(Vec::new());
        };
        if row.decided_at.is_some() {
            return Ok(Vec::new());
        }
        if self.open.is_none() {
            self.open = Some(self.all_open().await?);
        }
        let candidates: Vec<Approval> = self
            .open
            .iter()
            .flatten()
            .filter(|other| other.id != row.id && dedup_key(other).as_ref() == Some(&wanted))
            .cloned()
            .collect();
        let mut same = Vec::new();
        for other in candidates {
            if self.run(other.run_id).await?.is_some() {
                same.push(other);
            }
        }
        Ok(same)
    }

    async fn all_open(&self) -> AppResult<Vec<Approval>> {
        let mut all: Vec<Approval> = Vec::new();
        loop {
            let filter = ApprovalFilter {
                open: true,
                after: all.last().map(|row| row.id),
                limit: PAGE,
                ..ApprovalFilter::default()
            };
            let page = self.app.store.approvals(self.app.tenant(), filter).await?;
            all.extend(page.items);
            if !page.more || all.len() >= MOST_OPEN {
                return Ok(all);
            }
        }
    }

    async fn show(&mut self, row: Approval, run: RunRow) -> AppResult<ApprovalView> {
        let names = self.app.agent_names(vec![run.agent]).await?;
        let duplicates = self.duplicates(&row).await?;
        let chain = self.app.delegation_chain(row.about.parent).await?;
        let needs_other = self.needs_other(&row).await?;
        let taint = match &row.subject {
            Subject::Call { taint, .. } | Subject::Plan { taint, .. } => taint.clone(),
            Subject::Uncertain { .. } | Subject::Question { .. } => Vec::new(),
        };
        let status = status(&row);
        let about = row.about;
        let is_plan = matches!(row.subject, Subject::Plan { .. });
        // Who may decide for others may still not read what they talk about.
        let theirs = run.user.is_none_or(|owner| owner == self.caller.user());
        let readable = run.conversation.filter(|_| theirs);
        Ok(ApprovalView {
            id: row.id,
            run_id: row.run_id,
            asked_at: row.asked_at,
            status,
            run: ApprovalRun {
                title: run.title,
                agent_id: run.agent,
                agent_name: names.get(run.agent),
                origin: run.origin,
                asked_by: about.asked_by,
                conversation_id: readable,
            },
            plan: is_plan.then_some(about.plan),
            if_denied: if_denied(&row.subject),
            reason: about.reason,
            needs_other,
            tainted: !about.entered.is_empty(),
            taint,
            chain,
            duplicates: duplicates.into_iter().map(|one| one.id).collect(),
            subject: without_reason(row.subject),
            answer: row.answer,
            decided_by: row.decided_by,
            decided_at: row.decided_at,
        })
    }
}

/// What is asked, with its reason left out: that is told as the entry's own.
fn without_reason(mut subject: Subject) -> Subject {
    if let Subject::Call { reason, .. } = &mut subject {
        reason.clear();
    }
    subject
}

/// Where an entry stands. A withdrawn one has an end and no answer.
fn status(row: &Approval) -> ApprovalStatus {
    match (&row.answer, row.decided_at) {
        (Some(_), _) => ApprovalStatus::Decided,
        (None, Some(_)) => ApprovalStatus::Withdrawn,
        (None, None) => ApprovalStatus::Open,
    }
}

fn if_denied(subject: &Subject) -> String {
    match subject {
        Subject::Call { call_id, tool, .. } if call_id.starts_with("plan-") => {
            format!("`{tool}` does not run, nor do the steps after it; the agent answers with what it has so far.")
        }
        Subject::Call { tool, .. } => {
            format!("`{tool}` does not run; the agent is told so, with your reason, and goes on without it.")
        }
        Subject::Plan { .. } => {
            "Nothing of the plan runs, and the run ends. To have another plan, say what to change instead.".to_owned()
        }
        Subject::Uncertain { tool, .. } => {
            format!("If it is left out, `{tool}` counts as not done and is not repeated; the agent goes on without it.")
        }
        Subject::Question { .. } => "The agent gets no answer and goes on without one.".to_owned(),
    }
}

impl App {
    /// Permissions in force that outlive their run, newest first.
    pub async fn grants(&self, caller: &Caller, agent: Option<AgentId>) -> AppResult<Vec<StandingGrant>> {
        authorize(caller, Action::Read, Resource::Grants)?;
        let grants = self.store.grants(self.tenant(), agent, self.now()).await?;
        let names = self.agent_names(grants.iter().map(|grant| grant.agent).collect()).await?;
        Ok(grants.into_iter().map(|grant| StandingGrant::named(names.get(grant.agent), grant)).collect())
    }

    /// It no longer holds for what has not run yet.
    pub async fn revoke_grant(&self, caller: &Caller, id: Uuid) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Grants)?;
        Ok(self.store.revoke_grant(self.tenant(), id).await?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::if_denied;
    use serde_json::json;
    use steward_core::approval::Subject;

    #[test]
    fn a_step_of_a_plan_takes_those_after_it_along() {
        let call = |id: &str| -> Subject {
            serde_json::from_value(json!({
                "kind": "call", "call_id": id, "tool": "write", "arguments": {}, "args_hash": "0", "risk": "write",
                "preview": {"summary": "", "reversible": true},
            }))
            .unwrap()
        };
        assert!(if_denied(&call("plan-1-2")).contains("nor do the steps after"));
        assert!(if_denied(&call("s1-0")).contains("goes on without it"));
    }
}
