//! One request of a skill: within its time, tried again only where that is safe.

use crate::error::ToolsError;
use crate::handler::Context;
use crate::web::{Answer, Ask, Caps, Client, HttpError};
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::Duration;
use steward_core::skill::Skill;
use steward_core::tool::EffectClass;

/// Wait before the second try, doubled for each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Most tries after the first, whatever the skill says.
const RETRIES: u8 = 10;

/// Makes the requests of one call.
pub(in crate::skills) struct Exchange<'a> {
    pub client: &'a Client,
    pub skill: &'a Skill,
    pub context: &'a Context,
    pub retries: u8,
}

impl Exchange<'_> {
    /// Whether the same request may be made twice.
    fn repeats(&self) -> bool {
        matches!(self.skill.effect, EffectClass::Read | EffectClass::Keyed)
    }

    /// Sends `ask`. An answer of any status is an answer.
    pub async fn send(&self, ask: Ask) -> Result<Answer, ToolsError> {
        let mut tried = 0;
        loop {
            let outcome = self.once(ask.clone()).await?;
            let retry = match &outcome {
                Ok(answer) if transient(answer.status) => Some(wished(&answer.headers)),
                Err(HttpError::Broken(_) | HttpError::Unreachable(_)) => Some(None),
                _ => None,
            };
            let most = self.retries.min(RETRIES);
            let Some(wish) = retry.filter(|_| self.repeats() && tried < most) else {
                return self.last(outcome, tried);
            };
            let wait = wish.unwrap_or(FIRST_WAIT * (1 << tried.min(8)));
            if wait >= self.context.left() {
                return self.last(outcome, tried);
            }
            tried += 1;
            self.pause(wait).await?;
        }
    }

    async fn once(&self, ask: Ask) -> Result<Result<Answer, HttpError>, ToolsError> {
        self.context.check()?;
        let caps = Caps { wall: self.context.left(), ..Caps::default() };
        let limit = caps.wall.as_millis();
        tokio::select! {
            outcome = self.client.send(ask, caps) => Ok(outcome),
            // Both ends of time come at the same moment, and say the same.
            () = self.context.halt() => {
                if self.context.left().is_zero() {
                    Ok(Err(HttpError::Late(limit)))
                } else {
                    Err(self.halted())
                }
            }
        }
    }

    /// Waits, unless the call is to end.
    pub async fn pause(&self, wait: Duration) -> Result<(), ToolsError> {
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            () = self.context.halt() => Err(ToolsError::Stopped(self.skill.name.clone())),
        }
    }

    fn last(&self, outcome: Result<Answer, HttpError>, tried: u8) -> Result<Answer, ToolsError> {
        outcome.map_err(|error| match error {
            HttpError::Broken(_) | HttpError::Late(_) if !self.repeats() => self.unsettled(error.to_string()),
            other if tried > 0 => ToolsError::Refused(format!("{other} (tried {} times)", tried + 1)),
            other => other.into(),
        })
    }

    /// The run was stopped while a request was on its way.
    fn halted(&self) -> ToolsError {
        let why = "the run was stopped";
        if self.skill.effect == EffectClass::Read {
            ToolsError::Refused(format!("`{}` was stopped: {why}", self.skill.name))
        } else {
            self.unsettled(why.to_owned())
        }
    }

    fn unsettled(&self, why: String) -> ToolsError {
        ToolsError::Unsettled { tool: self.skill.name.clone(), why }
    }
}

fn transient(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// How long the server asks to wait: seconds, or a date to be read against the server's own clock.
fn wished(headers: &HeaderMap) -> Option<Duration> {
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
