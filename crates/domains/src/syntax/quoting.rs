//! Strings between quotes and what they mean, and names with as few quotes as they need.

use super::lexer::{is_identifier, is_literal};

/// Whether a string token has its closing quote.
pub(crate) fn is_closed(token: &str) -> bool {
    let Some(inner) = token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
    (inner.len() - inner.trim_end_matches('\\').len()).is_multiple_of(2)
}

/// What a string token stands for. An unknown escape stands for its character.
pub(crate) fn unquote(token: &str) -> String {
    let inner = token.strip_prefix('"').unwrap_or(token);
    let inner = if is_closed(token) { &inner[..inner.len() - 1] } else { inner };
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next().map(|escaped| unescape(escaped).unwrap_or(escaped))),
            c => text.push(c),
        }
    }
    text
}

fn unescape(escaped: char) -> Option<char> {
    match escaped {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '"' | '\\' => Some(escaped),
        _ => None,
    }
}

/// Offset in the token and character of its first escape that is none.
pub(crate) fn unknown_escape(token: &str) -> Option<(usize, char)> {
    let mut chars = token.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            let (_, escaped) = chars.next()?;
            if unescape(escaped).is_none() {
                return Some((at, escaped));
            }
        }
    }
    None
}

pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// As a name is written.
pub(crate) fn name(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quote(name) }
}

/// As the name of a table is written, where a dot may part the schema from the table.
pub(crate) fn table(table: &str) -> String {
    let bare = match table.split_once('.') {
        Some((schema, table)) => is_identifier(schema) && is_identifier(table),
        None => is_identifier(table),
    };
    if bare { table.to_owned() } else { quote(table) }
}

/// As the value of an example is written.
pub(crate) fn value(value: &str) -> String {
    if is_literal(value) || matches!(value, "true" | "false") { value.to_owned() } else { quote(value) }
}

/// As the format of a column is written.
pub(crate) fn format(format: &str) -> String {
    let bare = !is_literal(format)
        && format
            .split(':')
            .all(|part| is_identifier(part) || part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty());
    if bare { format.to_owned() } else { quote(format) }
}

/// As a role, a group or everybody is written.
pub(crate) fn role(role: &str) -> String {
    match role.split_once(':') {
        Some((kind @ ("role" | "group"), of)) if !of.is_empty() => format!("{kind}:{}", name(of)),
        _ if role == "*" => role.to_owned(),
        _ => name(role),
    }
}
