//! Streams of events end soon after whoever hears them was shut out: logged out, disabled, or without their key.

use crate::ApiState;
use crate::auth::bearer;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt as _;
use std::time::Duration;
use steward_core::ports::LoginError;

/// How often it is looked after: two reads by index for each open stream.
const EVERY: Duration = Duration::from_secs(2);

pub(crate) async fn end_streams(State(state): State<ApiState>, request: Request, next: Next) -> Response {
    let watched = request.uri().path().starts_with("/api/");
    let bearer = bearer(request.headers()).ok().filter(|_| watched).map(str::to_owned);
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    match bearer {
        Some(bearer) if is_stream => {
            let end = shut_out(state, bearer);
            response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(end))))
        }
        _ => response,
    }
}

/// Done when the token opens nothing any more.
async fn shut_out(state: ApiState, bearer: String) {
    let known = loop {
        match state.access.identify(&bearer).await {
            Ok(known) => break known,
            Err(LoginError::Unavailable(_)) => tokio::time::sleep(EVERY).await,
            Err(_) => return,
        }
    };
    loop {
        tokio::time::sleep(EVERY).await;
        if !state.access.is_in_force(&bearer, &known).await {
            tracing::debug!(user = %known.principal.user, "a stream ends, since whoever hears it was shut out");
            return;
        }
    }
}
