//! What is still being sent ends soon after rights of whoever gets it were taken: they were logged out or disabled, their key
//! ended, or their role, a group or a grant of theirs went. A client that still may begins anew, and gets what it may then.

use crate::ApiState;
use crate::auth::{app_of_bearer, identify};
use crate::headers::{bearer, is_event_stream};
use axum::BoxError;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use futures::stream::once;
use futures::{FutureExt as _, StreamExt as _};
use std::sync::Arc;
use std::time::Duration;
use steward_app::Identity;

/// How often it is looked after: two reads by index for each open stream, or none where what was read is kept.
const EVERY: Duration = Duration::from_secs(2);

/// Who a request is answered for, with the rights that they had before it was.
pub(super) struct Listener(Option<(HeaderMap, String, Identity)>);

impl Listener {
    /// With the request for the handler, which does not look up again who it is.
    pub async fn of(state: &ApiState, request: Request) -> (Self, Request) {
        let Some(bearer) = bearer(request.headers()).map(str::to_owned) else {
            return (Self(None), request);
        };
        let (mut parts, body) = request.into_parts();
        let known = identify(&mut parts, state).await;
        let listener = known.ok().map(|(_, identity)| (parts.headers.clone(), bearer, identity));
        (Self(listener), Request::from_parts(parts, body))
    }
}

/// The answer. If it is sent as it is made, it ends soon after rights were taken: a stream of events as if it were over,
/// anything else broken off, so that nobody takes a part for the whole.
pub(super) fn end_with(response: Response, state: Arc<ApiState>, listener: Listener) -> Response {
    let Some((headers, bearer, known)) = listener.0 else { return response };
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    let events = is_event_stream(response.headers());
    let end = shut_out(state, headers, bearer, known).shared();
    response.map(|body| {
        let sent = body.into_data_stream().map(|part| part.map_err(BoxError::from)).take_until(end.clone().boxed());
        if events {
            return Body::from_stream(sent);
        }
        let broken = once(async move { end.now_or_never().map(|()| Err(BoxError::from("rights were taken"))) });
        Body::from_stream(sent.chain(broken.filter_map(std::future::ready)))
    })
}

/// Done when the token does not open all that it opened before.
async fn shut_out(state: Arc<ApiState>, headers: HeaderMap, bearer: String, known: Identity) {
    loop {
        tokio::time::sleep(EVERY).await;
        let in_force = match app_of_bearer(&state, &headers, &bearer) {
            Ok(app) => app.access.is_in_force(&bearer, &known).await,
            Err(_) => false,
        };
        if !in_force {
            tracing::debug!(user = %known.principal.user, "what was being sent ends, since rights of whoever gets it were taken");
            return;
        }
    }
}
