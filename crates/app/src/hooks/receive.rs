//! A call of a webhook: who sends it, whether it was there before, and whether it is to start something. It is answered once
//! it is kept; its run is started after that.

use super::{Kept, content_of};
use crate::app::{App, AppError, AppResult, ErrorKind};
use crate::dto::hooks::HookAccepted;
use crate::hook_doors::KnownHook;
use crate::unattended::from_vault;
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;
use steward_core::ports::{Accepted, DeliveryFate, HookRow, NewDelivery, StoreError};
use steward_core::{DeliveryId, HookId, TenantId, Timestamp};
use steward_hooks::{Headers, Values, answer_challenge, check_filters, find_event_id, read_payload, verify};

/// Deliveries of a webhook that may wait for their runs.
pub(super) const MAX_WAITING: u64 = 10_000;
/// Tries of a delivery whose event another server takes at the same moment.
const TRIES: u32 = 3;

/// What a sender sent.
#[derive(Debug)]
pub struct HookCall {
    pub headers: Headers,
    pub body: Bytes,
    pub received_at: Timestamp,
}

impl HookCall {
    pub fn new(headers: impl IntoIterator<Item = (String, String)>, body: Bytes, received_at: Timestamp) -> Self {
        Self { headers: Headers::new(headers), body, received_at }
    }
}

/// What a sender is answered.
#[derive(Debug)]
pub enum Received {
    Accepted(HookAccepted),
    /// The sender only asks whether somebody is here.
    Challenge(String),
}

/// What is filled into a request.
pub(super) struct CallValues<'a> {
    name: &'a str,
    event: &'a str,
    received: String,
    headers: &'a Headers,
    payload: &'a Value,
}

pub(super) fn values<'a>(name: &'a str, event: &'a str, call: &'a HookCall, payload: &'a Value) -> CallValues<'a> {
    CallValues { name, event, received: call.received_at.rfc3339(), headers: &call.headers, payload }
}

impl CallValues<'_> {
    pub fn borrow(&self) -> Values<'_> {
        Values {
            payload: self.payload,
            headers: self.headers,
            event: self.event,
            hook: self.name,
            received: &self.received,
        }
    }
}

impl App {
    /// Whose webhook it is; `None`: there is none.
    pub async fn tenant_of_hook(&self, id: HookId) -> AppResult<Option<TenantId>> {
        Ok(self.store.tenant_of_hook(id).await?)
    }

    /// Kept once it is answered, unless it is refused.
    pub async fn receive_delivery(&self, id: HookId, call: HookCall) -> AppResult<Received> {
        let known = self.known_hook(id).await?.filter(|known| known.row.deleted_at.is_none());
        let known = known.ok_or_else(|| AppError::not_found("this webhook"))?;
        let received = self.receive(&known, &call).await;
        if let Err(error) = &received {
            let told = (error.detail.title.as_str(), error.detail.hint.as_str());
            self.automation.hooks.note_refusal(id, call.received_at, told);
        }
        received
    }

    async fn receive(&self, known: &KnownHook, call: &HookCall) -> AppResult<Received> {
        let (row, kept) = (&known.row, Kept::read(&known.row.body)?);
        let secrets: Vec<&str> = known.secrets.iter().map(secrecy::ExposeSecret::expose_secret).collect();
        let window = row.body.window_seconds;
        verify(&kept.signing, &secrets, &call.headers, &call.body, call.received_at, window).map_err(|refusal| {
            AppError::new(ErrorKind::Unauthorized, refusal.problem(), refusal.hint()).code("signature")
        })?;
        let payload = read_payload(call.headers.get("content-type"), &call.body);
        let payload = payload.map_err(|error| AppError::invalid("body", error.problem, error.hint))?;
        if let Some(text) = answer_challenge(&kept.signing, &payload) {
            return Ok(Received::Challenge(text));
        }
        let id = DeliveryId(self.new_id());
        let event = find_event_id(&kept.signing, kept.event_id.as_ref(), &call.headers, &payload);
        let content = content_of(&kept.signing, call);
        let told = Headers::new(content.headers.clone());
        let skipped = match check_filters(&kept.filters, &told, &payload) {
            Err(reason) => Some(reason),
            Ok(()) => kept.pause.as_ref().map(|_| "the webhook is paused".to_owned()),
        };
        self.require_disk_room()?;
        let waits = skipped.is_none();
        let new = NewDelivery {
            id,
            hook: row.id,
            event: event.unwrap_or_else(|| id.to_string()),
            received_at: call.received_at,
            bytes: call.body.len() as u64,
            content,
            fate: skipped.map(|reason| DeliveryFate { word: "skipped".to_owned(), reason: Some(reason) }),
            most_waiting: MAX_WAITING,
        };
        let accepted = self.accept(new).await?;
        fail::fail_point!("app.delivery.kept");
        match accepted {
            Accepted::Kept => {
                let many = self.automation.hooks.note_kept(row.id);
                if waits || many {
                    self.automation.hooks.delivered.notify_one();
                }
                Ok(Received::Accepted(HookAccepted { id, repeated: false }))
            }
            Accepted::Repeated(known) => Ok(Received::Accepted(HookAccepted { id: known, repeated: true })),
            Accepted::Full => Err(full()),
        }
    }

    async fn accept(&self, new: NewDelivery) -> AppResult<Accepted> {
        for _ in 1..TRIES {
            match self.store.accept_delivery(self.tenant(), new.clone()).await {
                Err(StoreError::Conflict(_)) => {}
                done => return Ok(done?),
            }
        }
        Ok(self.store.accept_delivery(self.tenant(), new).await?)
    }

    /// As it is, or was two seconds ago if another server changed it since.
    async fn known_hook(&self, id: HookId) -> AppResult<Option<KnownHook>> {
        if let Some(known) = self.automation.hooks.known(id) {
            return Ok(Some(known));
        }
        let Some(row) = self.store.hook(self.tenant(), id).await? else { return Ok(None) };
        // Each opening is an entry of the audit trail, which a stranger's calls mustn't make longer.
        let secrets = match self.automation.hooks.secrets_of(&row) {
            Some(secrets) => secrets,
            None => Arc::new(self.open_secrets(&row).await?),
        };
        let known = KnownHook::new(row, secrets);
        self.automation.hooks.remember(known.clone());
        Ok(Some(known))
    }

    async fn open_secrets(&self, row: &HookRow) -> AppResult<Vec<secrecy::SecretString>> {
        let all = self.kept_secrets(row.id).await.map_err(from_vault)?;
        // What isn't named in the row was being added or removed when the server ended.
        let named = |id: uuid::Uuid| row.body.secrets.iter().any(|one| one.id == id);
        Ok(all.into_iter().filter(|(id, _)| named(*id)).map(|(_, secret)| secret).collect())
    }
}

pub(super) fn full() -> AppError {
    let title = format!("{MAX_WAITING} deliveries of this webhook wait for their runs");
    let hint = "send it again later; an operator sees under Webhooks why they wait";
    AppError::new(ErrorKind::Exhausted, title, hint).code("too_many_deliveries").retry_after(30)
}
