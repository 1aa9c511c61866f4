use crate::dto::runs::{Notice, StreamEvent};
use crate::response::event_stream;
use crate::routes::prelude::*;
use axum::response::Response;
use axum::response::sse;
use futures::StreamExt;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;
use steward_core::event::{Event, EventBody};

/// How long one stream lasts, so that none outlives the page that opened it by much.
const LONGEST: Duration = Duration::from_mins(15);

fn concerns_lists(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::RunStarted { .. }
            | EventBody::ApprovalRequested { .. }
            | EventBody::ApprovalDecided { .. }
            | EventBody::RunFinished { .. }
            | EventBody::ToolUndone { .. }
    )
}

/// What happens to the runs that one may see, as server-sent events, for refreshing lists. From now
/// on, and lossy: who was away looks anew. Ends after 15 minutes: open it again. A run's own events
/// are at `/api/runs/{id}/events`.
#[utoipa::path(get, path = "/api/events", tag = "runs", operation_id = "watchAll",
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = StreamEvent)))]
pub(super) async fn events(Call(state, caller): Call) -> Response {
    // Before the answer begins, so that nothing which happens after it is missed.
    let mut all = state.watch_all();
    let notices = async_stream::stream! {
        loop {
            // The stream ends for who is too far behind: begin anew rather than keep it all.
            while let Some(event) = all.next().await {
                if concerns_lists(&event.body) && state.may_see_event(&caller, &event).await {
                    yield Ok::<_, Infallible>(notice(&event));
                }
            }
            tokio::task::yield_now().await;
            all = state.watch_all();
        }
    };
    event_stream(notices.take_until(tokio::time::sleep(LONGEST)))
}

fn notice(event: &Event) -> sse::Event {
    let kind = event.body.kind();
    let notice = Notice { r#type: kind.to_owned(), run_id: event.run_id, seq: event.seq };
    sse::Event::default().event(kind).data(json!(notice).to_string())
}
