//! A run's events as JSON: its stream `GET /api/runs/{id}/events`, and one of its log.

use crate::dto::runs::StreamEvent;
use crate::response::event_stream;
use crate::routes::prelude::*;
use crate::tenant_app::TenantApp;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use serde_json::json;
use serde_json::value::RawValue;
use steward_core::RunId;
use steward_core::event::{Event, EventBody};
use steward_core::ports::{RunStatus, StoreError, StoredEvent};

const PAGE: u32 = 100;

/// Where to go on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct From {
    /// Only events after this one; the header `Last-Event-ID` goes before it.
    #[param(nullable = false, maximum = 9_007_199_254_740_991u64)]
    after: Option<u64>,
}

/// A run's events, past and to come, as server-sent events: `id` is the event's number, `event`
/// its type, `data` the event. Goes on after `Last-Event-ID`; ends after `run.finished`.
#[utoipa::path(get, path = "/api/runs/{id}/events", tag = "runs", operation_id = "watchRun",
    params(("id" = Uuid, Path), From,
        ("Last-Event-ID" = Option<String>, Header, nullable = false, description = "Only events after this one")),
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = StreamEvent)))]
pub(super) async fn events(
    Call(state, caller): Call,
    PathId(id): PathId<RunId>,
    Params(query): Params<From>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let row = state.run_row(&caller, id).await?;
    let after = last_event(&headers)?.or(query.after).unwrap_or(0);
    if after > row.last_seq {
        // The row may be a moment older than what the client has just seen.
        let row = state.run_row(&caller, id).await?;
        if after > row.last_seq {
            return Err(Problem::invalid(
                "Last-Event-ID",
                format!("the run has {} events, not {after}", row.last_seq),
                "give the id of the last event that you have, or 0",
            ));
        }
    }
    let stream: BoxStream<'static, Result<Sent, StoreError>> =
        if row.status == RunStatus::Finished { ended(&state, id, after).boxed() } else { live(&state, id, after) };
    Ok(event_stream(stream.map(|sent| sent.map(|sent| event(&sent)))))
}

fn event(sent: &Sent) -> sse::Event {
    sse::Event::default().id(sent.seq.to_string()).event(&sent.kind).data(&sent.json)
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or("?").trim();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        Problem::invalid(
            "Last-Event-ID",
            "`Last-Event-ID` is no event number",
            "give the id of the last event that you have, or leave it out",
        )
    })
}

struct Sent {
    pub seq: u64,
    pub kind: String,
    pub json: String,
}

/// What follows `after`, past and to come; ends after `run.finished`. Read only as fast as the client takes it.
fn live(state: &TenantApp, run: RunId, after: u64) -> BoxStream<'static, Result<Sent, StoreError>> {
    let again = state.clone();
    state
        .watch(run, after)
        .then(move |event| {
            let state = again.clone();
            async move {
                let event = event?;
                if matches!(event.body, EventBody::Unknown) {
                    // A newer program wrote it: only its stored text is whole.
                    let page = state.stored_events(run, event.seq - 1, 1).await?;
                    if let Some(stored) = page.first() {
                        return Ok(sent(stored.event.seq, stored_json(stored)));
                    }
                }
                Ok(Sent { seq: event.seq, kind: event.body.kind().to_owned(), json: event_json(&event) })
            }
        })
        .boxed()
}

/// What follows `after` in the log of a run that has ended.
fn ended(state: &TenantApp, run: RunId, after: u64) -> impl Stream<Item = Result<Sent, StoreError>> + Send + use<> {
    let state = state.clone();
    async_stream::try_stream! {
        let mut after = after;
        loop {
            let page = state.stored_events(run, after, PAGE).await?;
            let Some(last) = page.last() else { return };
            after = last.event.seq;
            for stored in page {
                yield sent(stored.event.seq, stored_json(&stored));
            }
        }
    }
}

fn sent(seq: u64, json: String) -> Sent {
    #[derive(serde::Deserialize)]
    struct Kind {
        r#type: String,
    }
    let kind = serde_json::from_str::<Kind>(&json).map_or("unknown".to_owned(), |kind| kind.r#type);
    Sent { seq, kind, json }
}

/// What a newer program wrote goes out as it is.
fn stored_json(stored: &StoredEvent) -> String {
    let event = &stored.event;
    match stored.raw.trim().strip_prefix('{') {
        Some(body) => format!(
            "{{\"run_id\":\"{}\",\"seq\":{},\"at\":{},\"epoch\":{},{body}",
            event.run_id, event.seq, event.at.0, event.epoch
        ),
        None => event_json(event),
    }
}

fn event_json(event: &Event) -> String {
    json!(event).to_string()
}

pub(super) fn stored_raw(stored: &StoredEvent) -> Result<Box<RawValue>, Problem> {
    RawValue::from_string(stored_json(stored)).map_err(|error| {
        tracing::error!(run = %stored.event.run_id, seq = stored.event.seq, %error, "an event is no JSON");
        Problem::unavailable("the log of this run can't be read")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{event_json, last_event, stored_json};
    use axum::http::{HeaderMap, HeaderValue};
    use serde_json::{Value, json};
    use steward_core::event::{Event, EventBody};
    use steward_core::model::Purpose;
    use steward_core::ports::StoredEvent;
    use steward_core::{RunId, TimerId, Timestamp};
    use uuid::Uuid;

    #[test]
    fn reads_where_to_go_on() {
        let check = |text: Option<&'static str>, expect: Option<Option<u64>>| {
            let mut headers = HeaderMap::new();
            if let Some(text) = text {
                headers.insert("last-event-id", HeaderValue::from_static(text));
            }
            assert_eq!(last_event(&headers).ok(), expect, "{text:?}");
        };
        check(None, Some(None));
        check(Some(""), Some(None));
        check(Some("17"), Some(Some(17)));
        check(Some("-1"), None);
        check(Some("x"), None);
    }

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
                provisional: false,
                retracts: false,
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
