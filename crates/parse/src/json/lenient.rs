//! Reads what models write instead of JSON (single quotes, bare keys, `True`, comments); an ambiguous text is an error.

use crate::complexity_counter::count;
use serde_json::{Map, Number, Value};

/// The same as for strict JSON.
const MAX_DEPTH: usize = 120;

pub(crate) struct Loose<'a> {
    text: &'a str,
    pub pos: usize,
    /// Tokens around raw text, such as `<escape>`.
    tokens: &'a [&'a str],
    depth: usize,
    /// Brackets that the end of the text left open.
    pub unclosed: usize,
}

impl<'a> Loose<'a> {
    pub fn new(text: &'a str, tokens: &'a [&'a str]) -> Self {
        Self { text, pos: 0, tokens, depth: 0, unclosed: 0 }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn eat(&mut self, c: char) -> bool {
        let here = self.peek() == Some(c);
        if here {
            self.pos += c.len_utf8();
        }
        here
    }

    pub fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.skip(rest.len() - trimmed.len());
            let end = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                match trimmed.find("*/") {
                    Some(at) => at + 2,
                    None => return,
                }
            } else {
                return;
            };
            self.skip(end);
        }
    }

    fn skip(&mut self, len: usize) {
        count(len);
        self.pos += len;
    }

    fn error<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("{what} at byte {}", self.pos))
    }

    pub fn value(&mut self) -> Result<Value, String> {
        self.blanks();
        match self.peek() {
            None => self.error("it breaks off in the middle of a value"),
            Some('{') => self.object(),
            Some(open @ ('[' | '(')) => self.array(if open == '[' { ']' } else { ')' }),
            Some(_) => match self.string()? {
                Some(text) => Ok(Value::String(text)),
                None => self.scalar(),
            },
        }
    }

    fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        self.pos += 1;
        if self.depth > MAX_DEPTH { self.error("it is nested too deeply") } else { Ok(()) }
    }

    /// After an entry: skips a comma; `true`: the bracket closes.
    fn ends(&mut self, close: char) -> Result<bool, String> {
        self.blanks();
        let mut comma = false;
        while self.eat(',') {
            comma = true;
            self.blanks();
        }
        if self.eat(close) {
            self.depth -= 1;
            return Ok(true);
        }
        match self.peek() {
            None if comma => self.error("it breaks off after a comma"),
            None => {
                self.unclosed += 1;
                self.depth -= 1;
                Ok(true)
            }
            Some(']' | '}' | ')') => self.error("a bracket closes that was not open"),
            Some(_) => Ok(false),
        }
    }

    fn object(&mut self) -> Result<Value, String> {
        self.enter()?;
        let mut map = Map::new();
        while !self.ends('}')? {
            let name = match self.string()? {
                Some(name) => name,
                None => self.word()?.to_owned(),
            };
            self.blanks();
            if !self.eat(':') && !self.eat('=') {
                return self.error("a colon is missing");
            }
            let value = self.value()?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }

    fn array(&mut self, close: char) -> Result<Value, String> {
        self.enter()?;
        let mut items = Vec::new();
        while !self.ends(close)? {
            items.push(self.value()?);
        }
        Ok(Value::Array(items))
    }

    pub fn word(&mut self) -> Result<&'a str, String> {
        let rest = self.rest();
        let inside = |c: char| c.is_alphanumeric() || "_$-.".contains(c);
        let len = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        if len == 0 {
            return self.error("a name is missing");
        }
        self.skip(len);
        Ok(&rest[..len])
    }

    fn scalar(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let len = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let word = &rest[..len];
        count(len);
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "nil" | "undefined" => Value::Null,
            _ => match serde_json::from_str::<Number>(word.strip_prefix('+').unwrap_or(word)) {
                Ok(number) => Value::Number(number),
                Err(_) => return self.error("text without quotes"),
            },
        };
        if len == rest.len() && self.depth > 0 {
            return self.error("it breaks off in the middle of a value");
        }
        self.pos += len;
        Ok(value)
    }

    pub fn string(&mut self) -> Result<Option<String>, String> {
        let rest = self.rest();
        for token in self.tokens {
            if let Some(body) = rest.strip_prefix(token) {
                let Some(end) = crate::complexity_counter::find(body, token) else {
                    return self.error("a text is not closed");
                };
                self.skip(2 * token.len() + end);
                return Ok(Some(body[..end].to_owned()));
            }
        }
        for token in ["\"\"\"", "'''"] {
            if let Some(body) = rest.strip_prefix(token)
                && let Some(end) = crate::complexity_counter::find(body, token)
            {
                self.skip(6 + end);
                return Ok(Some(super::unescape(&body[..end])));
            }
        }
        let close = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => quote,
            Some('“') => '”',
            _ => return Ok(None),
        };
        let open = if close == '”' { '“'.len_utf8() } else { 1 };
        let body = &rest[open..];
        let mut escaped = false;
        for (at, c) in body.char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == close {
                self.skip(open + at + close.len_utf8());
                return Ok(Some(super::unescape(&body[..at])));
            }
        }
        count(body.len());
        self.error("a text is not closed")
    }
}

/// Reads all of `text` as one value; returns how many brackets had to be closed.
pub(crate) fn read_loose(text: &str) -> Result<(Value, usize), String> {
    let mut loose = Loose::new(text, &[]);
    let value = loose.value()?;
    loose.blanks();
    if loose.rest().is_empty() {
        Ok((value, loose.unclosed))
    } else {
        Err(format!("text follows the JSON at byte {}", loose.pos))
    }
}

#[cfg(test)]
mod tests {
    use super::read_loose;
    use serde_json::json;

    #[test]
    fn what_can_only_mean_one_thing_is_read() {
        for (text, expected) in [
            ("{'a': 'b', \"c\": True,}", json!({"a": "b", "c": true})),
            ("{a: 1, b_c: None}", json!({"a": 1, "b_c": null})),
            ("{\"a\": 1 \"b\": 2}", json!({"a": 1, "b": 2})),
            ("{\"a\": 1, // one\n \"b\": /* two */ 2}", json!({"a": 1, "b": 2})),
            ("{“a”: “ü”}", json!({"a": "ü"})),
            ("['it\\'s', (1, 2)]", json!(["it's", [1, 2]])),
            ("{\"a\": \"\"\"one \"two\"\nthree\"\"\"}", json!({"a": "one \"two\"\nthree"})),
        ] {
            assert_eq!(read_loose(text), Ok((expected, 0)), "{text}");
        }
    }

    #[test]
    fn what_can_mean_two_things_is_an_error() {
        for text in [
            "{path: a.md}",
            "{'a': 'it's'}",
            "{\"a\": \"b\"c\"}",
            "{a}",
            "{\"a\": 5 km}",
            "[1}",
            "{\"a\": \"b",
            "",
            "a",
        ] {
            assert!(read_loose(text).is_err(), "{text}");
        }
    }
}
