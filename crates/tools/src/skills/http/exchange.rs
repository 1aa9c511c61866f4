use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::outbound::{Client, HttpError, HttpLimits, HttpRequest, HttpResponse};
use crate::skills::executor::receipt;
use crate::skills::value_text;
use crate::text::one_line;
use encoding_rs::{Encoding, UTF_8};
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::{Value, json};
use serde_json_path::JsonPath;
use std::time::Duration;
use steward_core::provenance::Provenance;
use steward_core::skill::Skill;
use steward_core::tool::{EffectClass, ToolOutput};
use url::Url;

/// Wait before the second try; doubled for each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_RETRIES: u8 = 10;

pub(in crate::skills) struct Exchange<'a> {
    pub client: Client,
    pub skill: &'a Skill,
    pub context: &'a Context,
    pub retries: u8,
}

impl Exchange<'_> {
    fn may_repeat(&self) -> bool {
        matches!(self.skill.effect, EffectClass::Read | EffectClass::Keyed)
    }

    /// Sends `request`, with retries. A response of any status is returned.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ToolsError> {
        let most = if self.may_repeat() { self.retries.min(MAX_RETRIES) } else { 0 };
        let mut tried = 0;
        loop {
            let outcome = self.send_once(request.clone()).await?;
            let wish = match &outcome {
                Ok(HttpResponse { status, headers, .. })
                    if *status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() =>
                {
                    retry_after(headers)
                }
                Err(HttpError::Broken(_) | HttpError::Unreachable(_)) => None,
                _ => return self.final_outcome(outcome, tried),
            };
            let wait = wish.unwrap_or(FIRST_WAIT * (1 << tried.min(8)));
            if tried >= most || wait >= self.context.left() {
                return self.final_outcome(outcome, tried);
            }
            tried += 1;
            self.pause(wait).await?;
        }
    }

    async fn send_once(&self, request: HttpRequest) -> Result<Result<HttpResponse, HttpError>, ToolsError> {
        self.context.check()?;
        let limits = HttpLimits { timeout: self.context.left(), ..HttpLimits::default() };
        let limit = limits.timeout.as_millis();
        tokio::select! {
            outcome = self.client.send(request, limits, &self.context.scope.consulted) => Ok(outcome),
            // The context ends at the same moment as the timeout, and is reported in the same way.
            () = self.context.halt() => {
                let why = "the run was stopped";
                if self.context.left().is_zero() {
                    Ok(Err(HttpError::TimedOut(limit)))
                } else if self.skill.effect == EffectClass::Read {
                    Err(refused!("`{}` was stopped: {why}", self.skill.name))
                } else {
                    Err(self.unsettled(why.to_owned()))
                }
            }
        }
    }

    pub async fn pause(&self, wait: Duration) -> Result<(), ToolsError> {
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            () = self.context.halt() => Err(ToolsError::Stopped(self.skill.name.clone())),
        }
    }

    fn final_outcome(&self, outcome: Result<HttpResponse, HttpError>, tried: u8) -> Result<HttpResponse, ToolsError> {
        outcome.map_err(|error| match error {
            HttpError::Broken(_) | HttpError::TimedOut(_) if !self.may_repeat() => self.unsettled(error.to_string()),
            other if tried > 0 => refused!("{other} (tried {} times)", tried + 1),
            other => other.into(),
        })
    }

    fn unsettled(&self, why: String) -> ToolsError {
        ToolsError::Unsettled { tool: self.skill.name.clone(), why }
    }
}

/// How long the server asks to wait: seconds, or a date compared with the server's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    let wish = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = wish.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let then = jiff::fmt::rfc2822::parse(wish).ok()?;
    let now = jiff::fmt::rfc2822::parse(text(DATE)?).ok()?;
    let wait = then.timestamp().as_second() - now.timestamp().as_second();
    Some(Duration::from_secs(u64::try_from(wait).unwrap_or(0)))
}

const EXCERPT_CHARS: usize = 600;

/// Scheme, host and path of a URL, without the query, which may hold secrets.
pub(in crate::skills) fn origin(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

fn body_text(answer: &HttpResponse) -> String {
    let encoding = answer.charset();
    let encoding = encoding.and_then(|label| Encoding::for_label(label.as_bytes()));
    let bytes = &answer.bytes;
    encoding.unwrap_or(UTF_8).decode(bytes).0.into_owned()
}

pub(super) fn body_json(answer: &HttpResponse) -> Option<Value> {
    let media = answer.media();
    let is_text = media.starts_with("text/") && media != "text/json" && media != "text/plain";
    if is_text || answer.cut {
        return None;
    }
    serde_json::from_slice(&answer.bytes).ok()
}

fn is_binary(answer: &HttpResponse) -> bool {
    answer.bytes.contains(&0)
        || answer.charset().is_none() && std::str::from_utf8(&answer.bytes).is_err() && !answer.cut
}

pub(super) fn body_value(answer: &HttpResponse) -> Value {
    if let Some(value) = body_json(answer) {
        return value;
    }
    if is_binary(answer) {
        return json!({"media": answer.media(), "bytes": answer.bytes.len()});
    }
    Value::String(body_text(answer))
}

/// A value of [`body_value`] as text for a model.
fn answer_text(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim().is_empty() => "(the answer is empty)".to_owned(),
        Value::Object(fields) if fields.len() == 2 && fields.contains_key("media") && fields.contains_key("bytes") => {
            format!("({} bytes of {}, which is no text)", fields["bytes"], fields["media"])
        }
        other => value_text(other),
    }
}

/// The output of a successful call; the call has a receipt unless it only reads.
pub(super) fn output(
    skill: &Skill,
    (action, object): (&str, String),
    place: &str,
    status: StatusCode,
    value: Value,
) -> ToolOutput {
    let receipt = receipt(skill, action, object, Some(format!("status {}", status.as_u16())));
    let text = answer_text(&value);
    ToolOutput { data: Some(value), receipt, provenance: Provenance::from_outside(place), ..ToolOutput::text(text) }
}

/// The answer, unless its status says that the call failed.
pub(super) fn success(answer: HttpResponse) -> Result<HttpResponse, ToolsError> {
    if answer.status.is_success() { Ok(answer) } else { Err(status_error(&answer)) }
}

fn status_error(answer: &HttpResponse) -> ToolsError {
    let said = if is_binary(answer) { String::new() } else { one_line(&body_text(answer)) };
    let (said, _) = steward_core::tool::truncate(&said, EXCERPT_CHARS);
    let hint = match answer.status.as_u16() {
        401 => "the credential is not accepted; an operator must look at it",
        403 => "the credential may not do this; ask an operator",
        404 | 410 => "there is nothing there; check the arguments",
        409 => "it conflicts with what is there; look before trying again",
        300..=399 => "it leads elsewhere, and that is not followed",
        429 => "too many requests; try again later",
        500..=599 => "the server has trouble; try again later",
        _ => "check the arguments",
    };
    let place = origin(&answer.url);
    let status = answer.status.as_u16();
    ToolsError::Refused(if said.is_empty() {
        format!("{place} answered {status}: {hint}")
    } else {
        format!("{place} answered {status} ({hint}): {said}")
    })
}

pub(in crate::skills) fn check_path(path: &str) -> Result<(), String> {
    JsonPath::parse(path)
        .map(|_| ())
        .map_err(|error| format!("`{path}` is no JSONPath ({error}); write it as $.items[*].name"))
}

/// What `path` finds: the value itself if the path can find only one, else a list.
pub(in crate::skills) fn select_path(path: &str, value: &Value) -> Result<Value, ToolsError> {
    let parsed = JsonPath::parse(path).map_err(|error| refused!("`{path}` is no JSONPath: {error}"))?;
    let mut found = parsed.query(value).all();
    let many = ["*", "..", "?", ":", ","].iter().any(|sign| path.contains(sign));
    match found.len() {
        0 if !many => Err(refused!("the answer holds nothing at {path}; it may have another form today")),
        1 if !many => Ok(found.remove(0).clone()),
        _ => Ok(Value::Array(found.into_iter().cloned().collect())),
    }
}
