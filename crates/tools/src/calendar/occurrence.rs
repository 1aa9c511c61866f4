use super::event::{Event, event_components, events, provenance_of};
use super::ics::Component;
use super::recurrence::RuleTimes;
use super::time::{EventTime, instant};
use super::zone::Zone;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::collections::BTreeSet;
use steward_core::provenance::Provenance;

/// Most recurrence steps that are computed, over all events.
const MAX_STEPS: usize = 400_000;

#[derive(Debug, Clone)]
pub(super) struct Occurrence {
    pub event: Event,
    pub start: Timestamp,
    pub end: Timestamp,
    pub repeats: bool,
}

#[derive(Debug, Default)]
pub(super) struct Occurrences {
    pub all: Vec<Occurrence>,
    pub notes: Vec<String>,
    /// That of the events which the notes name.
    pub noted: Provenance,
}

/// All occurrences between `from` and `to`; events without a zone are in `home`.
pub(super) fn occurrences_between(
    calendar: &Component,
    from: Timestamp,
    to: Timestamp,
    home: &TimeZone,
) -> Occurrences {
    let mut found = Occurrences::default();
    let (mut masters, mut changed) = (Vec::new(), Vec::new());
    for (part, event) in event_components(calendar).zip(events(calendar)) {
        match event {
            Ok(event) if event.instead_of.is_some() => changed.push(event),
            Ok(event) => masters.push(event),
            Err(why) => {
                found.notes.push(why);
                found.noted.join(&provenance_of(part));
            }
        }
    }
    let replaced: BTreeSet<(String, Timestamp)> = changed
        .iter()
        .filter_map(|event| {
            let start = event.instead_of.as_ref()?.instant(home).ok()?;
            Some((event.uid.clone(), start))
        })
        .collect();
    let mut search = Search { from, to, home, replaced, left: MAX_STEPS };
    for event in masters.into_iter().chain(changed) {
        if let Err(why) = search.add(&event, &mut found) {
            found.notes.push(format!("{}: {why}", event.title));
            found.noted.join(&event.provenance);
        }
    }
    found.all.sort_by_cached_key(|one| (one.start, one.end, one.event.uid.clone()));
    found
}

struct Search<'a> {
    from: Timestamp,
    to: Timestamp,
    home: &'a TimeZone,
    /// Uids of events, and starts of theirs in whose place a changed version stands.
    replaced: BTreeSet<(String, Timestamp)>,
    left: usize,
}

impl Search<'_> {
    fn add(&mut self, event: &Event, found: &mut Occurrences) -> Result<(), String> {
        if event.cancelled {
            return Ok(());
        }
        let zone = event.start.zone.or(self.home).clone();
        let except = Exclusions::of(&event.except, self.home)?;
        let repeats = event.rule.is_some() || !event.also.is_empty() || event.instead_of.is_some();
        let mut seen = BTreeSet::new();
        let mut put = |at: DateTime, zone: &TimeZone, search: &Self| -> Result<bool, String> {
            let start = instant(at, zone)?;
            if start >= search.to {
                return Ok(false);
            }
            let end = event.length.end(at, zone)?;
            let within = end > search.from || (end == start && start >= search.from);
            let replaced = event.instead_of.is_none() && search.replaced.contains(&(event.uid.clone(), start));
            if within && seen.insert(start) && !except.has(at, start) && !replaced {
                let event = event.clone();
                found.all.push(Occurrence { event, start, end, repeats });
            }
            Ok(true)
        };
        for more in &event.also {
            put(more.at, more.zone.or(self.home), self)?;
        }
        let Some(rule) = &event.rule else {
            put(event.start.at, &zone, self)?;
            return Ok(());
        };
        for at in RuleTimes::new(rule, event.start.at) {
            self.left =
                self.left.checked_sub(1).ok_or("it repeats too often to be looked through; give it a later start")?;
            if rule.until.as_ref().is_some_and(|until| !until_allows(at, &zone, until)) {
                break;
            }
            if !put(at, &zone, self)? {
                break;
            }
        }
        Ok(())
    }
}

/// Whether `UNTIL` allows a time: a date is compared by the clock, an instant as an instant.
fn until_allows(at: DateTime, zone: &TimeZone, until: &EventTime) -> bool {
    if until.all_day {
        return at.date() <= until.at.date();
    }
    match until.zone {
        Zone::Known(_) => match (instant(at, zone), until.instant(zone)) {
            (Ok(at), Ok(until)) => at <= until,
            _ => false,
        },
        _ => at <= until.at,
    }
}

struct Exclusions {
    instants: BTreeSet<Timestamp>,
    days: BTreeSet<DateTime>,
}

impl Exclusions {
    fn of(all: &[EventTime], home: &TimeZone) -> Result<Self, String> {
        let mut except = Self { instants: BTreeSet::new(), days: BTreeSet::new() };
        for one in all {
            if one.all_day {
                except.days.insert(one.at);
            } else {
                except.instants.insert(one.instant(home)?);
            }
        }
        Ok(except)
    }

    fn has(&self, at: DateTime, start: Timestamp) -> bool {
        self.instants.contains(&start) || self.days.contains(&at.date().at(0, 0, 0, 0))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::occurrences_between;
    use crate::calendar::ics::Component;
    use jiff::tz::TimeZone;

    /// Starts within a year from October 2026 on, in UTC.
    fn starts(lines: &str) -> (Vec<String>, Vec<String>) {
        let text = format!(
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nSUMMARY:s\n{}\nEND:VEVENT\nEND:VCALENDAR\n",
            lines.replace('|', "\nEND:VEVENT\nBEGIN:VEVENT\nUID:u\nSUMMARY:changed\n").replace("; ", "\n")
        );
        let home = TimeZone::get("Europe/Berlin").unwrap();
        let at = |text: &str| text.parse().unwrap();
        let calendar = Component::read(&text).unwrap();
        let found = occurrences_between(&calendar, at("2026-10-01T00:00:00Z"), at("2027-10-01T00:00:00Z"), &home);
        let starts = found.all.iter().map(|one| one.start.strftime("%m-%dT%H:%M").to_string());
        (starts.collect(), found.notes)
    }

    #[test]
    fn repeated_events_keep_to_their_own_clock() {
        for (lines, expect) in [
            // Over the end of summer time the clock stays, the instant moves.
            (
                "DTSTART;TZID=Europe/Berlin:20261019T090000; RRULE:FREQ=WEEKLY;COUNT=3",
                "10-19T07:00 10-26T08:00 11-02T08:00",
            ),
            // Where the zone changes at another time.
            (
                "DTSTART;TZID=America/New_York:20261019T090000; RRULE:FREQ=WEEKLY;COUNT=3",
                "10-19T13:00 10-26T13:00 11-02T14:00",
            ),
            ("DTSTART:20261019T090000Z; RRULE:FREQ=WEEKLY;COUNT=3; EXDATE:20261026T090000Z", "10-19T09:00 11-02T09:00"),
            (
                "DTSTART;TZID=Europe/Berlin:20261019T090000; RRULE:FREQ=WEEKLY;UNTIL=20261026T080000Z",
                "10-19T07:00 10-26T08:00",
            ),
            (
                "DTSTART;VALUE=DATE:20261019; RRULE:FREQ=DAILY;UNTIL=20261021; EXDATE;VALUE=DATE:20261020",
                "10-18T22:00 10-20T22:00",
            ),
            (
                "DTSTART:20261019T090000Z; RDATE:20261020T090000Z,20261022T100000Z",
                "10-19T09:00 10-20T09:00 10-22T10:00",
            ),
            // One occurrence was moved, another one cancelled.
            (
                "DTSTART:20261019T090000Z; RRULE:FREQ=DAILY;COUNT=3|RECURRENCE-ID:20261020T090000Z; DTSTART:20261020T150000Z|RECURRENCE-ID:20261021T090000Z; DTSTART:20261021T090000Z; STATUS:CANCELLED",
                "10-19T09:00 10-20T15:00",
            ),
            // Began before, is still going on.
            ("DTSTART:20260930T230000Z; DURATION:PT2H", "09-30T23:00"),
            ("DTSTART:20260930T230000Z; DTEND:20261001T000000Z", ""),
            ("DTSTART:20260101T090000Z; RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", ""),
        ] {
            let (found, notes) = starts(lines);
            assert_eq!(found.join(" "), expect, "{lines}");
            assert!(notes.is_empty(), "{notes:?}");
        }
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        for (lines, expect) in [
            ("LOCATION:x", "it has no start"),
            ("DTSTART:20261019T090000Z; DTEND:20261018T090000Z", "ends before it begins"),
            ("DTSTART:19000101T000000Z; RRULE:FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7,8,9,10,11;BYMINUTE=1,2,3", "too often"),
        ] {
            let (_, notes) = starts(lines);
            assert!(notes.iter().any(|note| note.contains(expect)), "{lines}: {notes:?}");
        }
    }
}
