//! What the engines have in common: a hit, and the refusals.

use super::config::{SearchConfig, SearchEngine};
use super::{brave, duckduckgo, searxng};
use crate::error::ToolsError;
use crate::web::{Answer, Ask, readable};
use reqwest::header::RETRY_AFTER;
use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

/// Longest title and longest snippet, characters.
const TITLE: usize = 200;
const SNIPPET: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

impl Hit {
    /// One whose texts may hold tags; `None` where the address is no page.
    pub fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok()?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return None;
        }
        let title = Some(plain(title, &url, TITLE)).filter(|title| !title.is_empty());
        Some(Self {
            title: title.unwrap_or_else(|| url.host_str().unwrap_or_default().to_owned()),
            snippet: plain(snippet, &url, SNIPPET),
            url: url.into(),
        })
    }
}

/// Text without tags, on one line.
fn plain(html: &str, base: &Url, most: usize) -> String {
    let text = if html.contains(['<', '&']) { readable(html, base).text } else { html.to_owned() };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most).collect();
    format!("{}…", cut.trim_end())
}

pub(super) fn ask(
    config: &SearchConfig,
    query: &str,
    count: usize,
    key: Option<&SecretString>,
) -> Result<Ask, ToolsError> {
    match config.engine {
        SearchEngine::Searxng => searxng::ask(config, query, key),
        SearchEngine::Brave => brave::ask(config, query, count, key),
        SearchEngine::Duckduckgo => duckduckgo::ask(config, query),
    }
}

/// The results in an answer. Blocking.
pub(super) fn read(engine: SearchEngine, answer: &Answer) -> Result<Vec<Hit>, ToolsError> {
    if answer.status.as_u16() == 429 {
        return Err(too_often(engine, answer));
    }
    match engine {
        SearchEngine::Searxng => searxng::read(answer),
        SearchEngine::Brave => brave::read(answer),
        SearchEngine::Duckduckgo => duckduckgo::read(answer),
    }
}

fn too_often(engine: SearchEngine, answer: &Answer) -> ToolsError {
    let wait = answer.headers.get(RETRY_AFTER);
    let wait = wait.and_then(|value| value.to_str().ok()).map_or_else(
        || "a minute".to_owned(),
        |text| match text.trim().parse::<u64>() {
            Ok(seconds) => format!("{seconds} s"),
            Err(_) => format!("until {}", text.trim()),
        },
    );
    ToolsError::Refused(format!(
        "{} was asked too often (status 429); wait {wait}, or an operator chooses another engine with STEWARD_SEARCH",
        engine.title()
    ))
}

/// An answer of a status that isn't success.
pub(super) fn failed(engine: SearchEngine, answer: &Answer, hint: &str) -> ToolsError {
    ToolsError::Refused(format!(
        "{} at {} answered with status {}; {hint}",
        engine.title(),
        answer.url.origin().ascii_serialization(),
        answer.status.as_u16()
    ))
}

pub(super) fn json<T: DeserializeOwned>(engine: SearchEngine, answer: &Answer) -> Result<T, ToolsError> {
    serde_json::from_slice(&answer.bytes).map_err(|error| {
        let what = if answer.cut {
            "more than can be read".to_owned()
        } else {
            format!("no JSON as {} gives it ({error})", engine.title())
        };
        ToolsError::Refused(format!(
            "{} gave {what}; an operator checks STEWARD_SEARCH and STEWARD_SEARCH_URL",
            answer.url.origin().ascii_serialization()
        ))
    })
}
