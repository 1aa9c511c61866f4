//! One GET of a page.

use super::client::{Ask, Caps, Client, HttpError};
use super::guard::HostPort;
use crate::error::ToolsError;
use reqwest::header::{ACCEPT, HeaderValue};
use std::time::Duration;
use url::Url;

/// Longest fetch, redirects included.
pub(super) const WALL: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Page {
    /// After redirects.
    pub url: Url,
    pub status: u16,
    /// Media type without parameters, lower case.
    pub media: String,
    pub bytes: Vec<u8>,
    /// The value of `charset`, from the header.
    pub charset: Option<String>,
    /// Whether there was more than is ever read.
    pub cut: bool,
}

/// Fetches a page under the address guard.
pub(super) async fn fetch(url: Url, allow: &[HostPort]) -> Result<Page, ToolsError> {
    let mut ask = Ask::get(url);
    let accept = HeaderValue::from_static("text/html, application/json, text/*, */*;q=0.5");
    ask.headers.insert(ACCEPT, accept);
    let caps = Caps { wall: WALL, ..Caps::default() };
    let answer = Client::new(allow.to_vec()).send(ask, caps).await;
    match answer {
        Ok(answer) => Ok(answer.into()),
        Err(HttpError::Late(_)) => {
            Err(ToolsError::Refused(format!("the page did not arrive within {} s; try again later", WALL.as_secs())))
        }
        Err(error) => Err(error.into()),
    }
}

impl From<super::client::Answer> for Page {
    fn from(answer: super::client::Answer) -> Self {
        Self {
            media: answer.media(),
            charset: answer.charset(),
            url: answer.url,
            status: answer.status.as_u16(),
            bytes: answer.bytes,
            cut: answer.cut,
        }
    }
}
