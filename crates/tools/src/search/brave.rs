//! Brave: `/res/v1/web/search` with a key.

use super::config::{SearchConfig, SearchEngine};
use super::engine::{Hit, failed, json};
use crate::error::ToolsError;
use crate::web::{Answer, Ask};
use reqwest::header::{ACCEPT, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

const ENGINE: SearchEngine = SearchEngine::Brave;
const TOKEN: HeaderName = HeaderName::from_static("x-subscription-token");
/// Most results of one request.
const MOST: usize = 20;

#[derive(Deserialize)]
struct Reply {
    web: Option<Web>,
}

#[derive(Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct Refusal {
    error: Reason,
}

#[derive(Deserialize)]
struct Reason {
    code: Option<String>,
    detail: Option<String>,
}

pub(super) fn ask(
    config: &SearchConfig,
    query: &str,
    count: usize,
    key: Option<&SecretString>,
) -> Result<Ask, ToolsError> {
    let key = key.ok_or_else(|| ToolsError::refused("Brave needs a key"))?;
    let mut url = config.at("/res/v1/web/search")?;
    url.query_pairs_mut().append_pair("q", query).append_pair("count", &count.min(MOST).to_string());
    let mut ask = Ask::get(url);
    ask.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let value = HeaderValue::from_str(key.expose_secret())
        .map_err(|_| ToolsError::refused("the search key holds signs that no header can"))?;
    ask.headers.insert(TOKEN, value);
    Ok(ask)
}

pub(super) fn read(answer: &Answer) -> Result<Vec<Hit>, ToolsError> {
    let status = answer.status.as_u16();
    if status != 200 {
        let refusal = serde_json::from_slice::<Refusal>(&answer.bytes).ok();
        let said = refusal.map(|one| one.error).and_then(|reason| {
            let said: Vec<String> = [reason.code, reason.detail].into_iter().flatten().collect();
            (!said.is_empty()).then(|| format!(" (it says: {})", said.join(", ")))
        });
        let hint = match status {
            401 | 403 => "check its key: STEWARD_SEARCH_CREDENTIAL or STEWARD_SEARCH_KEY",
            400 | 422 => "check its key, or ask for something shorter",
            _ => "try again later",
        };
        return Err(failed(ENGINE, answer, &format!("{hint}{}", said.unwrap_or_default())));
    }
    let reply: Reply = json(ENGINE, answer)?;
    let found = reply.web.map(|web| web.results).unwrap_or_default();
    Ok(found.iter().filter_map(|one| Hit::new(&one.title, &one.url, &one.description)).collect())
}
