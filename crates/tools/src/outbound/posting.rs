//! Sending a message somewhere, where only its status counts.

use super::{Client, HttpError, HttpLimits, HttpRequest};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use std::time::Duration;
use steward_core::provenance::Consulted;
use url::Url;

/// How much of an answer is kept, bytes.
const MAX_TOLD: usize = 4_096;

/// What a service said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    pub status: u16,
    /// Seconds that it asks to be left alone.
    pub retry_after: Option<u64>,
    /// The beginning of its answer.
    pub text: String,
}

impl Client {
    /// Sends JSON; redirects aren't followed, since a message is meant for whom it was addressed to.
    pub async fn post_json(
        &self,
        method: &str,
        url: Url,
        headers: &[(&str, String)],
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<Posted, HttpError> {
        let method = Method::from_bytes(method.as_bytes()).map_err(|error| HttpError::Refused(error.to_string()))?;
        let mut all = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        for (name, value) in headers {
            let name = HeaderName::try_from(*name).map_err(|error| HttpError::Refused(error.to_string()))?;
            let mut value = HeaderValue::try_from(value.as_str())
                .map_err(|_| HttpError::Refused(format!("the value of `{name}` holds signs that no header can")))?;
            value.set_sensitive(true);
            all.insert(name, value);
        }
        let request = HttpRequest { method, url, headers: all, body, identity: None };
        let limits = HttpLimits { max_bytes: MAX_TOLD, timeout, redirects: 0 };
        let answer = self.send(request, limits, &Consulted::default()).await?;
        let seconds = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Ok(Posted {
            status: answer.status.as_u16(),
            retry_after: seconds,
            text: String::from_utf8_lossy(&answer.bytes).into_owned(),
        })
    }
}
