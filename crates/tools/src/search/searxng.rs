//! SearXNG: `/search?format=json`.

use super::config::{SearchConfig, SearchEngine};
use super::engine::{Hit, failed, json};
use crate::error::ToolsError;
use crate::web::{Answer, Ask};
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

const ENGINE: SearchEngine = SearchEngine::Searxng;

#[derive(Deserialize)]
struct Reply {
    results: Vec<One>,
    /// Name of an engine behind the instance, and why it didn't answer.
    #[serde(default)]
    unresponsive_engines: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct One {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
}

pub(super) fn ask(config: &SearchConfig, query: &str, key: Option<&SecretString>) -> Result<Ask, ToolsError> {
    let mut url = config.at("/search")?;
    url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    let mut ask = Ask::get(url);
    ask.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        // For instances behind a gate.
        let value = HeaderValue::try_from(format!("Bearer {}", key.expose_secret()));
        ask.headers.insert(
            AUTHORIZATION,
            value.map_err(|_| ToolsError::refused("the search key holds signs that no header can"))?,
        );
    }
    Ok(ask)
}

pub(super) fn read(answer: &Answer) -> Result<Vec<Hit>, ToolsError> {
    match answer.status.as_u16() {
        200 => {}
        403 => {
            return Err(failed(
                ENGINE,
                answer,
                "its JSON format is off: add `json` to `search.formats` in the instance's settings.yml",
            ));
        }
        _ => {
            return Err(failed(ENGINE, answer, "check STEWARD_SEARCH_URL and the instance"));
        }
    }
    let reply: Reply = json(ENGINE, answer)?;
    let hits: Vec<Hit> = reply
        .results
        .iter()
        .filter_map(|one| {
            Hit::new(
                one.title.as_deref().unwrap_or_default(),
                one.url.as_deref()?,
                one.content.as_deref().unwrap_or_default(),
            )
        })
        .collect();
    if hits.is_empty() && !reply.unresponsive_engines.is_empty() {
        let silent: Vec<String> = reply.unresponsive_engines.iter().map(|one| one.join(": ")).collect();
        return Err(ToolsError::Refused(format!(
            "SearXNG found nothing, since engines behind it did not answer ({}); try again later",
            silent.join("; ")
        )));
    }
    Ok(hits)
}
