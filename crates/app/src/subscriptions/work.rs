//! Making messages of what happened, and sending them until they arrive. On several nodes each message is made once and taken
//! by one at a time; a node that ends between sending and noting it sends it again, with the same id.

use super::happenings::{happening_of, is_told, word_of};
use super::language_of;
use super::messages::{message_of, post_message};
use crate::app::{App, AppResult, Caller};
use crate::dto::subscriptions::{Happening, MessageForm};
use crate::unattended::{NotStarted, read_kept, to_kept};
use futures::StreamExt as _;
use futures::stream::{self, FuturesUnordered};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;
use steward_core::audit::AuditResult;
use steward_core::policy::Origin;
use steward_core::ports::{
    AuditFilter, AuditOrder, DispatchOutcome, DispatchRow, DispatchTry, NewDispatch, SubscriptionFilter,
    SubscriptionRow,
};
use steward_core::{DispatchId, SubscriptionId, UserId};
use steward_hooks::sign_standard;
use steward_schedule::{Pause, PauseReason};

/// How often it is looked whether something happened.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The same where nobody is to be told.
const LOOK_RARELY: Duration = Duration::from_secs(20);
/// Entries of the audit trail that are read at a time.
const AT_ONCE: u32 = 500;
/// Messages of a subscription that are taken at a time, and sent at the same time; and how often, before others have their turn.
const TAKEN: u32 = 4;
const ROUNDS: usize = 20;
/// Subscriptions that are sent to at the same time, and those of one user.
const SIDE_BY_SIDE: usize = 64;
const AT_ONCE_OF_OWNER: usize = 8;
/// For one try.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Should this node end meanwhile, it is tried again after so long.
const TAKEN_FOR: Duration = Duration::from_secs(30);
/// How long it is waited after each try that failed, seconds; after the last one it is given up. Some two and a half days.
const WAITS: [u64; 9] = [5, 30, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000];
/// The longest that a service's own wish to be left alone counts, seconds.
const MAX_WISH: u64 = 3_600;
/// After so many messages that were given up, one after the other, a subscription rests.
const PAUSE_AFTER: u64 = 5;
/// Messages that are kept of a subscription.
const KEPT: u32 = 2_000;
/// Longest answer of a service that is shown, characters.
const MAX_SHOWN: usize = 200;

/// Subscriptions that are being sent to, with their owners.
type Busy = HashMap<SubscriptionId, Option<UserId>>;

/// Tells what happens, for as long as it is polled. A receiver that keeps its messages waiting holds up no other one.
pub(crate) async fn keep_subscriptions(app: App) {
    let (mut failing, mut busy) = (false, Busy::new());
    let mut sending = FuturesUnordered::new();
    loop {
        let looked = app.look_for_messages(&busy).await;
        if let Err(error) = &looked
            && !failing
        {
            tracing::error!(%error, "subscribers can't be told");
        }
        failing = looked.is_err();
        let rest = match looked {
            Ok((due, anybody)) => {
                for (id, owner) in due {
                    busy.insert(id, owner);
                    sending.push(app.send_messages_of(id));
                }
                if anybody { LOOK_EVERY } else { LOOK_RARELY }
            }
            Err(_) => Duration::from_secs(5),
        };
        tokio::select! {
            () = app.automation.told.notified() => {}
            () = tokio::time::sleep(rest) => {}
            Some(id) = sending.next() => {
                busy.remove(&id);
            }
        }
    }
}

impl App {
    /// Makes messages of what happened; answers the subscriptions that messages wait for, with their owners, and whether
    /// there is anybody to tell.
    async fn look_for_messages(&self, busy: &Busy) -> AppResult<(Vec<(SubscriptionId, Option<UserId>)>, bool)> {
        let rows = self.told_subscriptions().await?;
        self.make_messages(&rows).await?;
        let mut due = Vec::new();
        for id in self.store.subscriptions_due(self.tenant(), self.now(), AT_ONCE).await? {
            let owner = rows.iter().find(|row| row.id == id).map(|row| row.owner);
            let of_owner = busy.values().chain(due.iter().map(|(_, owner)| owner)).filter(|one| **one == owner).count();
            if !busy.contains_key(&id) && of_owner < AT_ONCE_OF_OWNER && busy.len() + due.len() < SIDE_BY_SIDE {
                due.push((id, owner));
            }
        }
        Ok((due, !rows.is_empty()))
    }

    /// Reads the trail to its end, so that who is told from now on isn't told of what happened before.
    pub(super) async fn make_messages_until_now(&self) -> AppResult<()> {
        self.make_messages(&self.told_subscriptions().await?).await
    }

    async fn told_subscriptions(&self) -> AppResult<Vec<SubscriptionRow>> {
        let mut filter = SubscriptionFilter { limit: AT_ONCE, ..SubscriptionFilter::default() };
        let mut rows = Vec::new();
        loop {
            let page = self.store.subscriptions(self.tenant(), &filter).await?;
            filter.before = page.items.last().map(|last| last.id);
            rows.extend(page.items);
            if !page.more {
                return Ok(rows);
            }
        }
    }

    async fn make_messages(&self, rows: &[SubscriptionRow]) -> AppResult<()> {
        let tenant = self.tenant();
        self.seal_audit().await?;
        loop {
            let from = self.store.dispatched_until(tenant).await?;
            let head = self.store.audit_ends(tenant).await?.head.seq;
            // What happened before anybody was to be told is told to nobody.
            let Some(after) = from.filter(|_| !rows.is_empty()) else {
                if from != Some(head) {
                    self.store.make_dispatches(tenant, (from, head), self.now(), Vec::new()).await?;
                }
                return Ok(());
            };
            if after >= head {
                return Ok(());
            }
            let order = AuditOrder::OldestAfter(after);
            let page = self.store.audit_entries(tenant, &AuditFilter::default(), order, AT_ONCE).await?;
            let Some(last) = page.items.last().map(|last| last.seq) else {
                // They were deleted by the retention meanwhile.
                self.store.make_dispatches(tenant, (from, head), self.now(), Vec::new()).await?;
                return Ok(());
            };
            let mut new = Vec::new();
            let mut owners = HashMap::new();
            for entry in &page.items {
                if let Some(happening) = happening_of(entry) {
                    self.add_messages(rows, &happening, &mut owners, &mut new).await?;
                }
            }
            if !self.store.make_dispatches(tenant, (from, last), self.now(), new).await? {
                // Another node was faster.
                return Ok(());
            }
            fail::fail_point!("app.message.made");
        }
    }

    async fn add_messages(
        &self,
        rows: &[SubscriptionRow],
        happening: &Happening,
        owners: &mut HashMap<SubscriptionId, Option<Caller>>,
        new: &mut Vec<NewDispatch>,
    ) -> AppResult<()> {
        let word = word_of(happening.kind);
        let mut whose = None;
        for row in rows {
            let wanted = row.body.kinds.is_empty() || row.body.kinds.contains(&word);
            let itself = happening.subject == row.id.to_string();
            if !wanted || itself || row.body.pause.is_some() || happening.at < row.created_at {
                continue;
            }
            if let Entry::Vacant(unknown) = owners.entry(row.id) {
                let owner = match self.unattended_owner(row.owner, Origin::Api).await {
                    Ok(owner) => Some(owner),
                    Err(NotStarted::Passing(error)) => return Err(error),
                    Err(_) => None,
                };
                unknown.insert(owner);
            }
            let Some(owner) = owners.get(&row.id).and_then(Option::as_ref) else { continue };
            let whose = match whose {
                Some(known) => known,
                None => *whose.insert(self.whose(happening).await?),
            };
            if is_told(whose, owner, row.body.all) {
                new.push(NewDispatch {
                    id: DispatchId(self.new_id()),
                    subscription: row.id,
                    seq: happening.seq,
                    kind: word.clone(),
                    subject: happening.subject.clone(),
                    body: serde_json::json!(happening),
                });
            }
        }
        Ok(())
    }

    /// What is due, a few at a time; answers its id.
    async fn send_messages_of(&self, id: SubscriptionId) -> SubscriptionId {
        for _ in 0..ROUNDS {
            match self.send_some(id).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::error!(subscription = %id, %error, "messages can't be sent; they are tried again");
                    break;
                }
            }
        }
        id
    }

    /// `false`: there was nothing to send.
    async fn send_some(&self, id: SubscriptionId) -> AppResult<bool> {
        let now = self.now();
        let taken = self.store.take_dispatches(self.tenant(), id, now, now.plus(TAKEN_FOR), TAKEN).await?;
        if taken.is_empty() {
            return Ok(false);
        }
        let send = |row: DispatchRow| async move {
            let message = row.id;
            if let Err(error) = self.send_message(row).await {
                tracing::error!(%message, %error, "a message can't be sent; it is tried again");
            }
        };
        stream::iter(taken).for_each_concurrent(TAKEN as usize, send).await;
        self.store.trim_dispatches(self.tenant(), id, KEPT).await?;
        Ok(true)
    }

    async fn send_message(&self, row: DispatchRow) -> AppResult<()> {
        let tenant = self.tenant();
        let subscription = self.store.subscription(tenant, row.subscription).await?;
        let Some(subscription) = subscription.filter(|found| found.deleted_at.is_none()) else {
            let tried = DispatchTry { told: "the subscription is gone".to_owned(), outcome: DispatchOutcome::GivenUp };
            return Ok(self.store.tried_dispatch(tenant, row.id, self.now(), &tried).await?);
        };
        fail::fail_point!("app.message.sending");
        let mut gone = false;
        let (arrived, told, wish) = match self.post(&subscription, &row).await {
            Ok((status, text, wish)) => {
                gone = status == 410;
                let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let shown: String = shown.chars().take(MAX_SHOWN).collect();
                ((200..300).contains(&status), format!("{status} {shown}").trim().to_owned(), wish)
            }
            Err(problem) => (false, problem.chars().take(MAX_SHOWN * 2).collect(), None),
        };
        fail::fail_point!("app.message.posted");
        let now = self.now();
        let outcome = match WAITS.get(row.tries as usize) {
            _ if arrived => DispatchOutcome::Sent,
            Some(wait) if !gone => {
                let wait = spread(row.id, row.tries, *wait);
                let wish = Duration::from_secs(wish.unwrap_or_default().min(MAX_WISH));
                DispatchOutcome::TryAgain(now.plus(wait.max(wish)))
            }
            _ => DispatchOutcome::GivenUp,
        };
        let tried = DispatchTry { told: told.clone(), outcome };
        self.store.tried_dispatch(tenant, row.id, now, &tried).await?;
        if outcome == DispatchOutcome::GivenUp
            && (gone
                || self.store.count_given_up(tenant, subscription.id, subscription.updated_at).await? >= PAUSE_AFTER)
        {
            let why = if gone { "the receiver says that the address is gone" } else { "messages don't arrive" };
            self.pause_subscription_for(subscription, format!("{why}: {told}")).await?;
        }
        Ok(())
    }

    /// Status, text and wish to be left alone; else what is wrong.
    async fn post(
        &self,
        subscription: &SubscriptionRow,
        row: &DispatchRow,
    ) -> Result<(u16, String, Option<u64>), String> {
        let told = |error: crate::app::AppError| format!("{}; {}", error.detail.title, error.detail.hint);
        let opened = self.opened(subscription.id).await.map_err(told)?;
        let form: MessageForm = read_kept(&subscription.body.form).map_err(told)?;
        let happening: Happening = read_kept(&row.body).map_err(told)?;
        let body = &subscription.body;
        let message = message_of(&happening, language_of(&body.language), body.link_base.as_deref());
        let id = format!("msg_{}", row.id);
        let target = (opened.address.as_str(), opened.token.as_deref());
        let mut posting = post_message(form, target, &id, &happening, &message)?;
        let text = serde_json::to_vec(&posting.body).map_err(|error| error.to_string())?;
        if form == MessageForm::Standard {
            let seconds = self.now().0.div_euclid(1_000);
            let named = |id| body.secrets.iter().any(|one| one.id == id);
            let signed = opened.secrets.iter().filter(|one| named(one.id));
            let signatures: Result<Vec<String>, _> =
                signed.map(|one| sign_standard(&one.text, &id, seconds, &text)).collect();
            let signatures = signatures.map_err(|error| error.to_string())?;
            posting.headers.push(("webhook-id", id));
            posting.headers.push(("webhook-timestamp", seconds.to_string()));
            posting.headers.push(("webhook-signature", signatures.join(" ")));
        }
        posting.headers.push(("user-agent", "Steward".to_owned()));
        let client = &self.automation.outbound;
        let posted = client.post_json(posting.method, posting.url, &posting.headers, text, TIMEOUT).await;
        let posted = posted.map_err(|error| error.to_string())?;
        Ok((posted.status, posted.text, posted.retry_after))
    }

    /// It rests; its owner and administrators see why.
    async fn pause_subscription_for(&self, mut row: SubscriptionRow, note: String) -> AppResult<()> {
        if row.body.pause.is_some() {
            return Ok(());
        }
        let pause = Pause { since: self.now(), reason: PauseReason::CannotStart, note };
        row.body.pause = Some(to_kept(&pause));
        row.updated_at = pause.since;
        if !self.store.change_subscription(self.tenant(), &row).await? {
            return Ok(());
        }
        self.store.give_up_dispatches(self.tenant(), row.id, "the subscription was paused").await?;
        let entry = self.audit_fact("subscriptions.paused").on(row.id.to_string()).ended(AuditResult::Failed);
        let entry = entry.with("name", row.body.name.as_str()).with("note", pause.note.as_str());
        self.record_audit(&entry).await
    }
}

/// A wait, up to a fifth longer or shorter, always the same for the same try: so that what failed together isn't tried together.
fn spread(id: DispatchId, tries: u32, seconds: u64) -> Duration {
    let bytes = id.0.as_bytes();
    let mixed =
        bytes.iter().fold(u64::from(tries), |mixed, byte| mixed.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    Duration::from_millis(seconds * (800 + mixed % 401))
}

#[cfg(test)]
mod tests {
    use super::{WAITS, spread};
    use std::time::Duration;
    use steward_core::DispatchId;
    use uuid::Uuid;

    #[test]
    fn waits_are_spread_and_end_within_three_days() {
        for tries in 0..9 {
            let waits: Vec<Duration> = (0..50_u128)
                .map(|one| spread(DispatchId(Uuid::from_u128(one * 7)), tries, WAITS[tries as usize]))
                .collect();
            let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
            let base = Duration::from_secs(WAITS[tries as usize]);
            assert!(least < most && *least >= base * 8 / 10 && *most <= base * 12 / 10, "{least:?} {most:?}");
        }
        assert!(Duration::from_secs(WAITS.iter().sum()) < Duration::from_hours(72));
    }
}
