//! The iCalendar text format (RFC 5545): components (`BEGIN:` to `END:`) of lines. What isn't understood is kept.

use crate::error::{ToolsError, refused};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::fmt::Write as _;

/// Deepest nesting, and most components of one file.
const MAX_DEPTH: usize = 8;
const MAX_COMPONENTS: usize = 50_000;

/// `BEGIN:NAME … END:NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Component {
    pub name: String,
    pub lines: Vec<Line>,
    pub parts: Vec<Component>,
}

impl Component {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), lines: Vec::new(), parts: Vec::new() }
    }

    pub fn calendar() -> Self {
        let mut calendar = Self::new("VCALENDAR");
        calendar.lines = vec![Line::new("VERSION", "2.0"), Line::new("PRODID", "-//Steward//Calendar//EN")];
        calendar
    }

    pub fn line(&self, name: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.name == name)
    }

    /// Its value as written, trimmed.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.line(name).map(|line| line.value.trim())
    }

    /// Reads a calendar; several in one file are joined.
    pub fn read(text: &str) -> Result<Self, ToolsError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut open: Vec<Self> = Vec::new();
        let mut calendar: Option<Self> = None;
        let mut count = 0;
        for (at, raw) in unfold(text).iter().enumerate() {
            let bad = |what: &str| {
                refused!(
                    "this is no iCalendar file: {what} (entry {}: {})",
                    at + 1,
                    raw.chars().take(60).collect::<String>()
                )
            };
            let line = Line::parse(raw).ok_or_else(|| bad("a line has no name and value"))?;
            let name = line.value.trim().to_ascii_uppercase();
            match line.name.as_str() {
                "BEGIN" => {
                    count += 1;
                    if open.len() >= MAX_DEPTH || count > MAX_COMPONENTS {
                        return Err(bad("it holds too much"));
                    }
                    if open.is_empty() && name != "VCALENDAR" {
                        return Err(bad("it must begin with BEGIN:VCALENDAR"));
                    }
                    open.push(Self::new(&name));
                }
                "END" => {
                    let done = open.pop().filter(|one| one.name == name);
                    let done = done.ok_or_else(|| bad("an END has no BEGIN"))?;
                    match (open.last_mut(), &mut calendar) {
                        (Some(outer), _) => outer.parts.push(done),
                        (None, Some(first)) => first.parts.extend(done.parts),
                        (None, none) => *none = Some(done),
                    }
                }
                _ => match open.last_mut() {
                    Some(inner) => inner.lines.push(line),
                    None => return Err(bad("it must begin with BEGIN:VCALENDAR")),
                },
            }
        }
        match (calendar, open.last()) {
            (Some(calendar), None) => Ok(calendar),
            (_, Some(inner)) => Err(refused!("this iCalendar file ends in the middle of {}; get it whole", inner.name)),
            (None, None) => Err(ToolsError::refused("this is no iCalendar file: it is empty; give an .ics file")),
        }
    }

    pub fn write(&self, out: &mut String) {
        Line::new("BEGIN", &*self.name).write(out);
        for line in &self.lines {
            line.write(out);
        }
        for part in &self.parts {
            part.write(out);
        }
        Line::new("END", &*self.name).write(out);
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

const LINE_BYTES: usize = 75;

/// `NAME;PARAM=VALUE:VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Upper case.
    pub name: String,
    /// Names in upper case; values without surrounding quotation marks.
    pub params: Vec<(String, String)>,
    /// As written.
    pub value: String,
}

impl Line {
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), params: Vec::new(), value: value.into() }
    }

    /// A line whose value is text, which is escaped.
    pub fn text(name: &str, text: &str) -> Self {
        Self::new(name, escape(text))
    }

    pub fn day(name: &str, day: Date) -> Self {
        Self::new(name, day.strftime("%Y%m%d").to_string()).with("VALUE", "DATE")
    }

    /// By the clock of `zone` if it has a name, by which alone other programs understand it, else in UTC.
    pub fn instant(name: &str, at: Timestamp, zone: &TimeZone) -> Self {
        match zone.iana_name().filter(|_| *zone != TimeZone::UTC) {
            Some(id) => {
                let local = at.to_zoned(zone.clone());
                Self::new(name, local.strftime("%Y%m%dT%H%M%S").to_string()).with("TZID", id)
            }
            None => Self::new(name, at.strftime("%Y%m%dT%H%M%SZ").to_string()),
        }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.params.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Parses an unfolded line; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.find([';', ':'])?;
        let name = text[..end].trim().to_ascii_uppercase();
        let named = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !named(&name) {
            return None;
        }
        let mut params = Vec::new();
        let mut rest = &text[end..];
        while let Some(after) = rest.strip_prefix(';') {
            let (key, tail) = after.split_once('=')?;
            let stop = outside_quotes(tail)?;
            let value = tail[..stop].replace('"', "");
            params.push((key.trim().to_ascii_uppercase(), value));
            rest = &tail[stop..];
        }
        Some(Self { name, params, value: rest.strip_prefix(':')?.to_owned() })
    }

    pub fn write(&self, out: &mut String) {
        let mut text = self.name.clone();
        for (name, value) in &self.params {
            let quoted = value.contains([',', ';', ':']);
            let mark = if quoted { "\"" } else { "" };
            let _ = write!(text, ";{name}={mark}{value}{mark}");
        }
        text.push(':');
        text.push_str(&self.value);
        let mut rest = text.as_str();
        let mut room = LINE_BYTES;
        while rest.len() > room {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(room));
            out.push_str(head);
            out.push_str("\r\n ");
            rest = tail;
            room = LINE_BYTES - 1;
        }
        out.push_str(rest);
        out.push_str("\r\n");
    }
}

/// Index of the first `;` or `:` outside of quotation marks.
fn outside_quotes(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, letter)| {
        match letter {
            '"' => quoted = !quoted,
            ';' | ':' if !quoted => return Some(at),
            _ => {}
        }
        None
    })
}

/// Unfolded lines, without empty ones.
fn unfold(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for raw in text.split('\n') {
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        match (raw.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(more), Some(last)) => last.push_str(more),
            _ if raw.trim().is_empty() => {}
            _ => lines.push(raw.to_owned()),
        }
    }
    lines
}

pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | ';' | ',' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' => out.push_str("\\n"),
            // Control characters may not occur in a line.
            other if other.is_control() && other != '\t' => {}
            other => out.push(other),
        }
    }
    out
}

pub(super) fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n' | 'N') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Component, Line, escape, unescape, unfold};
    use proptest::prelude::*;

    #[test]
    fn what_is_not_understood_stays() {
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:Home\r\nBEGIN:VEVENT\r\nUID:1\r\nX-ODD;A=b:c\r\n\
                    BEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let read = Component::read(text).unwrap();
        assert_eq!(read.text(), text);
        assert_eq!(read.parts[0].value("UID"), Some("1"));
        let twice = Component::read(&format!("\u{feff}{text}{}", text.replace("UID:1", "UID:2")));
        assert_eq!(twice.unwrap().parts.len(), 2);
    }

    #[test]
    fn what_is_no_calendar_is_refused() {
        for (text, expect) in [
            ("", "it is empty"),
            ("hello", "no name and value"),
            ("A:b", "must begin"),
            ("BEGIN:VEVENT\nEND:VEVENT", "must begin"),
            ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR", "no BEGIN"),
            ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT", "middle of VCALENDAR"),
            (&"BEGIN:VCALENDAR\n".repeat(9), "too much"),
        ] {
            let error = Component::read(text).unwrap_err().to_string();
            assert!(error.contains(expect), "{text}: {error}");
        }
    }

    #[test]
    fn lines_are_taken_apart() {
        let line = Line::parse("dtstart;tzid=\"Europe/Berlin\";X=\"a:b;c\":20261123T140000").unwrap();
        assert_eq!(line.name, "DTSTART");
        assert_eq!(line.param("TZID"), Some("Europe/Berlin"));
        assert_eq!(line.param("X"), Some("a:b;c"));
        assert_eq!(line.value, "20261123T140000");
        let mut out = String::new();
        line.write(&mut out);
        assert_eq!(out, "DTSTART;TZID=Europe/Berlin;X=\"a:b;c\":20261123T140000\r\n");
        for bad in ["", "no colon", ":x", "A;B:c", "A;B=\"c:d", "Ä:x"] {
            assert_eq!(Line::parse(bad), None, "{bad}");
        }
        assert_eq!(unfold("A:1\r\n 2\r\n\t3\r\n\r\nB:4\n"), ["A:123", "B:4"]);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "[^\\p{Cc}]{0,200}|[a-zäß€😀,;\\\\:\n ]{0,300}") {
            prop_assert_eq!(&unescape(&escape(&text)), &text);
            let mut file = String::new();
            Line::text("SUMMARY", &text).write(&mut file);
            prop_assert!(file.lines().all(|line| line.len() <= 75), "{}", file);
            let lines = unfold(&file);
            prop_assert_eq!(lines.len(), 1);
            let read = Line::parse(&lines[0]).unwrap();
            prop_assert_eq!(unescape(&read.value), text);
        }
    }
}
