//! `/api/connections/{id}/exam`.

use super::one::known;
use crate::auth::Person;
use crate::extract::PathId;
use crate::problem::Problem;
use crate::routes::runs::ALIVE;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde::Serialize;
use std::convert::Infallible;
use steward_core::ConnectionId;
use steward_core::exam::{Check, ExamReport};
use steward_core::ports::Role;
use tokio::sync::mpsc;

/// The report card of a connection's model.
#[utoipa::path(get, path = "/api/connections/{id}/exam", tag = "connections", operation_id = "connectionExam",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = ExamReport)))]
pub(crate) async fn report(
    State(state): State<ApiState>,
    _: Person,
    PathId(id): PathId<ConnectionId>,
) -> Result<Json<ExamReport>, Problem> {
    let connection = known(&state, id).await?.connection;
    let report = state.examiner.report(id).await.ok_or_else(|| {
        Problem::new(
            axum::http::StatusCode::NOT_FOUND,
            format!("`{}` has not been examined yet", connection.name),
            "examine it with POST to the same address, or with `steward model exam`",
        )
        .code("no_exam")
    })?;
    Ok(Json(report))
}

/// Examines a connection's model: what it can do, how good it is at which kind of request, and how it
/// is used from now on. Takes about a minute, and up to 15000 tokens. As server-sent events, each
/// check is told when it is done (`check`), then the report (`report`) or why there is none
/// (`problem`); going away stops the exam. With `Accept: application/json` only the report comes.
#[utoipa::path(post, path = "/api/connections/{id}/exam", tag = "connections", operation_id = "examineConnection",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "Server-sent events, or the report", content(
        (ExamReport = "application/json"), (Check = "text/event-stream")))))]
pub(crate) async fn examine(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<ConnectionId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    person.may(Role::Operator)?;
    known(&state, id).await?;
    if wants_events(&headers) {
        let events = Sse::new(told(state, id)).keep_alive(KeepAlive::new().interval(ALIVE));
        return Ok(events.into_response());
    }
    let report = state.examiner.examine(id, &|_| {}).await?;
    Ok(Json(report).into_response())
}

fn wants_events(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/event-stream"))
}

/// The exam goes on as long as somebody listens.
fn told(state: ApiState, id: ConnectionId) -> impl Stream<Item = Result<sse::Event, Infallible>> + Send {
    async_stream::stream! {
        // One message a check: there are a few.
        let (tell, mut heard) = mpsc::unbounded_channel::<Check>();
        let progress = move |check: &Check| {
            // The receiver lives as long as the exam.
            let _ = tell.send(check.clone());
        };
        let exam = state.examiner.examine(id, &progress);
        tokio::pin!(exam);
        let end = loop {
            tokio::select! {
                biased;
                Some(check) = heard.recv() => yield Ok(event("check", &check)),
                end = &mut exam => break end,
            }
        };
        while let Ok(check) = heard.try_recv() {
            yield Ok(event("check", &check));
        }
        yield Ok(match end {
            Ok(report) => event("report", &report),
            Err(error) => sse::Event::default().event("problem").data(Problem::from(error).json()),
        });
    }
}

fn event(kind: &str, data: &impl Serialize) -> sse::Event {
    let data = serde_json::to_string(data).unwrap_or_default();
    sse::Event::default().event(kind).data(data)
}
