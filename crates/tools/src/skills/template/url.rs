//! Templates in URLs: values are percent-encoded, and can't change the host, the folder or the form.

use super::error::TemplateError;
use super::parse::{Part, Place, Template};
use super::values::{Values, as_text};
use serde_json::Value;
use std::fmt::Write as _;
use url::Url;

/// Scheme, host and port as fixed text, up to where the path begins.
fn origin(text: &str, template: &Template) -> Result<Url, TemplateError> {
    let bad = || TemplateError::Host(text.chars().take(120).collect());
    let Some(Part::Text(head)) = template.parts.first() else {
        return Err(bad());
    };
    let (scheme, rest) = head.split_once("://").ok_or_else(bad)?;
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return Err(bad());
    }
    let end = rest.find(['/', '?', '#']);
    if end.is_none() && !template.is_fixed() {
        return Err(bad());
    }
    let authority = &rest[..end.unwrap_or(rest.len())];
    let odd = |c: char| matches!(c, '@' | '\\' | '{' | '}' | '%') || c.is_whitespace() || c.is_control();
    if authority.is_empty() || authority.contains(odd) {
        return Err(bad());
    }
    Url::parse(&format!("{scheme}://{authority}/")).map_err(|_| bad())
}

/// Whether scheme, host and port are fixed, and all placeholders are inputs of `schema`.
pub fn check_url(text: &str, schema: &Value) -> Result<(), TemplateError> {
    let template = Template::parse(text)?;
    origin(text, &template)?;
    let fixed: String = template
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Slot(_) => "x",
        })
        .collect();
    if steps(&fixed).any(is_dots) {
        return Err(TemplateError::Dots("the path".to_owned()));
    }
    template.check(Place::Url, schema)
}

/// Segments of the path of an address.
fn steps(address: &str) -> impl Iterator<Item = &str> {
    let after = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = after.split(['?', '#']).next().unwrap_or("");
    path.split(['/', '\\']).skip(1)
}

/// Fills a URL. In the path every value must be there, not be empty, and stay in its segment.
pub fn url(text: &str, values: &Values<'_>) -> Result<Url, TemplateError> {
    let template = Template::parse(text)?;
    let origin = origin(text, &template)?;
    let mut out = String::new();
    let mut in_path = true;
    for part in &template.parts {
        match part {
            Part::Text(text) => {
                out.push_str(text);
                in_path &= !text.contains(['?', '#']);
            }
            Part::Slot(slot) => {
                let value = values.get(slot).map(as_text).unwrap_or_default();
                if in_path && value.is_empty() {
                    return Err(TemplateError::Missing { name: slot.name(), place: "in the address" });
                }
                if in_path && value.split(['/', '\\']).any(is_dots) {
                    return Err(TemplateError::Dots(slot.name()));
                }
                out.push_str(&encode(&value));
            }
        }
    }
    // Fixed text and a value may make dots together.
    if steps(&out).any(is_dots) {
        return Err(TemplateError::Dots("the path".to_owned()));
    }
    let bad = || TemplateError::Host(text.chars().take(120).collect());
    let url = Url::parse(&out).map_err(|_| bad())?;
    let same = url.origin() == origin.origin() && url.username().is_empty();
    if same && url.password().is_none() { Ok(url) } else { Err(bad()) }
}

/// Whether a server could read it as this folder or the one above, encoded as often as it may be.
fn is_dots(segment: &str) -> bool {
    let mut text = segment.to_ascii_lowercase();
    while text.contains("%2e") || text.contains("%252e") {
        text = text.replace("%252e", "%2e").replace("%2e", ".");
    }
    text == "." || text == ".."
}

/// Percent-encodes everything but the unreserved characters of RFC 3986.
pub fn encode(value: &str) -> String {
    value.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}
