//! Components of RFC 5545 (`BEGIN:` to `END:`), kept whole: what isn't understood stays as it is.

use super::line::{Line, unfold};
use crate::error::ToolsError;

/// Most components within one another, and most of one file.
const DEEPEST: usize = 8;
const MOST: usize = 50_000;

/// `BEGIN:NAME … END:NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Component {
    pub name: String,
    pub lines: Vec<Line>,
    pub parts: Vec<Component>,
}

impl Component {
    /// An empty one.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), lines: Vec::new(), parts: Vec::new() }
    }

    /// An empty calendar of ours.
    pub fn calendar() -> Self {
        let mut calendar = Self::new("VCALENDAR");
        calendar.lines = vec![Line::new("VERSION", "2.0"), Line::new("PRODID", "-//Steward//Calendar//EN")];
        calendar
    }

    /// The first line of this name.
    pub fn line(&self, name: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.name == name)
    }

    /// Its value as written, trimmed.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.line(name).map(|line| line.value.trim())
    }

    /// The calendar that a file holds; several are put together.
    pub fn read(text: &str) -> Result<Self, ToolsError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut open: Vec<Self> = Vec::new();
        let mut calendar: Option<Self> = None;
        let mut count = 0;
        for (at, raw) in unfold(text).iter().enumerate() {
            let bad = |what: &str| {
                ToolsError::Refused(format!(
                    "this is no iCalendar file: {what} (entry {}: {})",
                    at + 1,
                    raw.chars().take(60).collect::<String>()
                ))
            };
            let line = Line::parse(raw).ok_or_else(|| bad("a line has no name and value"))?;
            let name = line.value.trim().to_ascii_uppercase();
            match line.name.as_str() {
                "BEGIN" => {
                    count += 1;
                    if open.len() >= DEEPEST || count > MOST {
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
            (_, Some(inner)) => Err(ToolsError::Refused(format!(
                "this iCalendar file ends in the middle of {}; get it whole",
                inner.name
            ))),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Component;

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
}
