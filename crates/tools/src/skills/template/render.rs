//! Fills templates: as JSON, as an argument vector or a line for a remote shell, as SQL, as a URL.

use super::{Part, Template, TemplateError, TemplateUse, Values, as_text};
use crate::sql::target::DatabaseKind;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use url::Url;

/// Fills the strings of `source`. A string that is one placeholder becomes its value, with its type; if that is absent,
/// the field or element is left out (at the top: null).
pub fn json(source: &Value, values: &Values<'_>) -> Result<Value, TemplateError> {
    Ok(filled(source, values)?.unwrap_or(Value::Null))
}

fn filled(source: &Value, values: &Values<'_>) -> Result<Option<Value>, TemplateError> {
    match source {
        Value::String(text) => {
            let template = Template::parse(text)?;
            if let Some(slot) = template.single() {
                let value = values.get(slot);
                if value.is_none() && values.strict {
                    return Err(TemplateError::Missing { name: slot.name(), place: "there" });
                }
                return Ok(value);
            }
            Ok(template.text(values)?.map(Value::String))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| filled(item, values));
            let kept: Result<Vec<Option<Value>>, _> = items.collect();
            Ok(Some(Value::Array(kept?.into_iter().flatten().collect())))
        }
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, value) in fields {
                if let Some(value) = filled(value, values)? {
                    kept.insert(name.clone(), value);
                }
            }
            Ok(Some(Value::Object(kept)))
        }
        other => Ok(Some(other.clone())),
    }
}

/// Whether all placeholders are inputs of `schema`; names of fields are fixed text.
pub fn check_json(source: &Value, place: TemplateUse, schema: &Value) -> Result<(), TemplateError> {
    match source {
        Value::String(text) => Template::parse(text)?.check(place, schema),
        Value::Array(items) => items.iter().try_for_each(|item| check_json(item, place, schema)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            if Template::parse(name)?.is_fixed() {
                check_json(value, place, schema)
            } else {
                Err(TemplateError::Fixed("the name of a field"))
            }
        }),
        _ => Ok(()),
    }
}

/// Fills an argument vector; every value stays within its element. An element whose placeholders are all absent is left
/// out. A value at the start of an element may not begin with `-` unless its placeholder says `|option`.
pub fn argv(source: &[String], values: &Values<'_>) -> Result<Vec<String>, TemplateError> {
    let mut words = Vec::new();
    for text in source {
        let template = Template::parse(text)?;
        let Some(word) = template.text(values)? else {
            continue;
        };
        if word.contains('\0') {
            return Err(TemplateError::Control("a command line".to_owned()));
        }
        guard_option(&template, &word)?;
        words.push(word);
    }
    Ok(words)
}

/// Refuses a value that a program would read as an option. The first placeholder answers for those right behind it,
/// since it may be empty.
fn guard_option(template: &Template, word: &str) -> Result<(), TemplateError> {
    match template.parts.first() {
        Some(Part::Slot(slot)) if word.starts_with('-') && !slot.option => {
            Err(TemplateError::Option { name: slot.name(), value: word.chars().take(40).collect() })
        }
        _ => Ok(()),
    }
}

/// The command as one line for a POSIX shell, quoted.
pub fn remote_line(source: &[String], values: &Values<'_>) -> Result<String, TemplateError> {
    Ok(shell_line(&argv(source, values)?))
}

pub fn shell_line(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
    words.join(" ")
}

pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

pub fn check_argv(source: &[String], schema: &Value) -> Result<(), TemplateError> {
    let program = source.first().map(|text| Template::parse(text)).transpose()?;
    if !program.is_some_and(|program| program.is_fixed() && !source[0].trim().is_empty()) {
        return Err(TemplateError::Fixed("the program"));
    }
    super::check_texts(source, TemplateUse::Argv, schema)
}

/// The statement with its marks (`?1`, on PostgreSQL `$1`, on MariaDB and MySQL `?`), and the values in their order. An
/// absent value is NULL.
pub fn sql(source: &str, kind: DatabaseKind, values: &Values<'_>) -> Result<(String, Vec<Value>), TemplateError> {
    let template = Template::parse(source)?;
    let (mut text, mut bound) = (String::new(), Vec::new());
    for part in &template.parts {
        match part {
            Part::Text(fixed) => text.push_str(fixed),
            Part::Slot(slot) => {
                bound.push(values.get(slot).unwrap_or(Value::Null));
                text.push(if kind == DatabaseKind::Postgres { '$' } else { '?' });
                if kind != DatabaseKind::MySql {
                    text.push_str(&bound.len().to_string());
                }
            }
        }
    }
    Ok((text, bound))
}

/// Scheme, host and port, which must be fixed text.
fn fixed_origin(text: &str, template: &Template) -> Result<Url, TemplateError> {
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
    fixed_origin(text, &template)?;
    let fixed: String = template
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Slot(_) => "x",
        })
        .collect();
    if path_segments(&fixed).any(is_dots) {
        return Err(TemplateError::Dots("the path".to_owned()));
    }
    template.check(TemplateUse::Url, schema)
}

fn path_segments(address: &str) -> impl Iterator<Item = &str> {
    let after = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = after.split(['?', '#']).next().unwrap_or("");
    path.split(['/', '\\']).skip(1)
}

/// Fills a URL. Values in the path must be present, not empty, and stay in their segment.
pub fn url(text: &str, values: &Values<'_>) -> Result<Url, TemplateError> {
    let template = Template::parse(text)?;
    let origin = fixed_origin(text, &template)?;
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
                out.push_str(&percent_encode(&value));
            }
        }
    }
    // Fixed text and a value together may form `..`.
    if path_segments(&out).any(is_dots) {
        return Err(TemplateError::Dots("the path".to_owned()));
    }
    let bad = || TemplateError::Host(text.chars().take(120).collect());
    let url = Url::parse(&out).map_err(|_| bad())?;
    let same = url.origin() == origin.origin() && url.username().is_empty();
    if same && url.password().is_none() { Ok(url) } else { Err(bad()) }
}

/// Whether a server could read a segment as `.` or `..`, however often it is encoded.
fn is_dots(segment: &str) -> bool {
    let mut text = segment.to_ascii_lowercase();
    while text.contains("%2e") || text.contains("%252e") {
        text = text.replace("%252e", "%2e").replace("%2e", ".");
    }
    text == "." || text == ".."
}

pub fn percent_encode(value: &str) -> String {
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(value, RESERVED).to_string()
}
