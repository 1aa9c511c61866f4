//! `/metrics` for monitoring programs, and what is counted of requests.

use crate::ApiState;
use crate::auth::{Client, caller_of, identify};
use crate::headers::{bearer, is_event_stream};
use crate::problem::Problem;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use std::time::Instant;
use steward_app::Metrics;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The route of what has none, such as the studio's files.
const ELSE: &str = "other";

/// For the token of the settings, for programs of this machine if the settings say so, and for administrators.
pub(crate) async fn metrics(State(state): State<ApiState>, request: Request) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    let token = bearer(&parts.headers).map(str::to_owned);
    let text =
        match state.installation().metrics_for_program(token.as_deref(), Client::of_request(&parts).address).await? {
            Some(text) => text,
            None if token.is_none() => return Err(no_token()),
            None => {
                let (app, identity) = identify(&mut parts, &state).await?;
                app.metrics(&caller_of(identity, &parts)).await?
            }
        };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS))], text).into_response())
}

fn no_token() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "the metrics need a token",
        "send METRICS_TOKEN of the settings, or an administrator's API key, as `Authorization: Bearer …`",
    )
}

/// A request that is to be counted: its answer, how long that took to begin, and the event stream that it may be.
pub(crate) struct RequestCount {
    begun: Instant,
    method: &'static str,
    matched: Option<MatchedPath>,
}

impl RequestCount {
    pub fn begin(request: &Request) -> Self {
        let matched = request.extensions().get::<MatchedPath>().cloned();
        Self { begun: Instant::now(), method: method_word(request.method()), matched }
    }

    pub fn end(self, metrics: &Metrics, response: Response) -> Response {
        let route = self.matched.as_ref().map_or(ELSE, MatchedPath::as_str);
        metrics.request(self.method, route, response.status().as_u16(), self.begun.elapsed());
        if !is_event_stream(response.headers()) {
            return response;
        }
        let open = metrics.stream();
        let (parts, body) = response.into_parts();
        let pieces = body.into_data_stream().inspect(move |_| {
            let _ = &open;
        });
        Response::from_parts(parts, Body::from_stream(pieces))
    }
}

fn method_word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
