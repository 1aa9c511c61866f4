//! Streams of events end soon after whoever hears them was shut out: logged out, disabled, or without their key.

use crate::ApiState;
use crate::auth::app_of_bearer;
use crate::headers::{bearer, is_event_stream};
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use futures::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::LoginError;

/// How often it is looked after: two reads by index for each open stream.
const EVERY: Duration = Duration::from_secs(2);

/// Whoever may come to hear a stream, by the token that opened it.
pub(super) struct Listener(Option<(HeaderMap, String)>);

impl Listener {
    pub fn of(request: &Request) -> Self {
        let headers = request.headers();
        Self(bearer(headers).map(|bearer| (headers.clone(), bearer.to_owned())))
    }
}

/// The answer; a stream of events ends soon after its listener was shut out.
pub(super) fn end_with(response: Response, state: Arc<ApiState>, listener: Listener) -> Response {
    match listener.0 {
        Some((headers, bearer)) if is_event_stream(response.headers()) => {
            let end = shut_out(state, headers, bearer);
            response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(end))))
        }
        _ => response,
    }
}

/// Done when the token opens nothing any more.
async fn shut_out(state: Arc<ApiState>, headers: HeaderMap, bearer: String) {
    let known = loop {
        let Ok(app) = app_of_bearer(&state, &headers, &bearer) else { return };
        match app.access.identify(&bearer).await {
            Ok(known) => break known,
            Err(LoginError::Unavailable(_)) => tokio::time::sleep(EVERY).await,
            Err(_) => return,
        }
    };
    loop {
        tokio::time::sleep(EVERY).await;
        let app = app_of_bearer(&state, &headers, &bearer);
        let in_force = match &app {
            Ok(app) => app.access.is_in_force(&bearer, &known).await,
            Err(_) => false,
        };
        if !in_force {
            tracing::debug!(user = %known.principal.user, "a stream ends, since whoever hears it was shut out");
            return;
        }
    }
}
