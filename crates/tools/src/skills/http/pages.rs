//! Further pages of an answer: by link, by cursor, by number.

use super::select;
use crate::error::ToolsError;
use crate::web::{Answer, Ask};
use reqwest::header::LINK;
use serde_json::Value;
use steward_core::skill::Page;
use url::Url;

/// Most pages, whatever a skill says.
const MOST: u16 = 100;

/// Whether a skill's pages make sense.
pub(super) fn check(pages: &Page) -> Result<(), String> {
    let most = most(pages);
    if most == 0 {
        return Err("config.pages.most: give at least 1".to_owned());
    }
    match pages {
        Page::Cursor { path, parameter, .. } => {
            select::check(path).map_err(|error| format!("config.pages.path: {error}"))?;
            named(parameter)
        }
        Page::Number { parameter, .. } => named(parameter),
        Page::Link { .. } => Ok(()),
    }
}

fn named(parameter: &str) -> Result<(), String> {
    if parameter.trim().is_empty() {
        return Err("config.pages.parameter: name the query parameter".to_owned());
    }
    Ok(())
}

/// How many pages are read.
pub(super) fn most(pages: &Page) -> u16 {
    let (Page::Link { most } | Page::Cursor { most, .. } | Page::Number { most, .. }) = pages;
    (*most).min(MOST)
}

/// The first request: a number is said from the first page on.
pub(super) fn first(pages: &Page, ask: &mut Ask) {
    if let Page::Number { parameter, from, .. } = pages {
        set(&mut ask.url, parameter, &from.to_string());
    }
}

/// The request after page number `index` (from 0); `None` where that was the last.
pub(super) fn next(
    pages: &Page,
    ask: &Ask,
    answer: &Answer,
    body: &Value,
    index: u16,
) -> Result<Option<Ask>, ToolsError> {
    if index + 1 >= most(pages) {
        return Ok(None);
    }
    let mut ask = ask.clone();
    match pages {
        Page::Link { .. } => {
            let Some(target) = linked(answer) else {
                return Ok(None);
            };
            // The credential goes along, so it must be the same server.
            if target.origin() != ask.url.origin() {
                return Err(ToolsError::Refused(format!(
                    "the next page is on another server ({}), which is not followed",
                    target.origin().ascii_serialization()
                )));
            }
            if target == ask.url {
                return Ok(None);
            }
            ask.url = target;
        }
        Page::Cursor { path, parameter, .. } => {
            let cursor = match select::select(path, body) {
                Ok(Value::String(text)) if !text.is_empty() => text,
                Ok(Value::Number(number)) => number.to_string(),
                _ => return Ok(None),
            };
            let before = ask.url.clone();
            set(&mut ask.url, parameter, &cursor);
            if ask.url == before {
                return Ok(None);
            }
        }
        Page::Number { parameter, from, .. } => {
            if is_empty(body) {
                return Ok(None);
            }
            let number = u64::from(*from) + u64::from(index) + 1;
            set(&mut ask.url, parameter, &number.to_string());
        }
    }
    Ok(Some(ask))
}

/// Whether a page holds nothing: the one after the last.
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

fn set(url: &mut Url, name: &str, value: &str) {
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(other, _)| other != name)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    let mut pairs = url.query_pairs_mut();
    pairs.clear().extend_pairs(kept).append_pair(name, value);
}

/// The target of `rel="next"` (RFC 8288).
fn linked(answer: &Answer) -> Option<Url> {
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
