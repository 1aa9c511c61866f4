//! Changes of records, which people propose or confirm.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize, listed_owner};
use crate::domain_service::ProposedChange;
use crate::domains::asking;
use crate::dto::domains::{ChangeInfo, ChangeInput, FieldDifference, RecordChange, RecordChangeState};
use steward_core::RecordChangeId;
use steward_core::ports::{Page, RecordChangeFilter};

/// Changes that are read at a time.
const READ_AT_ONCE: u32 = 200;

impl App {
    /// The newest first, of domains that the caller may read; those of others only for operators.
    pub async fn record_changes(
        &self,
        caller: &Caller,
        state: Option<RecordChangeState>,
        before: Option<RecordChangeId>,
        limit: u32,
    ) -> AppResult<Page<ChangeInfo>> {
        authorize(caller, Action::Read, Resource::RecordChanges)?;
        let owner = listed_owner(caller, Resource::RecordChanges);
        let readable = self.domains.readable_domains(asking(caller)).await?;
        let mut filter = RecordChangeFilter { state, owner, before, limit: limit.max(READ_AT_ONCE) };
        let most = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        let mut items = Vec::new();
        // Those that are left out would make a page short, or empty with more behind it.
        loop {
            let page = self.store.record_changes(self.tenant(), &filter).await?;
            let last = page.items.last().map(|change| change.id);
            for change in page.items.into_iter().filter(|change| readable.contains(&change.domain)) {
                if items.len() >= most {
                    return Ok(Page { items, more: true });
                }
                items.push(self.shown(caller, self.settled(change).await).await?);
            }
            if !page.more || last.is_none() || items.len() >= most {
                return Ok(Page { items, more: page.more });
            }
            filter.before = last;
        }
    }

    pub async fn record_change(&self, caller: &Caller, id: RecordChangeId) -> AppResult<ChangeInfo> {
        let change = self.change_for(caller, Action::Read, id).await?;
        self.shown(caller, change).await
    }

    /// Nothing is written before somebody confirms it.
    pub async fn propose_record_change(&self, caller: &Caller, input: &ChangeInput) -> AppResult<ChangeInfo> {
        authorize(caller, Action::Operate, Resource::RecordChanges)?;
        Ok(info(self.domains.propose(asking(caller), &input.change).await?))
    }

    pub async fn confirm_record_change(&self, caller: &Caller, id: RecordChangeId) -> AppResult<ChangeInfo> {
        let change = self.change_for(caller, Action::Operate, id).await?;
        must_be(&change, RecordChangeState::Proposed)?;
        let done = self.domains.confirm(caller.user(), change).await?;
        self.shown(caller, done).await
    }

    pub async fn discard_record_change(&self, caller: &Caller, id: RecordChangeId) -> AppResult<ChangeInfo> {
        let change = self.change_for(caller, Action::Operate, id).await?;
        must_be(&change, RecordChangeState::Proposed)?;
        let done = self.domains.discard(caller.user(), change).await?;
        self.shown(caller, done).await
    }

    pub async fn undo_record_change(&self, caller: &Caller, id: RecordChangeId) -> AppResult<ChangeInfo> {
        let change = self.change_for(caller, Action::Operate, id).await?;
        must_be(&change, RecordChangeState::Done)?;
        let done = self.domains.take_back(caller.user(), change).await?;
        self.shown(caller, done).await
    }

    async fn change_for(&self, caller: &Caller, action: Action, id: RecordChangeId) -> AppResult<RecordChange> {
        let unknown = || AppError::not_found(format!("record change {id}"));
        let change = self.store.record_change(self.tenant(), id).await?.ok_or_else(unknown)?;
        authorize(caller, action, Resource::RecordChange { id, owner: change.owner })?;
        if !self.domains.may_see(asking(caller), &change).await? {
            return Err(unknown());
        }
        Ok(self.settled(change).await)
    }

    async fn shown(&self, caller: &Caller, change: RecordChange) -> AppResult<ChangeInfo> {
        Ok(info(self.domains.with_difference(asking(caller), change).await?))
    }

    /// One that was cut off while it was written is found out about; if that fails it stays as it is.
    async fn settled(&self, change: RecordChange) -> RecordChange {
        let decided = change.decided_at.is_some_and(|at| self.domains.was_cut_off(at));
        if change.state != RecordChangeState::Confirmed || !decided {
            return change;
        }
        match self.domains.settle(change.clone()).await {
            Ok(settled) => settled,
            Err(error) => {
                tracing::warn!(%error, change = %change.id, "what became of a confirmed change is not known yet");
                change
            }
        }
    }
}

fn must_be(change: &RecordChange, state: RecordChangeState) -> AppResult<()> {
    if change.state == state {
        return Ok(());
    }
    Err(AppError::conflict(
        "record_change_state",
        format!("the change is {} already", change.state.name()),
        "read it again; propose it anew if it is still wanted",
    ))
}

fn info(proposed: ProposedChange) -> ChangeInfo {
    let ProposedChange { change, difference } = proposed;
    let undoable = change.state == RecordChangeState::Done
        && change.written.as_ref().is_some_and(|written| !written["undo"].is_null());
    let change = RecordChange { current: None, written: None, ..change };
    ChangeInfo { change, difference: difference.into_iter().map(FieldDifference::from).collect(), undoable }
}
