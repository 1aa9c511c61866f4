//! Changes of a calendar, and taking them back.

use super::component::Component;
use super::event::Event;
use crate::error::ToolsError;
use serde::{Deserialize, Serialize};

/// An event before and after, as in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Change {
    pub uid: String,
    /// Its place among the parts of the calendar.
    pub at: usize,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// What is needed to take changes back.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub calendar: String,
    pub changes: Vec<Change>,
    /// Names of the time zones that came along.
    #[serde(default)]
    pub zones: Vec<String>,
}

/// The id of a `VEVENT`, be it readable or not.
pub(super) fn uid_of(part: &Component) -> Option<String> {
    if part.name != "VEVENT" {
        return None;
    }
    match part.value("UID").filter(|uid| !uid.is_empty()) {
        Some(uid) => Some(uid.to_owned()),
        None => Event::read(part).ok().map(|event| event.uid),
    }
}

/// The parts of one event, in order.
pub(super) fn parts<'c>(calendar: &'c Component, uid: &'c str) -> impl Iterator<Item = (usize, &'c Component)> {
    let parts = calendar.parts.iter().enumerate();
    parts.filter(move |(_, part)| uid_of(part).is_some_and(|known| known == uid))
}

pub(super) fn texts(calendar: &Component, uid: &str) -> Vec<String> {
    parts(calendar, uid).map(|(_, part)| part.text()).collect()
}

/// Puts `new` in the place of the event; none removes it.
pub(super) fn put(calendar: &mut Component, uid: &str, new: Vec<Component>) -> Change {
    let before = texts(calendar, uid);
    let first = parts(calendar, uid).next().map(|(at, _)| at);
    let at = first.unwrap_or(calendar.parts.len());
    let after = new.iter().map(Component::text).collect();
    replace(calendar, uid, at, new);
    Change { uid: uid.to_owned(), at, before, after }
}

fn replace(calendar: &mut Component, uid: &str, at: usize, new: Vec<Component>) {
    calendar.parts.retain(|part| uid_of(part).is_none_or(|known| known != uid));
    let at = at.min(calendar.parts.len());
    calendar.parts.splice(at..at, new);
}

/// Takes changes back, the last one first; refuses if an event has changed since.
pub(super) fn undo(calendar: &mut Component, kept: &Kept) -> Result<String, ToolsError> {
    let back = |change: &Change| texts(calendar, &change.uid) == change.before;
    if !kept.changes.is_empty() && kept.changes.iter().all(back) {
        return Ok("the calendar is as it was before already".to_owned());
    }
    for change in kept.changes.iter().rev() {
        if texts(calendar, &change.uid) != change.after {
            return Err(ToolsError::ChangedSince {
                what: "an event of the calendar".to_owned(),
                hint: "look at the calendar and change it by hand",
            });
        }
        let parts: Result<Vec<_>, _> = change.before.iter().map(|text| part(text)).collect();
        replace(calendar, &change.uid, change.at, parts?);
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

pub(super) fn part(text: &str) -> Result<Component, ToolsError> {
    let damaged = || ToolsError::NoUndo("the snapshot is damaged".to_owned());
    let whole = format!("BEGIN:VCALENDAR\r\n{text}END:VCALENDAR\r\n");
    let mut calendar = Component::read(&whole).map_err(|_| damaged())?;
    calendar.parts.pop().filter(|part| part.name == "VEVENT").ok_or_else(damaged)
}
