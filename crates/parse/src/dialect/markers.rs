//! `[TOOL:name|key=value|…]` and `[DONE]`. A value may contain `]` and `|` if it is quoted or they are escaped with a
//! backslash. Source: reference "GPT-OSS System Prompts", strategy 3.

use super::call::Cx;
use super::{Begin, Body, Calls, Dialect, Rule};
use serde_json::{Map, Value};

pub(super) const RULES: &[Rule] = &[
    marker("[TOOL:"),
    marker("[TOOL :"),
    marker("[ TOOL:"),
    marker("[ TOOL :"),
    marker("[tool:"),
    marker("[tool :"),
    marker("[ tool:"),
    marker("[ tool :"),
    marker("[ Tool:"),
    marker("[ Tool :"),
    marker("[Tool:"),
    marker("[Tool :"),
    Rule { dialect: Dialect::Marker, open: "[DONE]", body: Body::Done },
    Rule { dialect: Dialect::Marker, open: "[done]", body: Body::Done },
];

const fn marker(open: &'static str) -> Rule {
    Rule { dialect: Dialect::Marker, open, body: Body::Marker(Calls::new(&["]"], begins, read)) }
}

/// Longest name of a tool, in bytes.
const LONGEST: usize = 96;

/// A name and a bar, or the name of a known tool and the end.
fn begins(text: &str, cx: &Cx<'_>, end: bool) -> Begin {
    let open = if end { Begin::No } else { Begin::More };
    let text = text.trim_start_matches(' ');
    let inside = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let rest = text.trim_start_matches(inside);
    let len = text.len() - rest.len();
    // Decided by the length alone, so that the pieces in which it comes make no difference.
    if len > LONGEST {
        return Begin::No;
    }
    match rest.trim_start_matches(' ').chars().next() {
        None => open,
        Some('|') if len > 0 => Begin::Yes,
        Some(']') if cx.tools.resolve_call(&text[..len], None).is_some() => Begin::Yes,
        _ => Begin::No,
    }
}

/// Looks for the closing bracket of a marker.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Up to where the body was read.
    pub at: usize,
    quote: Option<u8>,
    escaped: bool,
    /// The last byte was `=`, so a quote opens a value.
    value: bool,
    /// The first bracket inside a quote, and that quote.
    pub first: Option<(usize, u8)>,
}

impl Scan {
    pub fn quote(&self) -> Option<u8> {
        self.quote
    }

    /// Finds the closing bracket in `body`. A quote closes only before `|` or `]`. `hopeless`: quotes that never close.
    pub fn close(&mut self, body: &str, hopeless: &[u8]) -> Option<usize> {
        let bytes = body.as_bytes();
        let from = self.at;
        while let Some(&byte) = bytes.get(self.at) {
            let at = self.at;
            if self.escaped {
                self.escaped = false;
            } else {
                match (byte, self.quote) {
                    (b'\\', _) => self.escaped = true,
                    (b'"' | b'\'', None) if self.value && !hopeless.contains(&byte) => {
                        self.quote = Some(byte);
                    }
                    (_, Some(quote)) if byte == quote => match bytes.get(at + 1) {
                        Some(b'|' | b']') => self.quote = None,
                        Some(_) => {}
                        None => break,
                    },
                    (b']', None) => {
                        crate::complexity_counter::count(at - from);
                        return Some(at);
                    }
                    (b']', Some(quote)) => {
                        self.first.get_or_insert((at, quote));
                    }
                    _ => {}
                }
            }
            self.value = byte == b'=' || (self.value && byte == b' ');
            self.at += 1;
        }
        crate::complexity_counter::count(self.at - from);
        None
    }
}

fn read(body: &str, cx: &mut Cx<'_>) {
    let mut parts = split(body).into_iter();
    let name = parts.next().unwrap_or_default();
    let name = cx.tools.name(&name);
    let known = cx.tools.parameters(&name).and_then(|schema| schema["properties"].as_object()).cloned();
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut bare: Vec<String> = Vec::new();
    for part in parts {
        let field = part.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.to_owned()));
        let field = field.filter(|(key, _)| {
            let word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
            word && (fields.is_empty() || known.as_ref().is_none_or(|known| known.contains_key(key)))
        });
        match (field, fields.last_mut()) {
            (Some(field), _) => fields.push(field),
            // A bar that nobody escaped belongs to the value.
            (None, Some((_, last))) => {
                last.push('|');
                last.push_str(&part);
            }
            (None, None) => bare.push(part),
        }
    }
    if let ([only], true) = (bare.as_slice(), fields.is_empty()) {
        match cx.tools.sole_text(&name) {
            Some(field) => fields.push((field.to_owned(), only.clone())),
            None if only.trim().is_empty() => {}
            None => return cx.broken(&name, body, "each argument must be written as `key=value`"),
        }
    }
    let map: Map<String, Value> =
        fields.into_iter().map(|(key, value)| (key, Value::String(bare_value(value.trim())))).collect();
    cx.call_untyped(&name, map, false);
}

/// Splits at bars outside quotes; bars and brackets stay escaped.
fn split(body: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut quote = None;
    let mut hopeless: Vec<char> = Vec::new();
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => {
                part.push(c);
                part.extend(chars.next());
                continue;
            }
            ('"' | '\'', None) if !hopeless.contains(&c) && part.trim_end().ends_with('=') => {
                if closes(chars.clone(), c) {
                    quote = Some(c);
                } else {
                    hopeless.push(c);
                }
            }
            (_, Some(open)) if c == open && chars.peek().is_none_or(|next| *next == '|') => {
                quote = None;
            }
            ('|', None) => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    crate::complexity_counter::count(body.len());
    parts.push(part);
    parts
}

/// Whether the quote closes before a bar or the end.
fn closes(rest: std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> bool {
    let mut before = None;
    let mut rest = rest.peekable();
    let mut seen = 0;
    while let Some(c) = rest.next() {
        seen += 1;
        if c == quote && before != Some('\\') && rest.peek().is_none_or(|next| *next == '|') {
            crate::complexity_counter::count(seen);
            return true;
        }
        before = Some(c);
    }
    crate::complexity_counter::count(seen);
    false
}

/// Removes quotes around the whole and undoes `\|`, `\]`, `\"`, `\\` and ` `.
fn bare_value(text: &str) -> String {
    let quoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote).filter(|_| text.len() > 1));
    let mut out = String::new();
    let mut chars = quoted.unwrap_or(text).chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') if quoted.is_some() => out.push('\n'),
            Some(next @ ('|' | ']' | '[' | '"' | '\'' | '\\')) => out.push(next),
            Some(next) => out.extend([c, next]),
            None => out.push(c),
        }
    }
    out
}
