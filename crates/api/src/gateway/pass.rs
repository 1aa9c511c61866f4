use super::inbound::Inbound;
use super::relay::Relay;
use super::translate::{self, is_translated};
use super::usage_sniffer::UsageSniffer;
use super::{mark, resolve};
use crate::auth::DialectCaller;
use crate::openai::{OpenAiError, may_ask, no_answer, not_reserved, stopping};
use crate::tenant_app::TenantApp;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::BytesMut;
use std::time::Duration;
use steward_app::{Caller, Reservation};
use steward_core::model::{Connection, ModelErrorClass, Usage};
use steward_core::ports::{Passage, Passed};
use steward_core::routing::Routing;

/// Longest time for a whole answer.
const DEADLINE: Duration = Duration::from_mins(10);
const DEADLINE_MS: u64 = 600_000;
/// Tokens set aside for an answer without a limit of its own.
const ANSWER: u64 = 1024;

/// `POST /v1/completions`: there are no agents behind this older interface.
pub(crate) async fn completions(
    DialectCaller(state, caller): DialectCaller,
    inbound: Inbound,
) -> Result<Response, OpenAiError> {
    let Some(name) = inbound.connection() else {
        return Err(OpenAiError::invalid(
            "this older interface reaches connections only: name the model `connection/<name>`, or ask an agent by /v1/chat/completions",
            "model",
        ));
    };
    pass(&state, &caller, name, &inbound, Passage::Completions).await
}

/// Passes a request on to the connection `name`, or to those of the header `x-steward-fallback`.
pub(crate) async fn pass(
    state: &TenantApp,
    caller: &Caller,
    name: &str,
    inbound: &Inbound,
    passage: Passage,
) -> Result<Response, OpenAiError> {
    may_ask(caller)?;
    let mut targets = resolve(state, caller, name, &inbound.headers).await?;
    state.keep_data_in_house(caller, &inbound.body, &mut targets).await?;
    let translated = |targets: &[Connection]| targets.first().is_some_and(|first| is_translated(first, passage));
    // What can't be translated is refused before anything is set aside for it.
    let translate = || inbound.clone().read(move |inbound| translate::read(inbound, passage, DEADLINE_MS));
    let mut request = if translated(&targets) { Some(translate().await?.1) } else { None };
    let answer = match passage {
        Passage::Embeddings => 0,
        _ => inbound.asked.max_tokens.unwrap_or(ANSWER),
    };
    let (bytes, principal) = (inbound.body.len(), &caller.principal);
    let reserved = Reservation::open(state, principal, &mut targets, bytes, answer, DEADLINE).await;
    let mut reservation = reserved.map_err(|error| not_reserved(error, state.now()))?;
    if !translated(&targets) {
        request = None;
    } else if request.is_none() {
        let read = translate().await.inspect_err(|_| {
            reservation.settle(None, Usage::default(), true, true);
        });
        request = Some(read?.1);
    }
    let routing =
        Routing { max_fallback_attempts: u8::try_from(targets.len()).unwrap_or(u8::MAX), ..Routing::default() };
    if let Some(request) = request {
        return translate::answer(state, (&targets, &routing), passage, request, reservation).await;
    }
    let (others, direct): (Vec<_>, Vec<_>) = targets.into_iter().partition(|one| is_translated(one, passage));
    let sent = state.gateway.pass(&direct, &routing, passage, (inbound.body.clone(), &inbound.asked), DEADLINE_MS);
    let sent = tokio::select! {
        biased;
        sent = sent => sent,
        () = state.usage_writer.closing() => return Err(stopping()),
    };
    match sent {
        Ok(passed) => Ok(respond(state, passed, passage, reservation)),
        Err(error) => {
            if !others.is_empty()
                && !is_own_fault(error.error.class)
                && let Ok((_, request)) = translate().await
            {
                return translate::answer(state, (&others, &routing), passage, request, reservation).await;
            }
            reservation.settle(None, Usage::default(), true, true);
            Err(no_answer(&error))
        }
    }
}

/// Whether the request would be refused elsewhere too.
fn is_own_fault(class: ModelErrorClass) -> bool {
    use ModelErrorClass as Class;
    matches!(class, Class::BadRequest | Class::ContextLength | Class::Cancelled | Class::BlockedByPolicy)
}

fn respond(state: &TenantApp, passed: Passed, passage: Passage, reservation: Reservation) -> Response {
    let Passed { connection, attempts, status, headers, body } = passed;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut events = false;
    for (name, value) in headers {
        let pair = (HeaderName::try_from(name), HeaderValue::try_from(value));
        if let (Ok(name), Ok(value)) = pair {
            events |= name == header::CONTENT_TYPE && value.as_bytes().starts_with(b"text/event-stream");
            response.headers_mut().append(name, value);
        }
    }
    mark(&mut response, &connection, &attempts);
    let relay = Relay {
        body,
        sniffer: UsageSniffer::new(reservation.prompt),
        price: state.gateway.price(&connection),
        refused: !response.status().is_success(),
        reservation,
        connection,
        passage,
        events,
        partial: BytesMut::new(),
        failed: false,
        over: false,
        closing: Box::pin(state.usage_writer.closing()),
    };
    *response.body_mut() = Body::from_stream(relay);
    response
}
