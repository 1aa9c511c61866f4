//! A webhook to try things on, and a call of it; a subscription, and a message of it.

use serde_json::json;
use steward_core::ports::{
    DeliveryContent, DeliveryFate, HookBody, HookRow, HookSecret, NewDelivery, NewDispatch, SubscriptionBody,
    SubscriptionRow,
};
use steward_core::{AgentId, DeliveryId, DispatchId, HookId, SubscriptionId, Timestamp, UserId};
use uuid::Uuid;

/// `text` is its name and its request.
pub(super) fn row(id: HookId, owner: UserId, agent: AgentId, text: &str) -> HookRow {
    HookRow {
        id,
        owner,
        agent,
        body: HookBody {
            name: text.to_owned(),
            request: text.to_owned(),
            signing: json!({"kind": "standard"}),
            window_seconds: 300,
            event_id: None,
            filters: Vec::new(),
            pause_after_failures: None,
            pause: None,
            secrets: vec![HookSecret { id: Uuid::nil(), hint: "abcd".to_owned(), created_at: Timestamp(0) }],
        },
        resumed_at: Timestamp(0),
        revision: 1,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        deleted_at: None,
    }
}

/// One that a filter left out, so that nothing starts.
pub(super) fn delivery(hook: HookId, id: DeliveryId, text: &str) -> NewDelivery {
    NewDelivery {
        id,
        hook,
        event: text.to_owned(),
        received_at: Timestamp(0),
        bytes: 2,
        content: DeliveryContent { headers: Vec::new(), body: text.to_owned() },
        fate: Some(DeliveryFate { word: "skipped".to_owned(), reason: Some(text.to_owned()) }),
        most_waiting: 1,
    }
}

/// It rests, so that nothing is sent.
pub(super) fn subscription(id: SubscriptionId, owner: UserId, text: &str) -> SubscriptionRow {
    SubscriptionRow {
        id,
        owner,
        body: SubscriptionBody {
            name: text.to_owned(),
            form: json!("standard"),
            place: "https://example.org".to_owned(),
            kinds: Vec::new(),
            all: false,
            language: "en".to_owned(),
            pause: None,
            link_base: None,
            secrets: vec![HookSecret { id: Uuid::nil(), hint: "abcd".to_owned(), created_at: Timestamp(0) }],
        },
        revision: 1,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        deleted_at: None,
    }
}

pub(super) fn dispatch(subscription: SubscriptionId, id: DispatchId, text: &str) -> NewDispatch {
    let (kind, subject) = (text.to_owned(), text.to_owned());
    NewDispatch { id, subscription, seq: 0, kind, subject, body: json!({"text": text}) }
}
