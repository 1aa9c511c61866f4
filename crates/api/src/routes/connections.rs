use crate::dto::connections::{Connection, ConnectionInput, ConnectionTest};
use crate::dto::exam::{ConnectionHealth, RecogniseInput};
use crate::extract::PublishedBody;
use crate::response::event_stream;
use crate::routes::prelude::*;
use crate::tenant_app::TenantApp;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response, sse};
use futures::Stream;
use serde::Serialize;
use std::convert::Infallible;
use steward_app::Caller;
use steward_core::ConnectionId;
use steward_core::exam::{Check, ExamReport};
use steward_core::ports::Recognised;
use tokio::sync::mpsc;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(replace, remove))
        .routes(routes!(make_default))
        .routes(routes!(test))
        .routes(routes!(report, examine))
        .routes(routes!(health))
        .routes(routes!(recognise))
}

/// Model endpoints, saved ones first.
#[utoipa::path(get, path = "/api/connections", tag = "connections", operation_id = "listConnections",
    params(Paging), responses((status = 200, description = "Found", body = Page<Connection>)))]
async fn list(Call(state, caller): Call, paging: Paging) -> Listed<Connection> {
    Page::cut(state.connections(&caller).await?, &paging)
}

/// Adds a model endpoint. The first one beside the built-in model becomes the default, which the answer says.
#[utoipa::path(post, path = "/api/connections", tag = "connections", operation_id = "createConnection",
    request_body = ConnectionInput, responses((status = 201, description = "Made", body = Connection)))]
async fn create(
    Call(state, caller): Call,
    PublishedBody(input): PublishedBody<ConnectionInput>,
) -> Created<Connection> {
    created(state.create_connection(&caller, input).await?)
}

/// Replaces a saved connection; in force at the next run.
#[utoipa::path(put, path = "/api/connections/{id}", tag = "connections", operation_id = "replaceConnection",
    params(("id" = Uuid, Path)), request_body = ConnectionInput,
    responses((status = 200, description = "Found", body = Connection)))]
async fn replace(
    Call(state, caller): Call,
    PathId(id): PathId<ConnectionId>,
    PublishedBody(input): PublishedBody<ConnectionInput>,
) -> Answer<Connection> {
    Ok(Json(state.replace_connection(&caller, id, input).await?))
}

/// Removes a saved connection.
#[utoipa::path(delete, path = "/api/connections/{id}", tag = "connections", operation_id = "deleteConnection",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<ConnectionId>) -> Done {
    done(state.remove_connection(&caller, id).await)
}

/// Uses a connection where nothing else is said.
#[utoipa::path(post, path = "/api/connections/{id}/default", tag = "connections", operation_id = "defaultConnection",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
async fn make_default(Call(state, caller): Call, PathId(id): PathId<ConnectionId>) -> Done {
    done(state.make_default_connection(&caller, id).await)
}

/// Asks for one short reply. A connection that fails is an answer too: `ok` is false.
#[utoipa::path(post, path = "/api/connections/{id}/test", tag = "connections", operation_id = "testConnection",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = ConnectionTest)))]
async fn test(Call(state, caller): Call, PathId(id): PathId<ConnectionId>) -> Answer<ConnectionTest> {
    Ok(Json(state.test_connection(&caller, id).await?.into()))
}

/// The report card of a connection's model.
#[utoipa::path(get, path = "/api/connections/{id}/exam", tag = "connections", operation_id = "connectionExam",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = ExamReport)))]
async fn report(Call(state, caller): Call, PathId(id): PathId<ConnectionId>) -> Answer<ExamReport> {
    Ok(Json(state.exam_report(&caller, id).await?))
}

/// Examines a connection's model: what it can do, how good it is at which kind of request, and how it
/// is used from now on. Takes about a minute, and up to 15000 tokens. As server-sent events, each
/// check is told when it is done (`check`), then the report (`report`) or why there is none
/// (`problem`); going away stops the exam. With `Accept: application/json` only the report comes.
#[utoipa::path(post, path = "/api/connections/{id}/exam", tag = "connections", operation_id = "examineConnection",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "Server-sent events, or the report", content(
        (ExamReport = "application/json"), (Check = "text/event-stream")))))]
async fn examine(
    Call(state, caller): Call,
    PathId(id): PathId<ConnectionId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    state.may_examine(&caller, id).await?;
    if wants_events(&headers) {
        return Ok(event_stream(exam_events(state, caller, id)));
    }
    let report = state.examine(&caller, id, &|_| {}).await?;
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
fn exam_events(
    state: TenantApp,
    caller: Caller,
    id: ConnectionId,
) -> impl Stream<Item = Result<sse::Event, Infallible>> + Send {
    async_stream::stream! {
        // One message a check: there are a few.
        let (tell, mut heard) = mpsc::unbounded_channel::<Check>();
        let progress = move |check: &Check| {
            // The receiver lives as long as the exam.
            let _ = tell.send(check.clone());
        };
        let exam = state.examine(&caller, id, &progress);
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

/// How the connections have fared since the server started.
#[utoipa::path(get, path = "/api/connections/health", tag = "connections", operation_id = "connectionsHealth",
    params(Paging), responses((status = 200, description = "Found", body = Page<ConnectionHealth>)))]
async fn health(Call(state, caller): Call, paging: Paging) -> Listed<ConnectionHealth> {
    let health = state.connections_health(&caller).await?;
    Page::cut(health.into_iter().map(Into::into).collect(), &paging)
}

/// Recognises what answers at a URL, by the URL and then by asking it. Nothing is saved.
#[utoipa::path(post, path = "/api/connections/recognise", tag = "connections", operation_id = "recogniseConnection",
    request_body = RecogniseInput, responses((status = 200, description = "Found", body = Recognised)))]
async fn recognise(Call(state, caller): Call, Body(input): Body<RecogniseInput>) -> Answer<Recognised> {
    Ok(Json(state.recognise_connection(&caller, input).await?))
}
