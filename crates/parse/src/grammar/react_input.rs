//! What stands after `Action Input:`, as arguments.

use crate::index::ToolIndex;
use crate::json::{Scanner, repair, strip_fence};
use serde_json::{Map, Value};
use steward_core::tool::CallSource;

/// Inputs that mean no arguments.
pub(super) const NOTHING: &[&str] = &["none", "null", "n/a", "-"];

/// An input that is being read.
#[derive(Debug)]
pub(super) struct Input {
    pub name: String,
    /// Where its text starts.
    pub from: usize,
    pub head: Head,
    /// Reads the object, while it is one, and where it starts.
    pub json: Option<(Scanner, usize)>,
    /// Within a code fence.
    pub fenced: bool,
}

/// What comes before the input proper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    Blank,
    Ticks(usize),
    /// The language after a fence's back-ticks.
    Info,
    /// The input proper.
    Body,
}

impl Input {
    /// Reads over blanks, back-ticks and a fence's language; says where in `piece` an object opens.
    pub fn skip_head(&mut self, piece: &str) -> Option<usize> {
        for (at, c) in piece.char_indices() {
            self.head = match (self.head, c) {
                (Head::Body, _) => return None,
                (_, '{') => {
                    self.head = Head::Body;
                    return Some(at);
                }
                (Head::Blank, '`') => Head::Ticks(1),
                (Head::Ticks(n), '`') if n >= 2 => {
                    self.fenced = true;
                    Head::Info
                }
                (Head::Ticks(n), '`') => Head::Ticks(n + 1),
                (Head::Info, c) if c.is_ascii_alphanumeric() || c == '`' => Head::Info,
                (Head::Blank | Head::Info, c) if c.is_whitespace() => Head::Blank,
                _ => Head::Body,
            };
        }
        None
    }
}

/// Arguments and how sure they are.
pub(super) struct Read {
    pub arguments: Value,
    pub source: CallSource,
    pub confidence: f32,
    pub notes: Vec<String>,
}

impl Read {
    fn sound(arguments: Value) -> Self {
        Self { arguments, source: CallSource::React, confidence: 0.9, notes: Vec::new() }
    }
}

fn has_blank_line(text: &str) -> bool {
    text.lines().any(|line| line.trim().is_empty())
}

/// Without back-ticks around the whole.
fn bare_text(text: &str) -> &str {
    let inner = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inner.filter(|inner| !inner.contains('`')).unwrap_or(text).trim()
}

/// A JSON string's content, or the text as it is.
fn bare_value(text: &str) -> String {
    serde_json::from_str(text).unwrap_or_else(|_| {
        let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        inner.filter(|inner| !inner.contains('\'')).unwrap_or(text).to_owned()
    })
}

/// The input `raw` of a call of `name`; the error is for the model.
pub(super) fn arguments(tools: &ToolIndex, name: &str, raw: &str, cut: bool) -> Result<Read, String> {
    let text = strip_fence(raw);
    let nothing = NOTHING.contains(&text.to_ascii_lowercase().as_str());
    if text.is_empty() || (nothing && !tools.needs_arguments(name)) {
        if cut {
            return Err("they were cut off before they began".to_owned());
        }
        return Ok(Read::sound(Value::Object(Map::new())));
    }
    if text.starts_with('{') {
        let read = repair(raw, cut)?;
        let mut out = Read::sound(read.value);
        let mended = read.fixes.iter().any(|fix| !fix.contains("fence"));
        if mended {
            out.source = CallSource::Repaired;
            out.confidence = 0.75;
        }
        out.notes = read.fixes.iter().map(ToString::to_string).collect();
        return Ok(out);
    }
    let Some(field) = tools.sole_text(name) else {
        return Err("they are no JSON object".to_owned());
    };
    if cut {
        return Err("they may have been cut off".to_owned());
    }
    if serde_json::from_str::<Vec<Value>>(text).is_ok() {
        return Err("they are a list, no JSON object".to_owned());
    }
    let fenced = raw.trim_start().starts_with("```");
    let bare = bare_text(text);
    if !fenced && has_blank_line(bare) {
        return Err(format!("it is not clear where `{field}` ends"));
    }
    let mut arguments = Map::new();
    arguments.insert(field.to_owned(), Value::String(bare_value(bare)));
    Ok(Read {
        arguments: Value::Object(arguments),
        source: CallSource::React,
        confidence: 0.6,
        notes: vec![format!("plain text taken as `{field}`")],
    })
}

/// What a model says with its `done`: plain text, or the only text of an object.
pub(super) fn closing_text(raw: &str) -> String {
    let text = strip_fence(raw);
    if !text.starts_with('{') {
        let nothing = NOTHING.contains(&text.to_ascii_lowercase().as_str());
        return if nothing { String::new() } else { bare_value(text) };
    }
    let read = repair(text, false).ok();
    let object = read.as_ref().and_then(|read| read.value.as_object());
    object
        .filter(|object| object.len() == 1)
        .and_then(|object| object.values().next()?.as_str())
        .unwrap_or("")
        .to_owned()
}
