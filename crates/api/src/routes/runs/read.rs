//! Reading a run's log, and its events as JSON.

use crate::problem::Problem;
use crate::state::ApiState;
use serde_json::json;
use serde_json::value::RawValue;
use std::ops::ControlFlow;
use steward_core::RunId;
use steward_core::event::Event;
use steward_core::ports::StoredEvent;

const PAGE: u32 = 500;

/// Calls `see` with each event of a run, oldest first, until it has seen enough. Only a page is in
/// memory at a time.
pub(crate) async fn each_event(
    state: &ApiState,
    run: RunId,
    mut see: impl FnMut(&Event) -> ControlFlow<()>,
) -> Result<(), Problem> {
    let deps = state.runs.deps();
    let mut after = 0;
    loop {
        let page = deps.store.events(deps.tenant, run, after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.event.seq;
        for stored in &page {
            if see(&stored.event).is_break() {
                return Ok(());
            }
        }
    }
}

/// An event as JSON text: what is stored, behind where it stands. What a newer program wrote goes
/// out as it is.
pub(super) fn stored_json(stored: &StoredEvent) -> String {
    let event = &stored.event;
    match stored.raw.trim().strip_prefix('{') {
        Some(body) => format!(
            "{{\"run_id\":\"{}\",\"seq\":{},\"at\":{},\"epoch\":{},{body}",
            event.run_id, event.seq, event.at.0, event.epoch
        ),
        None => event_json(event),
    }
}

/// The same of an event that was just made.
pub(super) fn event_json(event: &Event) -> String {
    json!(event).to_string()
}

/// A stored event for a JSON answer.
pub(super) fn stored_raw(stored: &StoredEvent) -> Result<Box<RawValue>, Problem> {
    RawValue::from_string(stored_json(stored)).map_err(|error| {
        tracing::error!(run = %stored.event.run_id, seq = stored.event.seq, %error, "an event is no JSON");
        Problem::unavailable("the log of this run can't be read")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{event_json, stored_json};
    use serde_json::{Value, json};
    use steward_core::event::{Event, EventBody};
    use steward_core::model::Purpose;
    use steward_core::ports::StoredEvent;
    use steward_core::{RunId, TimerId, Timestamp};
    use uuid::Uuid;

    fn stored(body: EventBody, raw: &str) -> StoredEvent {
        StoredEvent {
            event: Event { run_id: RunId(Uuid::from_u128(1)), seq: 3, at: Timestamp(9), epoch: 2, body },
            raw: raw.to_owned(),
        }
    }

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn live_and_stored_events_are_the_same() {
        let bodies = [
            EventBody::ModelDelta {
                step: 1,
                purpose: Purpose::Reply,
                text: "\"ä\"\n".to_owned(),
                reasoning: String::new(),
            },
            EventBody::TimerSet {
                timer_id: TimerId(Uuid::from_u128(5)),
                at: Timestamp(77),
                purpose: "retry".to_owned(),
            },
        ];
        for body in bodies {
            let raw = json!(body).to_string();
            let one = stored(body, &raw);
            let (live, kept) = (value(&event_json(&one.event)), value(&stored_json(&one)));
            assert_eq!(live, kept);
            assert_eq!((&live["seq"], &live["at"], &live["epoch"]), (&json!(3), &json!(9), &json!(2)));
        }
    }

    #[test]
    fn what_is_not_understood_goes_out_as_it_is() {
        let one = stored(EventBody::Unknown, r#"{"type":"run.praised","stars":5}"#);
        let sent = value(&stored_json(&one));
        assert_eq!(sent["type"], json!("run.praised"));
        assert_eq!(sent["stars"], json!(5));
        assert_eq!(sent["seq"], json!(3));
    }
}
