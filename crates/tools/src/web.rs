mod html;
pub(crate) mod html_tree;

pub(crate) use html::page_text;

use crate::error::{ToolsError, refused};
use crate::files::blocking;
use crate::handler::{Context, ToolHandler};
use crate::outbound::{Client, HostPort, HttpError, HttpLimits, HttpRequest, HttpResponse, address_guard};
use encoding_rs::{Encoding, UTF_8};
use reqwest::header::{ACCEPT, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use steward_core::ports::ToolScope;
use steward_core::provenance::Provenance;
use steward_core::tool::{Preview, ToolOutput};

/// Bytes in which a page without a charset in its header may name one.
const CHARSET_SCAN_BYTES: usize = 2048;

pub struct WebFetch(pub Vec<HostPort>);

#[derive(Debug, Deserialize)]
pub struct FetchArgs {
    url: String,
}

impl ToolHandler for WebFetch {
    type Args = FetchArgs;
    const NAME: &'static str = "web_fetch";

    async fn preview(&self, args: FetchArgs, _: &ToolScope) -> Result<Preview, ToolsError> {
        let target = address_guard::checked_url(address_guard::parse_url(&args.url)?)?;
        Ok(Preview { summary: format!("asks {} for {}", target.place(), target.url), ..Preview::default() })
    }

    async fn run(&self, args: FetchArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let mut request = HttpRequest::get(address_guard::parse_url(&args.url)?);
        let accept = HeaderValue::from_static("text/html, application/json, text/*, */*;q=0.5");
        request.headers.insert(ACCEPT, accept);
        let limits = HttpLimits::default();
        let sent = Client::new(self.0.clone()).send(request, limits, &context.scope.consulted).await;
        let page = sent.map_err(|error| match error {
            HttpError::TimedOut(_) => {
                refused!("the page did not arrive within {} s; try again later", limits.timeout.as_secs())
            }
            other => other.into(),
        })?;
        if !page.status.is_success() {
            let status = page.status.as_u16();
            return Err(refused!("{} answered with status {status}; check the address", page.url));
        }
        blocking(move || page_output(&page)).await
    }
}

/// The text of a page of HTML, known by its media type, else by its first bytes; `None` for something else.
pub(crate) fn html_of(page: &HttpResponse) -> Option<String> {
    let media = page.media();
    let is_html = matches!(media.as_str(), "text/html" | "application/xhtml+xml")
        || media.is_empty() && looks_like_html(&page.bytes);
    is_html.then(|| decode(page, true))
}

pub(crate) fn page_output(page: &HttpResponse) -> Result<ToolOutput, ToolsError> {
    let mut data = json!({"url": page.url.as_str(), "status": page.status.as_u16(), "media": page.media()});
    let mut content;
    if let Some(text) = html_of(page) {
        let read = html::page_text(&text, &page.url);
        let title = read.title.unwrap_or_else(|| "(none)".to_owned());
        content = format!("Title: {title}\nURL: {}\n\n{}", page.url, read.text);
        if read.cut {
            content.push_str("\n[the page took too long to read; the rest was left out]");
        }
        if !read.links.is_empty() {
            content.push_str("\n\nLinks:\n");
            for (text, url) in &read.links {
                let _ = writeln!(content, "{text}: {url}");
            }
        }
        data["title"] = Value::String(title);
        data["links"] = json!(read.links);
    } else {
        content = format!("URL: {}\n\n{}", page.url, plain_text(page)?);
    }
    if page.cut {
        content.push_str("\n[the page is larger than 2 MB; the rest was not read]");
    }
    Ok(ToolOutput {
        data: Some(data),
        provenance: Provenance::from_outside(page.url.as_str()),
        ..ToolOutput::text(content)
    })
}

/// Text that isn't HTML: JSON is indented, the rest left as it is.
fn plain_text(page: &HttpResponse) -> Result<String, ToolsError> {
    let text = decode(page, false);
    let media = page.media();
    if media.ends_with("json") {
        let parsed: Option<Value> = serde_json::from_str(&text).ok();
        let pretty = parsed.and_then(|value| serde_json::to_string_pretty(&value).ok());
        return Ok(pretty.unwrap_or(text));
    }
    let texts = ["text/", "application/xml", "application/javascript", "application/yaml"];
    let is_text = texts.iter().any(|kind| media.starts_with(kind))
        || media.ends_with("+xml")
        || !page.bytes.contains(&0) && std::str::from_utf8(&page.bytes).is_ok();
    if is_text {
        return Ok(text);
    }
    let media = if media.is_empty() { "binary data" } else { &media };
    Err(refused!("{} is {media}, which can't be read as text; fetch a page or a text file", page.url))
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]).to_lowercase();
    let head = head.trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

fn decode(page: &HttpResponse, is_html: bool) -> String {
    let label = page.charset().or_else(|| is_html.then(|| charset_in_page(&page.bytes)).flatten());
    let encoding = label.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8);
    encoding.decode(&page.bytes).0.into_owned()
}

fn charset_in_page(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(CHARSET_SCAN_BYTES)]).to_lowercase();
    let (_, rest) = head.split_once("charset=")?;
    let name = rest.trim_start_matches(['"', '\'']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:".contains(c));
    Some(name[..end.unwrap_or(name.len())].to_owned())
}
