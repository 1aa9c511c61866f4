//! How long runs, conversations and figures are kept: policies, holds, and the deletion with its proofs.

mod certificate;
mod held_back;
mod lags;
mod turn;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::retention::{RetentionInput, RetentionPreview, RetentionView, WouldGo};
use crate::inputs::is_trimmed_line;
use crate::settings::{kept_setting, save_changed};
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use lags::Lags;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use steward_core::hash;
use steward_core::ports::{RetainedFilter, StoreResult};
use steward_core::retention::{
    LegalHold, RETENTION_SETTING, RetainedItem, RetainedKind, RetentionPolicy, RetentionRules,
};
use steward_core::{ConversationId, Timestamp};

pub(crate) use held_back::{Deletes, held_back};
pub use turn::keep_data;

const MAX_POLICIES: usize = 50;
const MAX_HOLDS: usize = 1000;
const MAX_DAYS: u32 = 36_500;
/// In characters.
const MAX_NAME: usize = 80;
const MAX_REASON: usize = 500;
/// Items of a policy that a preview counts.
const COUNTED: u64 = 20_000;
/// Items that are read at a time.
const PAGE: u32 = 500;

impl App {
    pub async fn retention_rules(&self, caller: &Caller) -> AppResult<RetentionView> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        let rules = self.kept_retention().await?;
        let (last, held_back) = (self.last_turn().await?, self.held_back().await?);
        Ok(RetentionView { version: rules.version, policies: rules.policies, holds: rules.holds, last, held_back })
    }

    /// What rules would delete as soon as they are saved.
    pub async fn preview_retention(&self, caller: &Caller, rules: &RetentionRules) -> AppResult<RetentionPreview> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        check(rules)?;
        let mut would_go = Vec::new();
        for policy in &rules.policies {
            would_go.push(self.would_go(rules, policy).await?);
        }
        Ok(RetentionPreview { would_go, confirmation: confirmation(rules) })
    }

    /// In force within minutes. What is deleted can't be taken back, so the preview's confirmation is asked for.
    pub async fn set_retention_rules(&self, caller: &Caller, input: RetentionInput) -> AppResult<RetentionView> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        check(&input.rules)?;
        if input.confirmation != confirmation(&input.rules) {
            return Err(AppError::conflict(
                "not_confirmed",
                "these rules were not previewed",
                "POST them to /api/data-governance/retention/preview, look at what would go, and send its `confirmation`",
            ));
        }
        {
            let before = self.kept_retention().await?;
            let versions = (before.version, input.rules.version);
            let rules = RetentionRules { version: input.rules.version + 1, ..input.rules };
            let address = "/api/data-governance/retention";
            save_changed(&self.store, self.tenant(), RETENTION_SETTING, &rules, versions, address).await?;
            tracing::info!(by = caller.by(), version = rules.version, "retention was changed");
        }
        self.retention_rules(caller).await
    }

    pub(crate) async fn kept_retention(&self) -> StoreResult<RetentionRules> {
        kept_setting(&self.store, self.tenant(), RETENTION_SETTING).await
    }

    async fn would_go(&self, rules: &RetentionRules, policy: &RetentionPolicy) -> AppResult<WouldGo> {
        let mut found = WouldGo {
            policy: policy.name.clone(),
            kind: policy.kind,
            items: 0,
            held: 0,
            oldest: None,
            newest: None,
            more: false,
        };
        let lags = self.lags().await?;
        let mut pages = self.retained_pages(filter_of(policy, self.now()));
        while let Some(items) = pages.try_next().await? {
            if found.items + found.held >= COUNTED {
                found.more = !items.is_empty();
                break;
            }
            for item in &items {
                if !self.is_meant(policy, item, &lags).await? {
                    continue;
                }
                if is_held(rules, item) {
                    found.held += 1;
                    continue;
                }
                found.items += 1;
                found.oldest = found.oldest.or(Some(item.at.0));
                found.newest = Some(item.at.0);
            }
        }
        Ok(found)
    }

    /// What fits, some at a time; what is deleted meanwhile does not lead astray.
    pub(crate) fn retained_pages(&self, filter: RetainedFilter) -> BoxStream<'_, StoreResult<Vec<RetainedItem>>> {
        let pages = stream::try_unfold(Some(filter), move |filter| async move {
            let Some(filter) = filter else { return Ok(None) };
            let items = self.store.retained(self.tenant(), &filter).await?;
            let last = items.last().filter(|_| items.len() == filter.limit as usize);
            let after = last.map(|last| (last.at, last.id.clone()));
            let next = after.map(|after| RetainedFilter { after: Some(after), ..filter });
            Ok(Some((items, next)))
        });
        pages.boxed()
    }

    /// Whether a policy is about something that seems old enough, by its classification; not where a clock that was behind
    /// has made it look older than it is.
    async fn is_meant(&self, policy: &RetentionPolicy, item: &RetainedItem, lags: &Lags) -> StoreResult<bool> {
        if lags.written(item.at) >= end_of(policy, self.now()) {
            return Ok(false);
        }
        let Some(from) = policy.from else {
            return Ok(true);
        };
        let seen = self.store.retained_classification(self.tenant(), item).await?;
        Ok(seen.is_some_and(|seen| seen >= from))
    }
}

/// What is from before then is old enough.
fn end_of(policy: &RetentionPolicy, now: Timestamp) -> Timestamp {
    let kept = Duration::from_hours(24 * u64::from(policy.days));
    let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
    Timestamp(now.0.saturating_sub(kept))
}

fn filter_of(policy: &RetentionPolicy, now: Timestamp) -> RetainedFilter {
    RetainedFilter {
        kind: policy.kind,
        before: Some(end_of(policy, now)),
        user: None,
        deleted_only: policy.deleted_only,
        after: None,
        limit: PAGE,
    }
}

pub(crate) fn is_held(rules: &RetentionRules, item: &RetainedItem) -> bool {
    hold_of(rules, item).is_some()
}

/// The hold that keeps an item.
pub(crate) fn hold_of<'r>(rules: &'r RetentionRules, item: &RetainedItem) -> Option<&'r LegalHold> {
    let own = match item.kind {
        RetainedKind::Conversations => item.id.parse::<ConversationId>().ok(),
        _ => item.conversation,
    };
    rules.hold(item.user, own)
}

fn confirmation(rules: &RetentionRules) -> String {
    hash::of_json(&json!(rules))
}

fn check(rules: &RetentionRules) -> AppResult<()> {
    if rules.policies.len() > MAX_POLICIES || rules.holds.len() > MAX_HOLDS {
        return Err(AppError::invalid(
            "policies",
            format!("there are up to {MAX_POLICIES} policies and {MAX_HOLDS} holds"),
            "join those that say the same",
        ));
    }
    let mut names = BTreeSet::new();
    for (index, policy) in rules.policies.iter().enumerate() {
        let wrong = |field: &str, title: String, hint: &str| {
            Err(AppError::invalid(format!("policies.{index}.{field}"), title, hint))
        };
        let name = &policy.name;
        if !is_trimmed_line(name, MAX_NAME) || !names.insert(name.as_str()) {
            return wrong(
                "name",
                format!("{name:?} is no name, or there are two of it"),
                "give each a name of its own",
            );
        }
        if !(1..=MAX_DAYS).contains(&policy.days) {
            return wrong("days", format!("`days` is 1 to {MAX_DAYS}"), "choose a number of days");
        }
        if policy.deleted_only && policy.kind != RetainedKind::Conversations {
            return wrong(
                "deleted_only",
                "only conversations are deleted by who has them".to_owned(),
                "leave `deleted_only` out",
            );
        }
        if policy.from.is_some() && policy.kind == RetainedKind::Usage {
            return wrong("from", "figures have no classification".to_owned(), "leave `from` out");
        }
    }
    for (index, hold) in rules.holds.iter().enumerate() {
        let length = hold.reason.trim().chars().count();
        if length == 0 || length > MAX_REASON {
            return Err(AppError::invalid(
                format!("holds.{index}.reason"),
                format!("a hold has a reason of up to {MAX_REASON} characters"),
                "say who may want it, and the file's number",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{check, confirmation, is_held};
    use serde_json::json;
    use steward_core::Timestamp;
    use steward_core::retention::{RetainedItem, RetainedKind, RetentionRules};

    fn rules(policies: &serde_json::Value, holds: &serde_json::Value) -> RetentionRules {
        serde_json::from_value(json!({"version": 0, "policies": policies, "holds": holds})).unwrap()
    }

    #[test]
    fn rules_that_can_not_be_meant_are_refused() {
        let user = "00000000-0000-0000-0000-000000000007";
        for (policies, holds, field) in [
            (json!([{"name": "a", "kind": "runs", "days": 30}]), json!([]), None),
            (json!([{"name": "", "kind": "runs", "days": 30}]), json!([]), Some("policies.0.name")),
            (json!([{"name": "a", "kind": "runs", "days": 0}]), json!([]), Some("policies.0.days")),
            (
                json!([{"name": "a", "kind": "runs", "days": 1}, {"name": "a", "kind": "usage", "days": 1}]),
                json!([]),
                Some("policies.1.name"),
            ),
            (
                json!([{"name": "a", "kind": "usage", "days": 1, "from": "internal"}]),
                json!([]),
                Some("policies.0.from"),
            ),
            (
                json!([{"name": "a", "kind": "runs", "days": 1, "deleted_only": true}]),
                json!([]),
                Some("policies.0.deleted_only"),
            ),
            (json!([]), json!([{"on": {"kind": "user", "id": user}, "reason": " "}]), Some("holds.0.reason")),
        ] {
            let wrong = check(&rules(&policies, &holds)).err().and_then(|error| error.detail.field);
            assert_eq!(wrong.as_deref(), field);
        }
    }

    #[test]
    fn a_confirmation_is_of_just_these_rules() {
        let one = rules(&json!([{"name": "a", "kind": "runs", "days": 30}]), &json!([]));
        let two = rules(&json!([{"name": "a", "kind": "runs", "days": 3}]), &json!([]));
        assert_ne!(confirmation(&one), confirmation(&two));
        assert_eq!(confirmation(&one), confirmation(&one.clone()));
    }

    #[test]
    fn holds_are_on_conversations_and_users() {
        let (talk, user) = ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000007");
        let item = |kind, id: &str, user: Option<&str>, conversation: Option<&str>| RetainedItem {
            kind,
            id: id.to_owned(),
            at: Timestamp(1),
            deleted_only: false,
            user: user.map(|id| id.parse().unwrap()),
            conversation: conversation.map(|id| id.parse().unwrap()),
        };
        let rules = rules(
            &json!([]),
            &json!([{"on": {"kind": "conversation", "id": talk}, "reason": "x"},
                {"on": {"kind": "user", "id": user}, "reason": "y"}]),
        );
        assert!(is_held(&rules, &item(RetainedKind::Conversations, talk, None, None)));
        assert!(is_held(&rules, &item(RetainedKind::Runs, user, None, Some(talk))));
        assert!(is_held(&rules, &item(RetainedKind::Runs, talk, Some(user), None)));
        assert!(!is_held(&rules, &item(RetainedKind::Runs, talk, None, None)));
    }
}
