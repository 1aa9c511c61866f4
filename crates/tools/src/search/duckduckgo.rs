//! DuckDuckGo: the page for browsers without scripts.

use super::config::{SearchConfig, SearchEngine};
use super::engine::{Hit, failed};
use crate::error::ToolsError;
use crate::skills::scrape::tree;
use crate::web::{Answer, Ask};
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use scraper::{ElementRef, Selector};
use url::Url;
use url::form_urlencoded::Serializer;

const ENGINE: SearchEngine = SearchEngine::Duckduckgo;
/// Marks of the page that asks whether a person is there.
const CHALLENGE: [&str; 2] = ["anomaly-modal", "anomaly.js"];

pub(super) fn ask(config: &SearchConfig, query: &str) -> Result<Ask, ToolsError> {
    let mut ask = Ask::get(config.at("/html/")?);
    ask.method = Method::POST;
    ask.headers.insert(ACCEPT, HeaderValue::from_static("text/html"));
    ask.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    ask.body = Serializer::new(String::new()).append_pair("q", query).append_pair("b", "").finish().into_bytes();
    Ok(ask)
}

pub(super) fn read(answer: &Answer) -> Result<Vec<Hit>, ToolsError> {
    let page = String::from_utf8_lossy(&answer.bytes);
    // It comes with status 202, and has come with 200.
    if CHALLENGE.iter().any(|mark| page.contains(mark)) {
        return Err(ToolsError::refused(
            "DuckDuckGo asks for a captcha, as it does when it is asked often; wait some minutes, or an operator chooses searxng or brave with STEWARD_SEARCH",
        ));
    }
    if answer.status.as_u16() != 200 {
        return Err(failed(
            ENGINE,
            answer,
            "try again later, or an operator chooses another engine with STEWARD_SEARCH",
        ));
    }
    let [result, link, snippet, nothing] = [".result", "a.result__a", ".result__snippet", ".no-results"].map(|text| {
        Selector::parse(text).map_err(|error| ToolsError::Refused(format!("`{text}` is no selector: {error}")))
    });
    let (result, link, snippet, nothing) = (result?, link?, snippet?, nothing?);
    let (document, _) = tree::parse(&page);
    let mut hits = Vec::new();
    for one in document.select(&result) {
        let is = |class: &str| one.value().classes().any(|known| known == class);
        if is("result--ad") || is("result--no-result") {
            continue;
        }
        let Some(anchor) = one.select(&link).next() else {
            continue;
        };
        let text = one.select(&snippet).next().map(inner).unwrap_or_default();
        let href = anchor.value().attr("href").unwrap_or_default();
        let hit = target(href, &answer.url).and_then(|url| Hit::new(&inner(anchor), &url, &text));
        hits.extend(hit);
    }
    let none = || document.select(&nothing).next().is_some() || page.contains("result--no-result");
    if hits.is_empty() && !none() {
        return Err(ToolsError::refused(
            "DuckDuckGo's page can't be read: it has no results and doesn't say so; an operator chooses searxng or brave with STEWARD_SEARCH",
        ));
    }
    Ok(hits)
}

fn inner(element: ElementRef<'_>) -> String {
    element.inner_html()
}

/// Results lead through a page that counts them; the real address is its `uddg`.
fn target(href: &str, page: &Url) -> Option<String> {
    let url = page.join(href).ok()?;
    if !url.path().starts_with("/l/") {
        return Some(url.into());
    }
    let real = url.query_pairs().find(|(name, _)| name == "uddg");
    real.map(|(_, value)| value.into_owned())
}
