//! The inbox as one person sees it: entries with what is needed to decide them.

use super::alike::key;
use super::denied::if_denied;
use crate::auth::Person;
use crate::dto::approval::{Approval, ApprovalRun, ApprovalStatus, RunAbove};
use crate::problem::Problem;
use crate::routes::agent_names::AgentNames;
use crate::routes::runs::each_event;
use crate::state::ApiState;
use std::collections::HashMap;
use std::ops::ControlFlow;
use steward_core::approval::{Approval as Row, Subject};
use steward_core::event::EventBody;
use steward_core::ports::{ApprovalFilter, RunRow};
use steward_core::run::MAX_DEPTH;
use steward_core::{ApprovalId, RunId};

/// How many open entries are looked through for duplicates.
const MOST_OPEN: usize = 1000;
const PAGE: u32 = 100;

/// One person's view of the inbox, for one request.
pub(super) struct Desk<'a> {
    state: &'a ApiState,
    person: &'a Person,
    runs: HashMap<RunId, Option<RunRow>>,
    open: Option<Vec<Row>>,
}

impl<'a> Desk<'a> {
    pub fn new(state: &'a ApiState, person: &'a Person) -> Self {
        Self { state, person, runs: HashMap::new(), open: None }
    }

    /// The run, unless the person may not see it.
    pub async fn run(&mut self, id: RunId) -> Result<Option<RunRow>, Problem> {
        if let Some(known) = self.runs.get(&id) {
            return Ok(known.clone());
        }
        let deps = self.state.runs.deps();
        let row = deps.store.run(deps.tenant, id).await?;
        let seen = self.person.sees(row.user).then_some(row);
        self.runs.insert(id, seen.clone());
        Ok(seen)
    }

    /// An entry and its run, if the person may see them.
    pub async fn entry(&mut self, id: ApprovalId) -> Result<(Row, RunRow), Problem> {
        let deps = self.state.runs.deps();
        let row = deps.store.approval(deps.tenant, id).await?;
        match self.run(row.run_id).await? {
            Some(run) => Ok((row, run)),
            None => Err(Problem::not_found(format!("approval {id}"))),
        }
    }

    /// Open entries that ask the same as `row`, if it is open.
    pub async fn alike(&mut self, row: &Row) -> Result<Vec<Row>, Problem> {
        let Some(wanted) = key(row) else {
            return Ok(Vec::new());
        };
        if row.decided_at.is_some() {
            return Ok(Vec::new());
        }
        if self.open.is_none() {
            self.open = Some(self.all_open().await?);
        }
        let candidates: Vec<Row> = self
            .open
            .iter()
            .flatten()
            .filter(|other| other.id != row.id && key(other).as_ref() == Some(&wanted))
            .cloned()
            .collect();
        let mut alike = Vec::new();
        for other in candidates {
            if self.run(other.run_id).await?.is_some() {
                alike.push(other);
            }
        }
        Ok(alike)
    }

    async fn all_open(&self) -> Result<Vec<Row>, Problem> {
        let deps = self.state.runs.deps();
        let mut all: Vec<Row> = Vec::new();
        loop {
            let filter = ApprovalFilter {
                open: true,
                after: all.last().map(|row| row.id),
                limit: PAGE,
                ..ApprovalFilter::default()
            };
            let page = deps.store.approvals(deps.tenant, filter).await?;
            all.extend(page.items);
            if !page.more || all.len() >= MOST_OPEN {
                return Ok(all);
            }
        }
    }

    /// The entry as it is shown.
    pub async fn show(&mut self, row: Row, run: RunRow) -> Result<Approval, Problem> {
        let names = AgentNames::of(self.state, vec![run.agent]).await?;
        let duplicates = self.alike(&row).await?;
        let chain = above(self.state, row.about.parent).await?;
        let taint = match &row.subject {
            Subject::Call { taint, .. } | Subject::Plan { taint, .. } => taint.clone(),
            Subject::Uncertain { .. } | Subject::Question { .. } => Vec::new(),
        };
        let status = status(&row);
        let about = row.about;
        let is_plan = matches!(row.subject, Subject::Plan { .. });
        // Who may decide for others may still not read what they talk about.
        let theirs = run.user.is_none_or(|owner| owner == self.person.user());
        let readable = run.conversation.filter(|_| theirs);
        Ok(Approval {
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

/// The runs above one whose parent is `parent`, the first one first.
async fn above(state: &ApiState, parent: Option<RunId>) -> Result<Vec<RunAbove>, Problem> {
    let deps = state.runs.deps();
    let mut chain = Vec::new();
    let mut next = parent;
    while let Some(id) = next.take()
        && chain.len() < usize::from(MAX_DEPTH)
    {
        let row = deps.store.run(deps.tenant, id).await?;
        let names = AgentNames::of(state, vec![row.agent]).await?;
        chain.push(RunAbove { run_id: id, agent_name: names.get(row.agent) });
        each_event(state, id, |event| {
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

/// Where an entry stands. A withdrawn one has an end and no answer.
pub(super) fn status(row: &Row) -> ApprovalStatus {
    match (&row.answer, row.decided_at) {
        (Some(_), _) => ApprovalStatus::Decided,
        (None, Some(_)) => ApprovalStatus::Withdrawn,
        (None, None) => ApprovalStatus::Open,
    }
}
