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
    /// For each open bracket whether something is in it already.
    filled: Vec<bool>,
    key: Option<String>,
}

impl Writer {
    fn separate(&mut self) {
        if let Some(filled) = self.filled.last_mut() {
            if *filled {
                self.text.push(',');
            }
            *filled = true;
        }
        if let Some(key) = self.key.take() {
            self.text.push_str(&key);
            self.text.push(':');
        }
    }

    fn value(&mut self, text: &str) {
        self.separate();
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
    let mut arrays: Vec<bool> = Vec::new();
    loop {
        match scanner.next(raw) {
            Token::Open { array, .. } => {
                writer.value(if array { "[" } else { "{" });
                writer.filled.push(false);
                arrays.push(array);
            }
            Token::Close(_) => {
                let array = arrays.pop().unwrap_or(false);
                writer.filled.pop();
                writer.text.push(if array { ']' } else { '}' });
            }
            Token::Key(range) => writer.key = Some(quoted(&raw[range.start + 1..range.end - 1])),
            Token::Str(range) => writer.value(&quoted(&raw[range.start + 1..range.end - 1])),
            Token::Scalar(range) => writer.value(&raw[range]),
            Token::End => {
                return Ok(Rebuilt { text: writer.text, end: scanner.pos, closed: false });
            }
            Token::Error => return Err(format!("it is no valid JSON from byte {}", scanner.pos)),
            Token::More => return close(raw, &scanner, writer),
        }
    }
}

fn close(raw: &str, scanner: &Scanner, mut writer: Writer) -> Result<Rebuilt, String> {
    if !scanner.only_closers_missing() {
        return Err(if scanner.pos == 0 || raw.trim().is_empty() {
            "it is empty".to_owned()
        } else {
            "it breaks off in the middle of a value".to_owned()
        });
    }
    for array in scanner.stack().iter().rev() {
        writer.text.push(if *array { ']' } else { '}' });
    }
    Ok(Rebuilt { text: writer.text, end: raw.len(), closed: true })
}
