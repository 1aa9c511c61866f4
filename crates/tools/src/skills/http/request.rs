use super::exchange;
use crate::error::{ToolsError, refused};
use crate::outbound::{HostPort, HttpRequest, HttpResponse};
use crate::skills::executor::in_config;
use crate::skills::template::{
    self, Template, TemplateError, TemplateUse, Values, as_text, check_json, check_text, check_texts, check_url,
};
use crate::text::is_one_of;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LINK};
use serde_json::Value;
use std::collections::BTreeMap;
use steward_core::skill::{HttpSpec, Page};
use url::Url;
use url::form_urlencoded::Serializer;

/// Headers of the transport, which a skill may not set.
const RESERVED_HEADERS: &str = "connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer \
    transfer-encoding upgrade";

pub(crate) fn parse_allow_list(list: &[String]) -> Result<Vec<HostPort>, ToolsError> {
    list.iter().map(|text| text.parse()).collect()
}

pub(in crate::skills) fn check_allow(list: &[String]) -> Result<(), String> {
    parse_allow_list(list).map(|_| ()).map_err(in_config("allow"))
}

pub(super) fn method(text: &str) -> Result<Method, String> {
    let name = text.trim().to_ascii_uppercase();
    match name.as_str() {
        "" => Ok(Method::GET),
        "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" => {
            Method::from_bytes(name.as_bytes()).map_err(|error| error.to_string())
        }
        _ => Err(format!("config.method: `{text}` is none of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")),
    }
}

pub(super) fn check_headers(headers: &BTreeMap<String, String>, schema: &Value) -> Result<(), String> {
    for (name, text) in headers {
        header_name(name)?;
        check_text(text, TemplateUse::Header, schema).map_err(in_config(&format!("headers.{name}")))?;
    }
    Ok(())
}

pub(super) fn header_name(name: &str) -> Result<HeaderName, String> {
    let parsed: HeaderName =
        name.trim().parse().map_err(|_| format!("config.headers: `{name}` can't be the name of a header"))?;
    if is_one_of(parsed.as_str(), RESERVED_HEADERS) {
        return Err(format!("config.headers: {name} is set by Steward itself; leave it out"));
    }
    Ok(parsed)
}

pub(super) fn check(spec: &HttpSpec, schema: &Value) -> Result<(), String> {
    let method = method(&spec.method)?;
    check_url(&spec.url, schema).map_err(in_config("url"))?;
    check_headers(&spec.headers, schema)?;
    check_texts(spec.query.values(), TemplateUse::Query, schema).map_err(in_config("query"))?;
    check_texts(spec.form.values(), TemplateUse::Body, schema).map_err(in_config("form"))?;
    if let Some(body) = &spec.body {
        check_json(body, TemplateUse::Body, schema).map_err(in_config("body"))?;
    }
    for name in spec.query.keys().chain(spec.form.keys()) {
        check_text(name, TemplateUse::Text, &Value::Null)
            .map_err(|_| "config.query and config.form: names are fixed text".to_owned())?;
    }
    if spec.body.is_some() && !spec.form.is_empty() {
        return Err("config: give either body or form, not both".to_owned());
    }
    let has_body = spec.body.is_some() || !spec.form.is_empty();
    if has_body && matches!(method, Method::GET | Method::HEAD) {
        return Err(format!("config: a {method} has no body; use POST, or put the values into the query"));
    }
    check_allow(&spec.allow)
}

pub(super) fn post_json(url: Url, accept: &'static str, body: &Value) -> HttpRequest {
    let mut request = HttpRequest::get(url);
    request.method = Method::POST;
    request.headers.insert(ACCEPT, HeaderValue::from_static(accept));
    set_body(&mut request, "application/json", body.to_string());
    request
}

fn set_body(request: &mut HttpRequest, media: &'static str, body: String) {
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    request.body = body.into_bytes();
}

pub(super) fn build(spec: &HttpSpec, values: &Values<'_>) -> Result<HttpRequest, ToolsError> {
    let mut request = HttpRequest::get(template::url(&spec.url, values)?);
    request.method = method(&spec.method).map_err(ToolsError::Refused)?;
    let json = HeaderValue::from_static("application/json, text/*;q=0.8, */*;q=0.5");
    request.headers.insert(ACCEPT, json);
    for (name, text) in &spec.query {
        for value in repeated(text, values)? {
            request.url.query_pairs_mut().append_pair(name, &value);
        }
    }
    if let Some(body) = &spec.body {
        set_body(&mut request, "application/json", template::json(body, values)?.to_string());
    } else if !spec.form.is_empty() {
        let mut form = Serializer::new(String::new());
        for (name, text) in &spec.form {
            for value in repeated(text, values)? {
                form.append_pair(name, &value);
            }
        }
        set_body(&mut request, "application/x-www-form-urlencoded", form.finish());
    }
    headers(&mut request.headers, &spec.headers, values)?;
    Ok(request)
}

/// Adds a skill's headers; one whose arguments are all absent is left out.
pub(super) fn headers(
    headers: &mut HeaderMap,
    source: &BTreeMap<String, String>,
    values: &Values<'_>,
) -> Result<(), ToolsError> {
    for (name, text) in source {
        let template = Template::parse(text)?;
        let Some(text) = template.header(name, values)? else {
            continue;
        };
        let name = header_name(name).map_err(ToolsError::Refused)?;
        let mut value = HeaderValue::from_bytes(text.as_bytes())
            .map_err(|_| TemplateError::Control(format!("the header {name}")))?;
        value.set_sensitive(template.slots().any(|slot| slot.credential().is_some()));
        headers.insert(name, value);
    }
    Ok(())
}

/// The values of a parameter: one for each element of a list, none if it is absent.
fn repeated(text: &str, values: &Values<'_>) -> Result<Vec<String>, ToolsError> {
    let template = Template::parse(text)?;
    let list = template.single().and_then(|slot| values.get(slot));
    if let Some(Value::Array(items)) = list {
        return Ok(items.into_iter().map(as_text).collect());
    }
    Ok(template.text(values)?.into_iter().collect())
}

const MAX_PAGES: u16 = 100;

pub(super) fn check_paging(pages: &Page) -> Result<(), String> {
    if max_pages(pages) == 0 {
        return Err("config.pages.most: give at least 1".to_owned());
    }
    if let Page::Cursor { path, .. } = pages {
        exchange::check_path(path).map_err(in_config("pages.path"))?;
    }
    match pages {
        Page::Cursor { parameter, .. } | Page::Number { parameter, .. } if parameter.trim().is_empty() => {
            Err("config.pages.parameter: name the query parameter".to_owned())
        }
        _ => Ok(()),
    }
}

fn max_pages(pages: &Page) -> u16 {
    let (Page::Link { most } | Page::Cursor { most, .. } | Page::Number { most, .. }) = pages;
    (*most).min(MAX_PAGES)
}

/// Prepares the first request: the first page number is sent too.
pub(super) fn first_page(pages: &Page, request: &mut HttpRequest) {
    if let Page::Number { parameter, from, .. } = pages {
        request.url = with_query(&request.url, parameter, &from.to_string());
    }
}

/// The address of what follows page `index` (from 0), which is at `url`; `None` after the last one.
pub(super) fn next_page(
    pages: &Page,
    url: &Url,
    answer: &HttpResponse,
    body: &Value,
    index: u16,
) -> Result<Option<Url>, ToolsError> {
    if index + 1 >= max_pages(pages) {
        return Ok(None);
    }
    let next = match pages {
        Page::Link { .. } => {
            let target = next_link(answer);
            // The credential is sent again, so it must be the same server.
            if let Some(other) = target.as_ref().filter(|target| target.origin() != url.origin()) {
                return Err(refused!(
                    "the next page is on another server ({}), which is not followed",
                    other.origin().ascii_serialization()
                ));
            }
            target
        }
        Page::Cursor { path, parameter, .. } => match exchange::select_path(path, body) {
            Ok(Value::String(text)) if !text.is_empty() => Some(with_query(url, parameter, &text)),
            Ok(Value::Number(number)) => Some(with_query(url, parameter, &number.to_string())),
            _ => None,
        },
        Page::Number { parameter, from, .. } => {
            let number = u64::from(*from) + u64::from(index) + 1;
            (!is_empty(body)).then(|| with_query(url, parameter, &number.to_string()))
        }
    };
    Ok(next.filter(|next| next != url))
}

/// Whether a page is empty, which means that it is behind the last one.
fn is_empty(body: &Value) -> bool {
    match body {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => {
            let mut lists = fields.values().filter_map(Value::as_array).peekable();
            fields.is_empty() || lists.peek().is_some() && lists.all(Vec::is_empty)
        }
        _ => false,
    }
}

/// The address with this value of a parameter in place of others.
fn with_query(url: &Url, name: &str, value: &str) -> Url {
    let mut next = url.clone();
    let kept = url.query_pairs().filter(|(other, _)| other != name);
    next.query_pairs_mut().clear().extend_pairs(kept).append_pair(name, value);
    next
}

fn next_link(answer: &HttpResponse) -> Option<Url> {
    let lines = answer.headers.get_all(LINK).iter();
    let text: Vec<&str> = lines.filter_map(|value| value.to_str().ok()).collect();
    let text = text.join(", ");
    let mut rest = text.as_str();
    while let Some((_, after)) = rest.split_once('<') {
        let (target, after) = after.split_once('>')?;
        // The parameters end where the next link begins.
        let parameters = after.split(", <").next().unwrap_or("").split(",<").next();
        let is_next = parameters.unwrap_or("").split(';').any(|one| {
            let (name, value) = one.split_once('=').unwrap_or((one, ""));
            let value = value.trim().trim_end_matches(',').trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel") && value.split(' ').any(|rel| rel.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return answer.url.join(target).ok();
        }
        rest = after;
    }
    None
}
