//! `GET /api/runs/{id}/events`.

use super::stream::{Sent, ended, live};
use crate::auth::Person;
use crate::dto::run::StreamEvent;
use crate::extract::{Params, PathId};
use crate::problem::Problem;
use crate::routes::people;
use crate::state::ApiState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{self, KeepAlive, Sse};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use serde::Deserialize;
use std::time::Duration;
use steward_core::RunId;
use steward_core::ports::{RunStatus, StoreError};
use utoipa::IntoParams;

/// How often a silent stream says that it is still there.
pub(crate) const ALIVE: Duration = Duration::from_secs(15);

/// Where to go on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
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
pub(crate) async fn events(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
    Params(query): Params<From>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, StoreError>>>, Problem> {
    let row = people::run(&state, &person, id).await?;
    let after = last_event(&headers)?.or(query.after).unwrap_or(0);
    if after > row.last_seq {
        // The row may be a moment older than what the client has just seen.
        let row = people::run(&state, &person, id).await?;
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
    let events = stream.map(|sent| sent.map(|sent| event(&sent)));
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)))
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

#[cfg(test)]
mod tests {
    use super::last_event;
    use axum::http::{HeaderMap, HeaderValue};

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
}
