//! An event read from its component, and changes of events that can be taken back.

use super::ics::{Component, Line, unescape};
use super::recurrence::Rule;
use super::time::{EventLength, EventTime};
use crate::error::ToolsError;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::json;
use steward_core::hash;
use steward_core::provenance::Provenance;
use steward_core::tool::Settled;

/// Holds where an event comes from, if that is said of it, as JSON.
pub(super) const PROVENANCE: &str = "X-STEWARD-PROVENANCE";

#[derive(Debug, Clone)]
pub(super) struct Event {
    pub uid: String,
    pub title: String,
    pub start: EventTime,
    pub length: EventLength,
    pub rule: Option<Rule>,
    /// Further starts.
    pub also: Vec<EventTime>,
    pub except: Vec<EventTime>,
    /// The start of the occurrence that this one replaces.
    pub instead_of: Option<EventTime>,
    pub place: String,
    pub description: String,
    pub cancelled: bool,
    pub provenance: Provenance,
    /// What can't be understood.
    pub notes: Vec<String>,
}

/// Marks an event, if there is something to say.
pub(super) fn provenance_line(provenance: &Provenance) -> Option<Line> {
    (!provenance.is_empty()).then(|| Line::text(PROVENANCE, &json!(provenance).to_string()))
}

pub(super) fn provenance_of(part: &Component) -> Provenance {
    let Some(line) = part.line(PROVENANCE) else { return Provenance::default() };
    // The file may have been edited by hand.
    serde_json::from_str(&unescape(&line.value)).unwrap_or_else(|_| Provenance::from_outside("the calendar"))
}

pub(super) fn short_id(uid: &str) -> String {
    hash::sha256(uid.as_bytes())[..8].to_owned()
}

pub(super) fn event_components(calendar: &Component) -> impl Iterator<Item = &Component> {
    calendar.parts.iter().filter(|part| part.name == "VEVENT")
}

pub(super) fn events(calendar: &Component) -> impl Iterator<Item = Result<Event, String>> {
    event_components(calendar).map(Event::read)
}

impl Event {
    pub fn read(part: &Component) -> Result<Self, String> {
        let text = |name: &str| part.line(name).map(|line| unescape(&line.value)).unwrap_or_default();
        let title = text("SUMMARY").trim().to_owned();
        let named = if title.is_empty() { "an event without a title" } else { &title };
        let broken = |why: String| format!("{named}: {why}");
        let start = part.line("DTSTART").ok_or_else(|| broken("it has no start".to_owned()))?;
        let start = EventTime::one(start).map_err(broken)?;
        let uid = match part.value("UID") {
            Some(uid) if !uid.is_empty() => uid.to_owned(),
            // Required, but some programs omit it. The hash gives the same id each time.
            _ => format!("{}@without-uid", short_id(&part.text())),
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
        let many = |name: &str| -> Result<Vec<EventTime>, String> {
            let lines = part.lines.iter().filter(|line| line.name == name);
            let all: Result<Vec<_>, _> = lines.map(EventTime::all).collect();
            Ok(all.map_err(&broken)?.into_iter().flatten().collect())
        };
        let instead_of = part.line("RECURRENCE-ID").map(EventTime::one).transpose();
        Ok(Self {
            length: event_length(part, &start).map_err(broken)?,
            also: many("RDATE")?,
            except: many("EXDATE")?,
            instead_of: instead_of.map_err(broken)?,
            place: text("LOCATION"),
            description: text("DESCRIPTION"),
            cancelled: part.value("STATUS").is_some_and(|one| one.eq_ignore_ascii_case("CANCELLED")),
            provenance: provenance_of(part),
            uid,
            title: if title.is_empty() { "(no title)".to_owned() } else { title },
            start,
            rule,
            notes,
        })
    }
}

fn event_length(part: &Component, start: &EventTime) -> Result<EventLength, String> {
    if let Some(end) = part.line("DTEND") {
        let end = EventTime::one(end)?;
        if start.all_day && end.all_day {
            let days = start.at.date().until(end.at.date()).map_err(|error| error.to_string())?;
            return Ok(EventLength::Days(days.get_days().max(1)));
        }
        // Start and end may be in different zones; an unknown zone counts as UTC.
        let (from, to) = (start.instant(&TimeZone::UTC)?, end.instant(&TimeZone::UTC)?);
        let length = to.duration_since(from);
        if length.is_negative() {
            return Err("it ends before it begins".to_owned());
        }
        return Ok(EventLength::Exact(length));
    }
    match part.value("DURATION") {
        Some(text) => EventLength::read(text),
        None if start.all_day => Ok(EventLength::Days(1)),
        None => Ok(EventLength::Exact(jiff::SignedDuration::ZERO)),
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Change {
    pub uid: String,
    /// Index among the calendar's components.
    pub at: usize,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UndoRecord {
    pub calendar: String,
    pub changes: Vec<Change>,
    #[serde(default)]
    pub zones: Vec<String>,
}

pub(super) fn event_uid(part: &Component) -> Option<String> {
    if part.name != "VEVENT" {
        return None;
    }
    match part.value("UID").filter(|uid| !uid.is_empty()) {
        Some(uid) => Some(uid.to_owned()),
        None => Event::read(part).ok().map(|event| event.uid),
    }
}

fn is_of_event(part: &Component, uid: &str) -> bool {
    event_uid(part).is_some_and(|known| known == uid)
}

pub(super) fn event_parts<'c>(calendar: &'c Component, uid: &'c str) -> impl Iterator<Item = &'c Component> {
    calendar.parts.iter().filter(move |part| is_of_event(part, uid))
}

pub(super) fn event_texts(calendar: &Component, uid: &str) -> Vec<String> {
    event_parts(calendar, uid).map(Component::text).collect()
}

/// Adds a new event. If there is one with its uid, this very call has made it before a crash; a person may have changed
/// it since, and it stays.
pub(super) fn add_event(calendar: &mut Component, uid: &str, event: Component) -> Change {
    let known = event_texts(calendar, uid);
    if known.is_empty() {
        return replace_event(calendar, uid, vec![event]);
    }
    Change { uid: uid.to_owned(), at: event_position(calendar, uid), before: Vec::new(), after: known }
}

fn event_position(calendar: &Component, uid: &str) -> usize {
    calendar.parts.iter().position(|part| is_of_event(part, uid)).unwrap_or(calendar.parts.len())
}

/// Replaces the event by `new`; an empty `new` removes it.
pub(super) fn replace_event(calendar: &mut Component, uid: &str, new: Vec<Component>) -> Change {
    let (before, at) = (event_texts(calendar, uid), event_position(calendar, uid));
    let after = new.iter().map(Component::text).collect();
    replace_parts(calendar, uid, at, new);
    Change { uid: uid.to_owned(), at, before, after }
}

fn replace_parts(calendar: &mut Component, uid: &str, at: usize, new: Vec<Component>) {
    calendar.parts.retain(|part| !is_of_event(part, uid));
    let at = at.min(calendar.parts.len());
    calendar.parts.splice(at..at, new);
}

/// Undoes changes, the last one first; refuses if an event has changed since.
pub(super) fn undo_changes(calendar: &mut Component, kept: &UndoRecord) -> Result<String, ToolsError> {
    let back = |change: &Change| event_texts(calendar, &change.uid) == change.before;
    if !kept.changes.is_empty() && kept.changes.iter().all(back) {
        return Ok("the calendar is as it was before already".to_owned());
    }
    for change in kept.changes.iter().rev() {
        if event_texts(calendar, &change.uid) != change.after {
            return Err(ToolsError::ChangedSince {
                what: "an event of the calendar".to_owned(),
                hint: "look at the calendar and change it by hand",
            });
        }
        let parts: Result<Vec<_>, _> = change.before.iter().map(|text| parse_event(text)).collect();
        replace_parts(calendar, &change.uid, change.at, parts?);
    }
    calendar.parts.retain(|part| {
        let name = part.value("TZID").unwrap_or_default();
        part.name != "VTIMEZONE" || !kept.zones.iter().any(|zone| zone == name)
    });
    let count = kept.changes.len();
    let restored = kept.changes.iter().filter(|change| !change.before.is_empty()).count();
    Ok(match (count, restored) {
        (1, 0) => "removed the event from the calendar".to_owned(),
        (1, _) => "restored the event in the calendar".to_owned(),
        _ => format!("took {count} changes of the calendar back"),
    })
}

/// Whether the calendar is as the changes leave it.
pub(super) fn settle_changes(calendar: &Component, kept: &UndoRecord) -> Settled {
    let all = |side: fn(&Change) -> &Vec<String>| {
        let mut changes = kept.changes.iter();
        changes.all(|change| event_texts(calendar, &change.uid) == *side(change))
    };
    // First, since what stays the same may be written again.
    if all(|change| &change.before) {
        Settled::NotHappened("the calendar is as it was before".to_owned())
    } else if all(|change| &change.after) {
        Settled::Happened("the calendar is as this call leaves it".to_owned())
    } else {
        Settled::Unknown("somebody else has changed the calendar since".to_owned())
    }
}

fn parse_event(text: &str) -> Result<Component, ToolsError> {
    let damaged = || ToolsError::NoUndo("the snapshot is damaged".to_owned());
    let whole = format!("BEGIN:VCALENDAR\r\n{text}END:VCALENDAR\r\n");
    let mut calendar = Component::read(&whole).map_err(|_| damaged())?;
    calendar.parts.pop().filter(|part| part.name == "VEVENT").ok_or_else(damaged)
}
