//! What stops a deletion by age until an administrator agrees: a clock that jumped, or more at once than is usual. What is
//! deleted can't be brought back, and the time alone is no witness.

use super::lags::Lags;
use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::retention::{HeldBack, HeldWhy, RetentionView};
use crate::settings::kept_setting;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use steward_core::ports::{Settings as _, StoreResult};
use steward_core::{TenantId, Timestamp, hash};
use steward_store::Store;
use tokio::sync::Mutex;

const SETTING: &str = "governance.deletions";
/// How far the clock may be ahead of when it was last right, such as while the program was not running.
const MOST_AHEAD: Duration = Duration::from_hours(7 * 24);
/// How far it may be behind.
const MOST_BEHIND: Duration = Duration::from_hours(24);
/// How often it is noted that the clock is right.
const NOTE_EVERY: Duration = Duration::from_mins(10);
/// So many things are deleted at once without a word.
const FEW: u64 = 50;
/// The part of all things that is deleted at once without a word: one in so many.
const SHARE: u64 = 5;
/// How long an agreement to an amount holds.
const AGREED_FOR: Duration = Duration::from_hours(24);

/// Held from reading the state until a change of it is saved.
static CHANGES: Mutex<()> = Mutex::const_new(());

/// What deletes by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deletes {
    /// Retention policies.
    Retention,
    /// The retention of the audit trail.
    Audit,
    /// Lists of tokens for masked texts.
    Masks,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Deletions {
    /// When the clock was last right.
    believed_at: Option<i64>,
    /// When an amount was agreed to, by what deletes.
    #[serde(default)]
    agreed: BTreeMap<String, i64>,
    /// By what deletes.
    #[serde(default)]
    held: BTreeMap<String, HeldBack>,
    #[serde(default)]
    lags: Lags,
}

impl App {
    /// Whether the clock can be believed; else nothing may be deleted, and the refusal is noted for administrators.
    pub(crate) async fn believes_clock(&self, by: Deletes) -> AppResult<bool> {
        let _changing = CHANGES.lock().await;
        let before = self.deletions().await?;
        let mut now = before.clone();
        let wrong = self.look_at_clock(&mut now).await?;
        if let Some((why, message)) = &wrong {
            hold(&mut now, by, *why, message.clone(), self.now());
        }
        self.save_deletions(&before, &now).await?;
        Ok(wrong.is_none())
    }

    /// Whether so many things may be deleted at once; else the refusal is noted for administrators.
    pub(crate) async fn may_delete_many(&self, by: Deletes, going: u64, of: u64) -> AppResult<bool> {
        let _changing = CHANGES.lock().await;
        let before = self.deletions().await?;
        let mut now = before.clone();
        let agreed = before.agreed.get(name(by)).map(|at| Timestamp(*at));
        let agreed = agreed.is_some_and(|at| at <= self.now() && self.now().since(at) <= AGREED_FOR);
        let may = agreed || going <= usual(of);
        if may {
            release(&mut now, by);
        } else {
            let message = format!("more than {} of {of} things are old enough to be deleted at once", usual(of));
            hold(&mut now, by, HeldWhy::TooMuch, message, self.now());
        }
        self.save_deletions(&before, &now).await?;
        Ok(may)
    }

    /// Whether an amount waits for a word, so that it need not be counted again.
    pub(super) async fn waits_for_a_word(&self, by: Deletes) -> AppResult<bool> {
        let deletions = self.deletions().await?;
        Ok(deletions.held.get(name(by)).is_some_and(|held| held.why == HeldWhy::TooMuch))
    }

    /// Somebody who saw how much would go has said that it shall.
    pub(crate) async fn agree_to_amount(&self, by: Deletes) -> AppResult<()> {
        let _changing = CHANGES.lock().await;
        let before = self.deletions().await?;
        let mut now = before.clone();
        now.agreed.insert(name(by).to_owned(), self.now().0);
        release(&mut now, by);
        self.save_deletions(&before, &now).await
    }

    /// Agrees to what is held back, as it was shown: the clock is right, and as much is to be deleted.
    pub async fn agree_to_deletions(&self, caller: &Caller, confirmation: &str) -> AppResult<RetentionView> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        {
            let _changing = CHANGES.lock().await;
            let before = self.deletions().await?;
            if before.held.is_empty() || confirmation != confirmation_of(&before) {
                return Err(AppError::conflict(
                    "not_confirmed",
                    "what is held back is not what was confirmed",
                    "read /api/data-governance/retention again, and send the `confirmation` of what it holds back",
                ));
            }
            let at = self.now().0;
            let mut now = Deletions { believed_at: Some(at), held: BTreeMap::new(), ..before.clone() };
            now.lags.forget(Timestamp(at));
            now.agreed.extend(before.held.keys().map(|by| (by.clone(), at)));
            self.save_deletions(&before, &now).await?;
            tracing::info!(by = caller.by(), "deletions that were held back go on");
        }
        self.retention_rules(caller).await
    }

    pub(super) async fn held_back(&self) -> StoreResult<Vec<HeldBack>> {
        held_back(&self.store, self.tenant()).await
    }

    /// Notes that the clock is right, for as long as it is.
    pub(super) async fn note_time(&self) -> AppResult<()> {
        let _changing = CHANGES.lock().await;
        let before = self.deletions().await?;
        let mut now = before.clone();
        self.look_at_clock(&mut now).await?;
        self.save_deletions(&before, &now).await
    }

    /// What is wrong with the clock; notes when it is right. Then nothing is held back by it any more.
    async fn look_at_clock(&self, deletions: &mut Deletions) -> StoreResult<Option<(HeldWhy, String)>> {
        let now = self.now();
        let believed = match deletions.believed_at {
            Some(at) => Some(Timestamp(at)),
            // Not what this program has written, which may have begun with a wrong clock.
            None => self.store.last_written(self.tenant(), self.facts.started_at).await?,
        };
        let wrong = believed.and_then(|believed| wrong_clock(believed, now));
        if let (Some(believed), Some((HeldWhy::ClockBehind, _))) = (believed, &wrong) {
            deletions.lags.note(now, believed);
        }
        if wrong.is_none() {
            deletions.held.retain(|_, held| held.why == HeldWhy::TooMuch);
        }
        let due = deletions.believed_at.is_none_or(|at| now < Timestamp(at) || now.since(Timestamp(at)) >= NOTE_EVERY);
        if wrong.is_none() && due {
            deletions.believed_at = Some(now.0);
        }
        Ok(wrong)
    }

    pub(super) async fn lags(&self) -> StoreResult<Lags> {
        Ok(self.deletions().await?.lags)
    }

    async fn deletions(&self) -> StoreResult<Deletions> {
        kept_setting(&self.store, self.tenant(), SETTING).await
    }

    async fn save_deletions(&self, before: &Deletions, now: &Deletions) -> AppResult<()> {
        for (by, held) in &now.held {
            if before.held.get(by) != Some(held) {
                tracing::error!(by, reason = held.message, "nothing old is deleted until an administrator agrees");
            }
        }
        if before != now {
            self.store.set_setting(self.tenant(), SETTING, &json!(now)).await?;
        }
        Ok(())
    }
}

/// What waits for the word of an administrator.
pub(crate) async fn held_back(store: &Store, tenant: TenantId) -> StoreResult<Vec<HeldBack>> {
    let deletions: Deletions = kept_setting(store, tenant, SETTING).await?;
    let confirmation = confirmation_of(&deletions);
    let shown = deletions.held.into_values();
    Ok(shown.map(|held| HeldBack { confirmation: confirmation.clone(), ..held }).collect())
}

/// How many of these are deleted at once without a word.
pub(super) fn usual(of: u64) -> u64 {
    FEW.max(of / SHARE)
}

fn name(by: Deletes) -> &'static str {
    match by {
        Deletes::Retention => "retention",
        Deletes::Audit => "audit",
        Deletes::Masks => "masks",
    }
}

fn wrong_clock(believed: Timestamp, now: Timestamp) -> Option<(HeldWhy, String)> {
    let (ahead, behind) = (now.since(believed), believed.since(now));
    let shown = |time: Timestamp| time.rfc3339();
    if ahead > MOST_AHEAD {
        let days = ahead.as_secs() / 86_400;
        let message =
            format!("the clock says {}, {days} days after this was last in use ({})", shown(now), shown(believed));
        return Some((HeldWhy::ClockAhead, message));
    }
    if behind > MOST_BEHIND {
        let message = format!("the clock says {}, before this was last in use ({})", shown(now), shown(believed));
        return Some((HeldWhy::ClockBehind, message));
    }
    None
}

/// One that is held for the same reason stays as it was shown.
fn hold(deletions: &mut Deletions, by: Deletes, why: HeldWhy, message: String, at: Timestamp) {
    let hint = match why {
        HeldWhy::TooMuch => "look at the rules and the clock, and agree if as much is to go",
        HeldWhy::ClockAhead | HeldWhy::ClockBehind => "set the clock right, or agree if it is right",
    };
    let by = name(by);
    if deletions.held.get(by).is_none_or(|held| held.why != why) {
        let (by_name, hint, confirmation) = (by.to_owned(), hint.to_owned(), String::new());
        let held = HeldBack { by: by_name, why, message, hint, since: at.0, confirmation };
        deletions.held.insert(by.to_owned(), held);
    }
}

/// What was too much is not, or is agreed to.
fn release(deletions: &mut Deletions, by: Deletes) {
    if deletions.held.get(name(by)).is_some_and(|held| held.why == HeldWhy::TooMuch) {
        deletions.held.remove(name(by));
    }
}

fn confirmation_of(deletions: &Deletions) -> String {
    hash::of_json(&json!(deletions.held))
}

#[cfg(test)]
mod tests {
    use super::{usual, wrong_clock};
    use crate::dto::retention::HeldWhy;
    use steward_core::Timestamp;

    const DAY: i64 = 86_400_000;

    #[test]
    fn a_clock_that_jumped_is_not_believed() {
        let why = |days: i64| wrong_clock(Timestamp(1000 * DAY), Timestamp((1000 + days) * DAY)).map(|(why, _)| why);
        for (days, expect) in [
            (0, None),
            (7, None),
            (8, Some(HeldWhy::ClockAhead)),
            (4_000, Some(HeldWhy::ClockAhead)),
            (-1, None),
            (-2, Some(HeldWhy::ClockBehind)),
            (-4_000, Some(HeldWhy::ClockBehind)),
        ] {
            assert_eq!(why(days), expect, "{days} days");
        }
    }

    #[test]
    fn much_is_both_a_number_and_a_share() {
        assert_eq!([0, 10, 250, 255, 10_000].map(usual), [50, 50, 50, 51, 2_000]);
    }
}
