//! JSON as models write it: incremental scanning and careful repair.

mod lenient;
mod scan;

pub(crate) use lenient::Loose;
pub(crate) use scan::{Scanner, Token, unescape, unescape_part};

use super::complexity_counter::count;
use lenient::read_loose;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct Repaired {
    pub value: Value,
    /// For diagnostics; empty: nothing was repaired.
    pub fixes: Vec<&'static str>,
}

/// Reads JSON and repairs only what can't change its meaning: code fences, trailing commas, raw line breaks and odd
/// escapes in strings, and missing closing brackets at the end unless the reply was `cut` at its token limit; also
/// single quotes, bare keys, comments and Python's words where they can be read in one way only. Text that ends
/// within a value stays an error.
pub fn repair(text: &str, cut: bool) -> Result<Repaired, String> {
    let inner = strip_fence(text);
    let mut fixes = Vec::new();
    count(text.len());
    if inner.len() != text.trim().len() {
        fixes.push("removed a code fence");
    }
    if let Ok(value) = serde_json::from_str(inner) {
        return Ok(Repaired { value, fixes });
    }
    let rebuilt = match rebuild(inner) {
        Ok(rebuilt) => rebuilt,
        Err(error) => return loose(inner, cut, fixes).map_err(|_| error),
    };
    if cut && rebuilt.closed {
        return Err("it was cut off before its end".to_owned());
    }
    if rebuilt.closed {
        fixes.push("closed brackets left open");
    }
    if !inner[rebuilt.end..].trim().is_empty() {
        return Err(format!("text follows the JSON at byte {}", rebuilt.end));
    }
    let value = serde_json::from_str(&rebuilt.text).map_err(|error| error.to_string())?;
    if fixes.is_empty() || !rebuilt.closed {
        fixes.push("mended commas or string characters");
    }
    Ok(Repaired { value, fixes })
}

/// Reads other quotes, bare keys and Python's words.
fn loose(inner: &str, cut: bool, mut fixes: Vec<&'static str>) -> Result<Repaired, String> {
    if !inner.starts_with(['{', '[']) {
        return Err("it is no valid JSON".to_owned());
    }
    let (value, unclosed) = read_loose(inner)?;
    if unclosed > 0 {
        if cut {
            return Err("it was cut off before its end".to_owned());
        }
        fixes.push("closed brackets left open");
    }
    fixes.push("read as a literal that is no JSON");
    Ok(Repaired { value, fixes })
}

/// Removes blanks and a code fence around `text`.
pub(crate) fn strip_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(rest) = text.strip_prefix("```") else {
        return text;
    };
    let body = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    body.trim_end().trim_end_matches('`').trim()
}

struct Rebuilt {
    text: String,
    end: usize,
    closed: bool,
}

/// Writes commas before values, so trailing ones vanish.
#[derive(Default)]
struct Writer {
    text: String,
    /// What closes each open bracket, and whether something is in it already.
    open: Vec<(char, bool)>,
    key: Option<String>,
}

impl Writer {
    fn value(&mut self, text: &str) {
        if let Some((_, filled)) = self.open.last_mut()
            && std::mem::replace(filled, true)
        {
            self.text.push(',');
        }
        if let Some(key) = self.key.take() {
            self.text.push_str(&key);
            self.text.push(':');
        }
        self.text.push_str(text);
    }
}

/// Quotes the content of a string anew.
fn quoted(content: &str) -> String {
    Value::String(unescape(content)).to_string()
}

fn rebuild(raw: &str) -> Result<Rebuilt, String> {
    let mut scanner = Scanner::new(0);
    let mut writer = Writer::default();
    loop {
        match scanner.next(raw) {
            Token::Open { array, .. } => {
                writer.value(if array { "[" } else { "{" });
                writer.open.push((if array { ']' } else { '}' }, false));
            }
            Token::Close(_) => writer.text.extend(writer.open.pop().map(|(close, _)| close)),
            Token::Key(range) => writer.key = Some(quoted(&raw[range.start + 1..range.end - 1])),
            Token::Str(range) => writer.value(&quoted(&raw[range.start + 1..range.end - 1])),
            Token::Scalar(range) => writer.value(&raw[range]),
            Token::End => {
                return Ok(Rebuilt { text: writer.text, end: scanner.pos, closed: false });
            }
            Token::Error => return Err(format!("it is no valid JSON from byte {}", scanner.pos)),
            Token::More if scanner.only_closers_missing() => {
                writer.text.extend(writer.open.iter().rev().map(|(close, _)| close));
                return Ok(Rebuilt { text: writer.text, end: raw.len(), closed: true });
            }
            Token::More if raw.trim().is_empty() => return Err("it is empty".to_owned()),
            Token::More => return Err("it breaks off in the middle of a value".to_owned()),
        }
    }
}
