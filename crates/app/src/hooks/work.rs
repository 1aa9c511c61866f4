//! Starting the runs of what webhooks brought, on each node: of two that start one at once, the database takes one.

use super::{HookCall, Kept, OF, REPLAY, receive};
use crate::app::{App, AppResult, ErrorKind};
use crate::unattended::{NotStarted, Unattended, outcome_of, to_kept};
use futures::StreamExt as _;
use futures::stream;
use std::time::Duration;
use steward_core::HookId;
use steward_core::audit::AuditResult;
use steward_core::policy::Origin;
use steward_core::ports::{DeliveryFate, DeliveryKey, DeliveryRow, HookRow, StartedBy};
use steward_core::provenance::Provenance;
use steward_hooks::{Headers, fill_template, read_payload};
use steward_schedule::{Pause, PauseReason, pause_for_failures};

/// Longest rest of the worker: so late it sees what another server took and left.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// When something that failed in passing is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(5);
/// Deliveries of a webhook that are read at a time, and webhooks that are worked on at the same time.
const AT_ONCE: u32 = 25;
const SIDE_BY_SIDE: usize = 8;
/// Deliveries that are kept of a webhook, and how many bytes of what was sent.
const KEPT_DELIVERIES: u32 = 2_000;
const KEPT_BYTES: u64 = 64 << 20;

/// Starts what came, for as long as it is polled.
pub(crate) async fn keep_hooks(app: App) {
    let mut failing = false;
    loop {
        let worked = app.start_delivered().await;
        if let Err(error) = &worked
            && !failing
        {
            tracing::error!(%error, "what webhooks brought can't be started");
        }
        failing = worked.is_err();
        let rest = match worked {
            Ok(Next::More) => continue,
            Ok(Next::Nothing) => LONGEST_REST,
            Ok(Next::TryAgain) | Err(_) => TRY_AGAIN,
        };
        tokio::select! {
            () = app.automation.hooks.delivered.notified() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Next {
    Nothing,
    /// Some can't be started at the moment.
    TryAgain,
    /// There may be more to start.
    More,
}

impl App {
    /// Starts what waits, in the order in which it came to each webhook. Those of one that can't be started keep no others
    /// waiting.
    pub(crate) async fn start_delivered(&self) -> AppResult<Next> {
        let mut grown = self.automation.hooks.take_grown();
        let waiting = self.store.hooks_with_waiting(self.tenant()).await?;
        let work = |hook| async move {
            self.start_of_hook(hook).await.unwrap_or_else(|error| {
                tracing::error!(%hook, %error, "what a webhook brought can't be started; it is tried again");
                Next::TryAgain
            })
        };
        let done: Vec<Next> = stream::iter(waiting.clone()).map(work).buffer_unordered(SIDE_BY_SIDE).collect().await;
        grown.extend(waiting);
        grown.sort_unstable();
        grown.dedup();
        for hook in grown {
            self.store.trim_deliveries(self.tenant(), hook, KEPT_DELIVERIES, KEPT_BYTES).await?;
        }
        Ok(done.into_iter().max().unwrap_or(Next::Nothing))
    }

    async fn start_of_hook(&self, id: HookId) -> AppResult<Next> {
        let rows = self.store.waiting_deliveries(self.tenant(), id, AT_ONCE).await?;
        let (full, mut ended) = (rows.len() >= AT_ONCE as usize, false);
        for row in rows {
            let key = DeliveryKey { hook: id, delivery: row.id };
            let hook = self.store.hook(self.tenant(), id).await?.filter(|hook| hook.deleted_at.is_none());
            let Some(mut hook) = hook else {
                ended |= self.settle(key, "skipped", "the webhook was deleted").await?;
                continue;
            };
            let mut kept = Kept::read(&hook.body)?;
            if kept.pause.is_none()
                && let Some(pause) = self.pause_after_failures_of(&hook).await?
            {
                self.pause_hook_for(&mut hook, &pause).await?;
                kept.pause = Some(pause);
            }
            if kept.pause.is_some() {
                ended |= self.settle(key, "skipped", "the webhook is paused").await?;
                continue;
            }
            match self.start_delivery(&hook, row).await {
                Ok(()) => ended = true,
                Err(NotStarted::Settled) => {}
                Err(NotStarted::Passing(error)) => {
                    tracing::warn!(hook = %id, %error, "a run is put off");
                    return Ok(Next::TryAgain);
                }
                Err(NotStarted::Refused(reason, error)) => {
                    let note = format!("{}; {}", error.detail.title, error.detail.hint);
                    ended |= self.settle(key, "failed", &note).await?;
                    // What one sender sent, such as nothing to ask, says nothing about the webhook.
                    if error.kind == ErrorKind::Invalid {
                        continue;
                    }
                    let pause = Pause { since: self.now(), reason, note };
                    self.pause_hook_for(&mut hook, &pause).await?;
                }
            }
        }
        // Without any that got its fate, the same ones would be read again at once.
        Ok(match (full, ended) {
            (true, true) => Next::More,
            (true, false) => Next::TryAgain,
            (false, _) => Next::Nothing,
        })
    }

    async fn start_delivery(&self, hook: &HookRow, row: DeliveryRow) -> Result<(), NotStarted> {
        let owner = self.unattended_owner(hook.owner, Origin::Webhook).await?;
        let key = DeliveryKey { hook: hook.id, delivery: row.id };
        let content = row.content.unwrap_or_default();
        let headers = Headers::new(content.headers);
        let payload = read_payload(headers.get("content-type"), content.body.as_bytes()).unwrap_or_default();
        let call = HookCall { headers, body: content.body.into(), received_at: row.received_at };
        let event = replayed(&row.event);
        let values = receive::values(&hook.body.name, event, &call, &payload);
        let request = fill_template(&hook.body.request, &values.borrow());
        let wanted = Unattended {
            agent: hook.agent,
            // Not every database keeps it.
            request: request.replace('\0', ""),
            by: StartedBy::Delivery(key),
            outside: Provenance::from_outside(&format!("webhook {}", hook.body.name)),
        };
        fail::fail_point!("app.delivery.starting");
        self.start_unattended(&owner, wanted).await.map_err(NotStarted::of)?;
        fail::fail_point!("app.delivery.started");
        Ok(())
    }

    /// `false`: it had its fate.
    async fn settle(&self, key: DeliveryKey, word: &str, reason: &str) -> AppResult<bool> {
        let fate = DeliveryFate { word: word.to_owned(), reason: Some(reason.to_owned()) };
        Ok(self.store.settle_delivery(self.tenant(), key, self.now(), &fate).await?)
    }

    async fn pause_after_failures_of(&self, hook: &HookRow) -> AppResult<Option<Pause>> {
        let Some(limit) = hook.body.pause_after_failures else { return Ok(None) };
        let outcomes = self.store.delivery_outcomes(self.tenant(), hook.id, hook.resumed_at, limit).await?;
        Ok(pause_for_failures(Some(limit), outcomes.iter().map(|outcome| outcome_of(outcome)), self.now()))
    }

    /// It rests; its owner and administrators see why.
    async fn pause_hook_for(&self, hook: &mut HookRow, pause: &Pause) -> AppResult<()> {
        hook.body.pause = Some(to_kept(pause));
        hook.updated_at = pause.since;
        if !self.change_hook(hook).await? {
            return Ok(());
        }
        hook.revision += 1;
        let entry = self.audit_fact("hooks.paused").on(hook.id.to_string()).with("name", hook.body.name.as_str());
        let reason = match pause.reason {
            PauseReason::Person => "person",
            PauseReason::Failures { .. } => "failures",
            PauseReason::Owner => "owner",
            PauseReason::CannotStart => "cannot_start",
        };
        let entry = entry.ended(AuditResult::Failed).with("reason", reason).with("note", pause.note.as_str());
        if let Err(error) = self.record_audit(&entry).await {
            tracing::error!(hook = %hook.id, %error, "that a webhook rests could not be written down");
        }
        Ok(())
    }
}

/// What the sender called it, where it was taken once more.
fn replayed(event: &str) -> &str {
    event.strip_prefix(REPLAY).and_then(|rest| rest.split_once(OF)).map_or(event, |(_, event)| event)
}
