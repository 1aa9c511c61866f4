use super::{SearchConfig, SearchEngine};
use crate::error::{ToolsError, refused};
use crate::outbound::{HttpRequest, HttpResponse};
use crate::text::one_line;
use crate::web::{html_tree, page_text};
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;
use url::form_urlencoded::Serializer;

const TITLE_CHARS: usize = 200;
const SNIPPET: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

impl Hit {
    /// A hit whose texts may hold tags; `None` if the address is no web page.
    pub fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok()?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return None;
        }
        let title = Some(plain_text(title, &url, TITLE_CHARS)).filter(|title| !title.is_empty());
        Some(Self {
            title: title.unwrap_or_else(|| url.host_str().unwrap_or_default().to_owned()),
            snippet: plain_text(snippet, &url, SNIPPET),
            url: url.into(),
        })
    }
}

/// Text without tags, on one line.
fn plain_text(html: &str, base: &Url, most: usize) -> String {
    let text = if html.contains(['<', '&']) { page_text(html, base).text } else { html.to_owned() };
    let line = one_line(&text);
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most).collect();
    format!("{}…", cut.trim_end())
}

pub(super) fn build_request(
    config: &SearchConfig,
    query: &str,
    count: usize,
    key: Option<&SecretString>,
) -> Result<HttpRequest, ToolsError> {
    match config.engine {
        SearchEngine::Searxng => searxng_request(config, query, key),
        SearchEngine::Brave => brave_request(config, query, count, key),
        SearchEngine::Duckduckgo => duckduckgo_request(config, query),
    }
}

/// The hits in a response. Blocking.
pub(super) fn parse_response(engine: SearchEngine, answer: &HttpResponse) -> Result<Vec<Hit>, ToolsError> {
    if answer.status.as_u16() == 429 {
        return Err(rate_limit_error(engine, answer));
    }
    match engine {
        SearchEngine::Searxng => searxng_hits(answer),
        SearchEngine::Brave => brave_hits(answer),
        SearchEngine::Duckduckgo => duckduckgo_hits(answer),
    }
}

fn rate_limit_error(engine: SearchEngine, answer: &HttpResponse) -> ToolsError {
    let wait = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::trim);
    let wait = match wait.map(|text| (text, text.parse::<u64>())) {
        None => "a minute".to_owned(),
        Some((_, Ok(seconds))) => format!("{seconds} s"),
        Some((date, Err(_))) => format!("until {date}"),
    };
    refused!(
        "{} was asked too often (status 429); wait {wait}, or an operator chooses another engine with STEWARD_SEARCH",
        engine.title()
    )
}

fn status_error(engine: SearchEngine, answer: &HttpResponse, hint: &str) -> ToolsError {
    refused!(
        "{} at {} answered with status {}; {hint}",
        engine.title(),
        answer.url.origin().ascii_serialization(),
        answer.status.as_u16()
    )
}

fn json<T: DeserializeOwned>(engine: SearchEngine, answer: &HttpResponse) -> Result<T, ToolsError> {
    serde_json::from_slice(&answer.bytes).map_err(|error| {
        let what = if answer.cut {
            "more than can be read".to_owned()
        } else {
            format!("no JSON as {} gives it ({error})", engine.title())
        };
        refused!(
            "{} gave {what}; an operator checks STEWARD_SEARCH and STEWARD_SEARCH_URL",
            answer.url.origin().ascii_serialization()
        )
    })
}

const BRAVE_TOKEN: HeaderName = HeaderName::from_static("x-subscription-token");
const BRAVE_MOST: usize = 20;

#[derive(Deserialize)]
struct BraveReply {
    web: Option<BraveWeb>,
}

#[derive(Deserialize)]
struct BraveWeb {
    #[serde(default)]
    results: Vec<BraveResult>,
}

#[derive(Deserialize)]
struct BraveResult {
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
}

fn brave_request(
    config: &SearchConfig,
    query: &str,
    count: usize,
    key: Option<&SecretString>,
) -> Result<HttpRequest, ToolsError> {
    let key = key.ok_or_else(|| ToolsError::refused("Brave needs a key"))?;
    let mut url = config.at("/res/v1/web/search")?;
    url.query_pairs_mut().append_pair("q", query).append_pair("count", &count.min(BRAVE_MOST).to_string());
    let mut request = HttpRequest::get(url);
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    request.headers.insert(BRAVE_TOKEN, key_header(key.expose_secret())?);
    Ok(request)
}

fn key_header(text: &str) -> Result<HeaderValue, ToolsError> {
    HeaderValue::from_str(text).map_err(|_| ToolsError::refused("the search key holds signs that no header can"))
}

fn brave_hits(answer: &HttpResponse) -> Result<Vec<Hit>, ToolsError> {
    let status = answer.status.as_u16();
    if status != 200 {
        let refusal: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
        let reason = &refusal["error"];
        let said: Vec<&str> = [&reason["code"], &reason["detail"]].into_iter().filter_map(Value::as_str).collect();
        let said = if said.is_empty() { String::new() } else { format!(" (it says: {})", said.join(", ")) };
        let hint = match status {
            401 | 403 => "check its key: STEWARD_SEARCH_CREDENTIAL or STEWARD_SEARCH_KEY",
            400 | 422 => "check its key, or ask for something shorter",
            _ => "try again later",
        };
        return Err(status_error(SearchEngine::Brave, answer, &format!("{hint}{said}")));
    }
    let reply: BraveReply = json(SearchEngine::Brave, answer)?;
    let found = reply.web.map(|web| web.results).unwrap_or_default();
    Ok(found.iter().filter_map(|one| Hit::new(&one.title, &one.url, &one.description)).collect())
}

const CAPTCHA_MARKS: [&str; 2] = ["anomaly-modal", "anomaly.js"];

fn duckduckgo_request(config: &SearchConfig, query: &str) -> Result<HttpRequest, ToolsError> {
    let mut request = HttpRequest::get(config.at("/html/")?);
    request.method = Method::POST;
    request.headers.insert(ACCEPT, HeaderValue::from_static("text/html"));
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    request.body = Serializer::new(String::new()).append_pair("q", query).append_pair("b", "").finish().into_bytes();
    Ok(request)
}

fn duckduckgo_hits(answer: &HttpResponse) -> Result<Vec<Hit>, ToolsError> {
    let page = String::from_utf8_lossy(&answer.bytes);
    // The captcha page comes with status 202 or 200.
    if CAPTCHA_MARKS.iter().any(|mark| page.contains(mark)) {
        return Err(ToolsError::refused(
            "DuckDuckGo asks for a captcha, as it does when it is asked often; wait some minutes, or an operator chooses searxng or brave with STEWARD_SEARCH",
        ));
    }
    if answer.status.as_u16() != 200 {
        return Err(status_error(
            SearchEngine::Duckduckgo,
            answer,
            "try again later, or an operator chooses another engine with STEWARD_SEARCH",
        ));
    }
    let selector = |text| html_tree::selector(text).map_err(ToolsError::Refused);
    let (result, link) = (selector(".result")?, selector("a.result__a")?);
    let (snippet, nothing) = (selector(".result__snippet")?, selector(".no-results")?);
    let (document, _) = html_tree::parse(&page);
    let mut hits = Vec::new();
    for one in document.select(&result) {
        let is = |class: &str| one.value().classes().any(|known| known == class);
        if is("result--ad") || is("result--no-result") {
            continue;
        }
        let Some(anchor) = one.select(&link).next() else {
            continue;
        };
        let text = one.select(&snippet).next().map(|found| found.inner_html()).unwrap_or_default();
        let href = anchor.value().attr("href").unwrap_or_default();
        let hit = result_url(href, &answer.url).and_then(|url| Hit::new(&anchor.inner_html(), &url, &text));
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

/// Hits link to a counting page; the real address is its `uddg` parameter.
fn result_url(href: &str, page: &Url) -> Option<String> {
    let url = page.join(href).ok()?;
    if !url.path().starts_with("/l/") {
        return Some(url.into());
    }
    let real = url.query_pairs().find(|(name, _)| name == "uddg");
    real.map(|(_, value)| value.into_owned())
}

#[derive(Deserialize)]
struct SearxngReply {
    results: Vec<SearxngResult>,
    /// Names of engines behind the instance, and why they didn't answer.
    #[serde(default)]
    unresponsive_engines: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct SearxngResult {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
}

fn searxng_request(config: &SearchConfig, query: &str, key: Option<&SecretString>) -> Result<HttpRequest, ToolsError> {
    let mut url = config.at("/search")?;
    url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    let mut request = HttpRequest::get(url);
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        // For instances behind an authenticating proxy.
        request.headers.insert(AUTHORIZATION, key_header(&format!("Bearer {}", key.expose_secret()))?);
    }
    Ok(request)
}

fn searxng_hits(answer: &HttpResponse) -> Result<Vec<Hit>, ToolsError> {
    let hint = match answer.status.as_u16() {
        200 => None,
        403 => Some("its JSON format is off: add `json` to `search.formats` in the instance's settings.yml"),
        _ => Some("check STEWARD_SEARCH_URL and the instance"),
    };
    if let Some(hint) = hint {
        return Err(status_error(SearchEngine::Searxng, answer, hint));
    }
    let reply: SearxngReply = json(SearchEngine::Searxng, answer)?;
    let hits: Vec<Hit> = reply
        .results
        .iter()
        .filter_map(|one| {
            let [title, content] = [&one.title, &one.content].map(|text| text.as_deref().unwrap_or_default());
            Hit::new(title, one.url.as_deref()?, content)
        })
        .collect();
    if hits.is_empty() && !reply.unresponsive_engines.is_empty() {
        let silent: Vec<String> = reply.unresponsive_engines.iter().map(|one| one.join(": ")).collect();
        return Err(refused!(
            "SearXNG found nothing, since engines behind it did not answer ({}); try again later",
            silent.join("; ")
        ));
    }
    Ok(hits)
}
