//! The deletion itself, a bounded number of items at a time.

use super::held_back::{Deletes, usual};
use super::{filter_of, is_held};
use crate::app::{App, AppResult};
use crate::dto::retention::RetentionTurn;
use crate::erasure::FailedErasures;
use futures::TryStreamExt as _;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use steward_core::audit::AuditEntry;
use steward_core::ports::{Settings as _, StoreError, StoreResult};
use steward_core::retention::{DELETED, RetainedItem, RetentionPolicy, RetentionRules};

/// What the last turn did.
const TURN_SETTING: &str = "governance.retention_turn";
/// How often rules and erasures are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How often old data is looked for, in turns of [`LOOK_EVERY`].
const TURN_EVERY: u32 = 1800;
/// Items that are deleted in one turn; the rest waits for the next look.
const AT_ONCE: u64 = 500;
/// Between two deletions, so that runs need not wait for them.
const PAUSE: Duration = Duration::from_millis(5);

impl App {
    pub(super) async fn last_turn(&self) -> StoreResult<Option<RetentionTurn>> {
        let kept = self.store.setting(self.tenant(), TURN_SETTING).await?;
        kept.map(|kept| serde_json::from_value(kept).map_err(|error| StoreError::Corrupt(error.to_string())))
            .transpose()
    }

    async fn note_turn(&self, turn: &RetentionTurn) -> StoreResult<()> {
        self.store.set_setting(self.tenant(), TURN_SETTING, &json!(turn)).await
    }

    /// Deletes what the rules say; `false`: there is more of it.
    pub async fn delete_expired(&self) -> AppResult<bool> {
        let rules = self.kept_retention().await?;
        if rules.policies.is_empty() {
            return Ok(true);
        }
        if !self.believes_clock(Deletes::Retention).await? || !self.is_usual(&rules).await? {
            return Ok(false);
        }
        let mut turn = RetentionTurn { began_at: self.now().0, ended_at: None, deleted: 0, held: 0 };
        self.note_turn(&turn).await?;
        let mut whole = true;
        for policy in &rules.policies {
            whole &= self.delete_by(policy, &mut turn).await?;
        }
        turn.ended_at = Some(self.now().0);
        self.note_turn(&turn).await?;
        Ok(whole)
    }

    /// Whether no policy would delete more at once than needs the word of an administrator.
    async fn is_usual(&self, rules: &RetentionRules) -> AppResult<bool> {
        if self.waits_for_a_word(Deletes::Retention).await? {
            return Ok(false);
        }
        let lags = self.lags().await?;
        for policy in &rules.policies {
            let of = self.store.count_retained(self.tenant(), policy.kind).await?;
            let most = usual(of);
            let (mut going, mut pages) = (0, self.retained_pages(filter_of(policy, self.now())));
            while going <= most
                && let Some(items) = pages.try_next().await?
            {
                for item in items.iter().filter(|item| !is_held(rules, item)) {
                    going += u64::from(going <= most && self.is_meant(policy, item, &lags).await?);
                }
            }
            if !self.may_delete_many(Deletes::Retention, going, of).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn delete_by(&self, policy: &RetentionPolicy, turn: &mut RetentionTurn) -> AppResult<bool> {
        let lags = self.lags().await?;
        let (mut deleted, mut pages) = (0, self.retained_pages(filter_of(policy, self.now())));
        while let Some(items) = pages.try_next().await? {
            for item in &items {
                if !self.is_meant(policy, item, &lags).await? {
                    continue;
                }
                // Read for each, since a turn takes a while and what is deleted against a hold can't be brought back.
                let rules = self.kept_retention().await?;
                if !rules.policies.contains(policy) {
                    return Ok(true);
                }
                if is_held(&rules, item) {
                    turn.held += 1;
                    continue;
                }
                let entry = self.deletion_of(item).with("policy", policy.name.as_str());
                if self.store.delete_retained(self.tenant(), item, &entry).await?.is_some() {
                    turn.deleted += 1;
                    deleted += 1;
                }
                if deleted >= AT_ONCE {
                    return Ok(false);
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(true)
    }

    /// The entry that proves the deletion of an item; what was in it is added where it is deleted.
    pub(crate) fn deletion_of(&self, item: &RetainedItem) -> AuditEntry {
        let age = self.now().since(item.at).as_secs() / 86_400;
        let entry = self.audit_fact(DELETED).on(item.id.as_str());
        entry.with("kind", item.kind.as_str()).with("changed_at", item.at.0).with("age_days", age)
    }
}

/// Deletes what is kept long enough, and erases who is to be, for as long as it is polled.
pub async fn keep_data(app: App) {
    let mut progress = Progress::default();
    loop {
        look(&app, &mut progress).await;
        progress.turn = progress.turn.wrapping_add(1);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What one look knows of those before.
#[derive(Default)]
struct Progress {
    turn: u32,
    /// The version of the rules that were followed to the end.
    known: Option<u64>,
    failed_erasures: FailedErasures,
    /// What fails; it was logged.
    failing: BTreeSet<&'static str>,
}

impl Progress {
    fn note(&mut self, work: &'static str, done: &AppResult<()>) {
        match done {
            Ok(()) => {
                self.failing.remove(work);
            }
            Err(error) if self.failing.insert(work) => tracing::error!(work, %error, "what is due can't be deleted"),
            Err(_) => {}
        }
    }
}

/// None of it waits for what fails before it.
async fn look(app: &App, progress: &mut Progress) {
    let noted = app.note_time().await;
    progress.note("the time", &noted);
    let erased = app.go_on_erasing(&mut progress.failed_erasures).await;
    progress.note("erasures", &erased);
    let not_stored = app.delete_runs_not_stored().await;
    progress.note("runs that are not stored", &not_stored);
    let forgotten = app.forget_masks().await;
    progress.note("masks", &forgotten);
    let deleted = delete_due(app, progress.turn, &mut progress.known).await;
    progress.note("retention", &deleted);
}

async fn delete_due(app: &App, turn: u32, known: &mut Option<u64>) -> AppResult<()> {
    let version = app.kept_retention().await?.version;
    if *known != Some(version) || turn.is_multiple_of(TURN_EVERY) {
        let whole = app.delete_expired().await?;
        app.store.remove_unused_blobs(app.tenant()).await?;
        *known = whole.then_some(version);
    }
    Ok(())
}
