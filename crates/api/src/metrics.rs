//! `/metrics` for monitoring programs, and what is counted of requests.

use crate::ApiState;
use crate::auth::{Client, caller_of, identify};
use crate::headers::{bearer, is_event_stream, text};
use crate::problem::Problem;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use std::time::Instant;
use steward_app::{Metrics, MetricsFormat};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The route of what has none, such as the studio's files.
const ELSE: &str = "other";

/// For the token of the settings, for programs of this machine if the settings say so, and for administrators.
pub(crate) async fn metrics(State(state): State<ApiState>, request: Request) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    let token = bearer(&parts.headers).map(str::to_owned);
    let format = format_for(text(&parts.headers, header::ACCEPT).unwrap_or_default());
    let peer = Client::of_request(&parts).address;
    let text = match state.installation().metrics_for_program(token.as_deref(), peer, format).await? {
        Some(text) => text,
        None if token.is_none() => return Err(no_token()),
        None => {
            let (app, identity) = identify(&mut parts, &state).await?;
            app.metrics(&caller_of(identity, &parts), format).await?
        }
    };
    let kind = match format {
        MetricsFormat::OpenMetrics => OPEN_METRICS,
        MetricsFormat::PlainText => PLAIN_TEXT,
    };
    let headers = [(header::CONTENT_TYPE, kind), (header::VARY, "accept")];
    Ok((headers.map(|(name, value)| (name, HeaderValue::from_static(value))), text).into_response())
}

/// The one of both that a reader wants most (RFC 9110, 12.5.1); who doesn't say gets the text that each of them can read.
fn format_for(accept: &str) -> MetricsFormat {
    let (mut open, mut plain) = (0.0, 0.0);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_lowercase();
        let (mut quality, mut version) = (1.0_f32, None);
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name.trim() {
                "q" => quality = value.trim().parse().unwrap_or(0.0),
                "version" => version = Some(value.trim()),
                _ => {}
            }
        }
        let place = match (kind.as_str(), version) {
            ("application/openmetrics-text", None | Some("0.0.1" | "1.0.0")) => &mut open,
            ("text/plain", None | Some("0.0.4")) | ("text/*" | "*/*", _) => &mut plain,
            _ => continue,
        };
        *place = quality.max(*place);
    }
    if open > 0.0 && open >= plain { MetricsFormat::OpenMetrics } else { MetricsFormat::PlainText }
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

#[cfg(test)]
mod tests {
    use super::format_for;
    use steward_app::MetricsFormat::{OpenMetrics, PlainText};

    #[test]
    fn a_reader_gets_the_format_that_it_asks_for() {
        for (accept, expect) in [
            ("", PlainText),
            ("*/*", PlainText),
            ("text/plain; version=0.0.4", PlainText),
            ("text/plain;version=0.0.4;q=0.3, application/openmetrics-text;q=0.2", PlainText),
            ("application/openmetrics-text; version=1.0.0", OpenMetrics),
            ("application/openmetrics-text; version=1.0.0; charset=utf-8, text/plain", OpenMetrics),
            ("application/openmetrics-text;q=0, text/plain", PlainText),
            ("application/openmetrics-text;version=2.0.0,text/plain;q=0.5", PlainText),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,\
                 text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                OpenMetrics,
            ),
            ("application/json", PlainText),
        ] {
            assert_eq!(format_for(accept), expect, "{accept}");
        }
    }
}
