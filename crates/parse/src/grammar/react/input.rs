//! Reads the text after `Action Input:` as arguments, and the labels at the start of lines.

use crate::grammar::Call;
use crate::json::{Scanner, repair, strip_fence};
use crate::tool_index::ToolIndex;
use serde_json::{Map, Value, json};
use steward_core::tool::CallSource;

/// Inputs that mean no arguments.
pub(crate) const NOTHING: &[&str] = &["none", "null", "n/a", "-"];
/// Confidence of a call with an object.
const SURE: f32 = 0.9;

#[derive(Debug)]
pub(crate) struct Input {
    pub name: String,
    pub from: usize,
    pub head: Head,
    /// Reads the object, and where it starts.
    pub json: Option<(Scanner, usize)>,
    pub fenced: bool,
}

/// What comes before the input itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    Blank,
    Ticks(usize),
    /// The language after a fence's back-ticks.
    Info,
    Body,
}

impl Input {
    /// Skips blanks, back-ticks and a fence's language. Returns where an object opens in `piece`.
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

fn bare_text(text: &str) -> &str {
    let inner = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inner.filter(|inner| !inner.contains('`')).unwrap_or(text).trim()
}

/// The content of a JSON string, or the text as it is.
fn bare_value(text: &str) -> String {
    serde_json::from_str(text).unwrap_or_else(|_| {
        let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        inner.filter(|inner| !inner.contains('\'')).unwrap_or(text).to_owned()
    })
}

/// The call of `name` with the arguments in the input `raw`, and notes about it. The error is for the model.
pub(crate) fn call(tools: &ToolIndex, name: &str, raw: &str, cut: bool) -> Result<(Call, Vec<String>), String> {
    let made = |arguments, source, confidence| Call::new(name.to_owned(), arguments, source, confidence);
    let text = strip_fence(raw);
    let nothing = NOTHING.contains(&text.to_ascii_lowercase().as_str());
    if text.is_empty() || (nothing && !tools.needs_arguments(name)) {
        if cut {
            return Err("they were cut off before they began".to_owned());
        }
        return Ok((made(Value::Object(Map::new()), CallSource::React, SURE), Vec::new()));
    }
    if text.starts_with('{') {
        let read = repair(raw, cut)?;
        let mended = read.fixes.iter().any(|fix| !fix.contains("fence"));
        let (source, sure) = if mended { (CallSource::Repaired, 0.75) } else { (CallSource::React, SURE) };
        return Ok((made(read.value, source, sure), read.fixes.iter().map(ToString::to_string).collect()));
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
    if !fenced && bare.lines().any(|line| line.trim().is_empty()) {
        return Err(format!("it is not clear where `{field}` ends"));
    }
    let call = made(json!({field: bare_value(bare)}), CallSource::React, 0.6);
    Ok((call, vec![format!("plain text taken as `{field}`")]))
}

/// The answer that comes with `done`: plain text, or the only text of an object.
pub(crate) fn closing_text(raw: &str) -> String {
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

/// Labels are written as `Thought:`, `**Action:**` or `ACTION_INPUT:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Thought,
    Action,
    Input,
    Observation,
    Final,
}

/// How a line starts, as far as it has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// More of the line is needed.
    Undecided,
    Text,
    Fence,
    /// A label, and where its value begins in the line.
    Label(Label, usize),
}

/// A word that begins with another stands before it.
const WORDS: &[(&str, Label)] = &[
    ("thought", Label::Thought),
    ("action input", Label::Input),
    ("action_input", Label::Input),
    ("action-input", Label::Input),
    ("actioninput", Label::Input),
    ("action", Label::Action),
    ("observation", Label::Observation),
    ("final answer", Label::Final),
    ("final_answer", Label::Final),
    ("final-answer", Label::Final),
];

/// Labels within a line are recognised in its first bytes; this bounds the work per line.
const LONGEST: usize = 64;

/// Classifies the line at the start of `text`; more of the line does not change a decision. `end`: nothing follows.
pub(crate) fn classify(text: &str, end: bool) -> Start {
    let (line, closed) = line(text, end);
    let bytes = line.as_bytes();
    let blank = bytes.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let ticks = bytes[blank..].iter().take_while(|&&b| b == b'`').count();
    if ticks >= 3 {
        return Start::Fence;
    }
    let decorated = bytes.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'*' | b'_' | b'#')).count();
    let rest = &bytes[decorated..];
    if rest.is_empty() || (ticks > 0 && blank + ticks == bytes.len()) {
        return if closed { Start::Text } else { Start::Undecided };
    }
    let bold = bytes[..decorated].iter().any(|b| matches!(b, b'*' | b'_'));
    let mut open = false;
    for (word, label) in WORDS {
        match match_word(rest, word.as_bytes(), bold, closed) {
            Match::Yes(len) => return Start::Label(*label, decorated + len),
            Match::Open => open = true,
            Match::No => {}
        }
    }
    if open { Start::Undecided } else { Start::Text }
}

/// The part of the line that may matter, and whether the line ends there.
fn line(text: &str, end: bool) -> (&str, bool) {
    let bytes = text.as_bytes();
    let reach = bytes.len().min(LONGEST);
    if let Some(at) = bytes[..reach].iter().position(|&b| b == b'\n') {
        return (&text[..at], true);
    }
    if bytes.len() <= LONGEST {
        return (text, end);
    }
    (&text[..text.floor_char_boundary(LONGEST)], true)
}

enum Match {
    Yes(usize),
    Open,
    No,
}

fn match_word(rest: &[u8], word: &[u8], bold: bool, closed: bool) -> Match {
    let undecided = if closed { Match::No } else { Match::Open };
    let common = rest.len().min(word.len());
    if !rest[..common].eq_ignore_ascii_case(&word[..common]) {
        return Match::No;
    }
    if rest.len() < word.len() {
        return undecided;
    }
    // `**Action**:`, `Action 2:`
    let mut at = word.len();
    while rest.get(at).is_some_and(|b| matches!(b, b' ' | b'*' | b'_') || b.is_ascii_digit()) {
        at += 1;
    }
    let colon = &rest[at..];
    let wide = "：".as_bytes();
    if colon.starts_with(b":") {
        at += 1;
    } else if colon.starts_with(wide) {
        at += wide.len();
    } else if wide.starts_with(colon) {
        return undecided;
    } else {
        return Match::No;
    }
    if bold {
        at += rest[at..].iter().take_while(|b| matches!(b, b'*' | b'_')).count();
    }
    at += rest[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    if at == rest.len() && !closed {
        return Match::Open;
    }
    Match::Yes(at)
}

#[cfg(test)]
mod tests {
    use super::{Label, Start, classify};

    #[test]
    fn labels_and_what_only_looks_like_one() {
        assert_eq!(classify("Action: read\n", false), Start::Label(Label::Action, 8));
        assert_eq!(classify("**Action:** read\n", false), Start::Label(Label::Action, 12));
        assert_eq!(classify("**Action**: read\n", false), Start::Label(Label::Action, 12));
        assert_eq!(classify("ACTION_INPUT: {", false), Start::Label(Label::Input, 14));
        assert_eq!(classify("Action", false), Start::Undecided);
        assert_eq!(classify("Action", true), Start::Text);
        assert_eq!(classify("Actions: many\n", false), Start::Text);
        assert_eq!(classify("> Action: read\n", false), Start::Text);
        assert_eq!(classify("\"Action: read\n", false), Start::Text);
        assert_eq!(classify("```json", false), Start::Fence);
        assert_eq!(classify("``", false), Start::Undecided);
    }
}
