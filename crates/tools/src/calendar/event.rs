//! An event, read from its component.

use super::component::Component;
use super::line::unescape;
use super::rule::Rule;
use super::value::{Length, When};
use jiff::tz::TimeZone;
use steward_core::hash;

/// Says which file an event came from, if it is not one of ours.
pub(super) const ORIGIN: &str = "X-STEWARD-ORIGIN";

/// What a calendar says of one event, or of one changed occurrence of it.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub uid: String,
    pub title: String,
    pub start: When,
    pub length: Length,
    pub rule: Option<Rule>,
    /// Further starts.
    pub also: Vec<When>,
    /// Starts that are left out.
    pub except: Vec<When>,
    /// The start of the occurrence that this one stands for.
    pub instead_of: Option<When>,
    pub place: String,
    pub description: String,
    pub cancelled: bool,
    /// The file that it was imported from.
    pub origin: Option<String>,
    /// What of it can't be understood.
    pub notes: Vec<String>,
}

/// The short name of an event, which people and models give back.
pub(super) fn short(uid: &str) -> String {
    hash::sha256(uid.as_bytes())[..8].to_owned()
}

/// Events of a calendar, those that can't be read as errors.
pub(super) fn events(calendar: &Component) -> impl Iterator<Item = Result<Event, String>> {
    calendar.parts.iter().filter(|part| part.name == "VEVENT").map(Event::read)
}

impl Event {
    pub fn read(part: &Component) -> Result<Self, String> {
        let text = |name: &str| part.line(name).map(|line| unescape(&line.value)).unwrap_or_default();
        let title = text("SUMMARY").trim().to_owned();
        let named = if title.is_empty() { "an event without a title" } else { &title };
        let broken = |why: String| format!("{named}: {why}");
        let start = part.line("DTSTART").ok_or_else(|| broken("it has no start".to_owned()))?;
        let start = When::one(start).map_err(broken)?;
        let uid = match part.value("UID") {
            Some(uid) if !uid.is_empty() => uid.to_owned(),
            // Required, yet missing now and then; the same file gives the same one.
            _ => format!("{}@without-uid", short(&part.text())),
        };
        let mut notes = Vec::new();
        let mut rule = None;
        match part.value("RRULE").map(Rule::read) {
            Some(Ok(read)) => rule = Some(read),
            Some(Err(why)) => notes.push(format!("only its first time is shown: {why}")),
            None => {}
        }
        if part.lines.iter().filter(|line| line.name == "RRULE").count() > 1 {
            notes.push("only the first of its rules of repetition is used".to_owned());
        }
        if let super::zone::Zone::Unknown(name) = &start.zone {
            notes.push(format!("the time zone {name} is not known here; its times are shown as written"));
        }
        let many = |name: &str| -> Result<Vec<When>, String> {
            let lines = part.lines.iter().filter(|line| line.name == name);
            let all: Result<Vec<_>, _> = lines.map(When::all).collect();
            Ok(all.map_err(&broken)?.into_iter().flatten().collect())
        };
        let instead_of = part.line("RECURRENCE-ID").map(When::one).transpose();
        Ok(Self {
            length: length(part, &start).map_err(broken)?,
            also: many("RDATE")?,
            except: many("EXDATE")?,
            instead_of: instead_of.map_err(broken)?,
            place: text("LOCATION"),
            description: text("DESCRIPTION"),
            cancelled: part.value("STATUS").is_some_and(|one| one.eq_ignore_ascii_case("CANCELLED")),
            origin: part.line(ORIGIN).map(|line| unescape(&line.value)),
            uid,
            title: if title.is_empty() { "(no title)".to_owned() } else { title },
            start,
            rule,
            notes,
        })
    }
}

fn length(part: &Component, start: &When) -> Result<Length, String> {
    if let Some(end) = part.line("DTEND") {
        let end = When::one(end)?;
        if start.all_day && end.all_day {
            let days = start.at.date().until(end.at.date()).map_err(|error| error.to_string())?;
            return Ok(Length::Days(days.get_days().max(1)));
        }
        // Both ends are told by clocks; where a zone isn't known, both are taken to be of UTC.
        let (from, to) = (start.instant(&TimeZone::UTC)?, end.instant(&TimeZone::UTC)?);
        let length = to.duration_since(from);
        if length.is_negative() {
            return Err("it ends before it begins".to_owned());
        }
        return Ok(Length::Exact(length));
    }
    match part.value("DURATION") {
        Some(text) => Length::read(text),
        None if start.all_day => Ok(Length::Days(1)),
        None => Ok(Length::Exact(jiff::SignedDuration::ZERO)),
    }
}
