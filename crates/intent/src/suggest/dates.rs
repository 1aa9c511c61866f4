//! Tools whose arguments are a time and what it is about: the calendar, reminders.

use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{tidy, without, without_leads};
use crate::read::moment::{Moment, moment};
use jiff::civil::{DateTime, Time};
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted};

/// Without a time nothing is proposed: a calendar is no place for guesses.
pub fn calendar_create(request: &str, now: DateTime) -> Option<Suggestion> {
    let lexicon = lexicon();
    let plain = plain(request);
    any_phrase(&plain, &lexicon.calendar.create)?;
    let found = moment(request, now, &lexicon.time)?;
    let title = title(request, &found);
    if title.is_empty() {
        return None;
    }
    let start = if found.time { found.at.strftime("%Y-%m-%dT%H:%M").to_string() } else { found.at.date().to_string() };
    let mut arguments = json!({"title": title, "start": start});
    let mut repeats = lexicon.calendar.repeat.iter();
    let repeat = repeats.find(|one| any_phrase(&plain, &one.words).is_some());
    if let Some(repeat) = repeat {
        arguments["repeat"] = json!(repeat.rule);
    }
    let why = format!("puts \"{title}\" into the calendar");
    Some(Suggestion::new(arguments, 0.95, why))
}

/// The event's title: what is said without its time and cues.
fn title(request: &str, found: &Moment) -> String {
    let words = &lexicon().calendar;
    let repeats = words.repeat.iter().flat_map(|one| &one.words);
    said(request, Some(found), |mut rest| {
        for phrase in words.place.iter().chain(repeats) {
            if let Some(at) = find(&rest, phrase) {
                rest = without(&rest, (at, at + phrase.len()));
            }
        }
        tidy(without_leads(&rest, &words.lead.iter()).trim_end_matches(['?', ',', ' '])).to_owned()
    })
}

/// The longest quotation, else what `tidied` leaves of the request without its time.
fn said(request: &str, found: Option<&Moment>, tidied: impl FnOnce(String) -> String) -> String {
    if let Some(quote) = quoted(request).into_iter().max_by_key(|quote| quote.text.len()) {
        return quote.text.to_owned();
    }
    let spans = found.into_iter().flat_map(|moment| moment.spans.iter().rev());
    tidied(spans.fold(request.to_owned(), |rest, span| without(&rest, *span)))
}

/// Position of a phrase as whole words, whatever the case.
fn find(text: &str, phrase: &str) -> Option<usize> {
    let wordy = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.char_indices().map(|(at, _)| at).find(|&at| {
        text.get(at..at + phrase.len()).is_some_and(|piece| piece.to_lowercase() == phrase)
            && !wordy(text[..at].chars().next_back())
            && !wordy(text[at + phrase.len()..].chars().next())
    })
}

/// Lists a day if one is given, else the next weeks.
pub fn calendar_list(request: &str, now: DateTime) -> Option<Suggestion> {
    let lexicon = lexicon();
    let plain = plain(request);
    any_phrase(&plain, &lexicon.calendar.list)?;
    let day = moment(request, now, &lexicon.time).filter(|found| found.day);
    let Some(day) = day else {
        return Some(Suggestion::new(json!({}), 0.9, "shows the next two weeks of the calendar"));
    };
    let day = day.at.date().to_string();
    let why = format!("shows the calendar of {day}");
    Some(Suggestion::new(json!({"from": day, "to": day}), 0.93, why))
}

pub fn reminders_create(request: &str, now: DateTime) -> Option<Suggestion> {
    let lexicon = lexicon();
    let plain = plain(request);
    let cue = any_phrase(&plain, &lexicon.reminders.create)?;
    if any_phrase(&plain, &lexicon.reminders.list).is_some() && !cue.contains("remind me") {
        return None;
    }
    let found = moment(request, now, &lexicon.time);
    let words = &lexicon.reminders;
    let mut text = said(request, found.as_ref(), |rest| {
        tidy(without_leads(&rest, &words.lead.iter().chain(&words.text)).trim_end_matches('?')).to_owned()
    });
    if text.is_empty() {
        // "Set an alarm for 6:30" says only when.
        found.as_ref()?;
        cue.clone_into(&mut text);
    }
    let (at, worth, said) = if let Some(moment) = &found {
        (moment.at, 0.96, "at that time")
    } else {
        let tomorrow = now.date().tomorrow().unwrap_or(now.date());
        (tomorrow.to_datetime(Time::constant(9, 0, 0, 0)), 0.72, "no time was said: tomorrow at 9")
    };
    let at = at.strftime("%Y-%m-%dT%H:%M").to_string();
    Some(Suggestion::new(json!({"text": text, "at": at}), worth, format!("reminds of \"{text}\", {said}")))
}

#[cfg(test)]
mod tests {
    use super::{calendar_create, calendar_list};
    use jiff::civil::date;
    use serde_json::json;

    #[test]
    fn events() {
        // 2026-11-21 is a Saturday; it is 9 in the morning.
        let now = date(2026, 11, 21).at(9, 0, 0, 0);
        for (request, title, start, repeat) in [
            (
                "Add a dentist appointment to my calendar on Monday at 14:30.",
                "dentist appointment",
                "2026-11-23T14:30",
                None,
            ),
            ("Put lunch with Ann in my calendar tomorrow at noon", "lunch with Ann", "2026-11-22T12:00", None),
            (
                "Schedule a meeting called \"Budget review\" on December 2 at 5pm",
                "Budget review",
                "2026-12-02T17:00",
                None,
            ),
            ("Create a calendar event for Omar's birthday on 2026-12-05", "Omar's birthday", "2026-12-05", None),
            (
                "Add team standup to the calendar every week on Monday at 9:00",
                "team standup",
                "2026-11-23T09:00",
                Some("weekly"),
            ),
            ("Trage am 3. Dezember um 8 Uhr Zahnarzt in meinen Kalender ein", "Zahnarzt", "2026-12-03T08:00", None),
        ] {
            let found = calendar_create(request, now);
            let arguments = &found.as_ref().unwrap_or_else(|| panic!("{request}")).arguments;
            assert_eq!(arguments["title"], title, "{request}");
            assert_eq!(arguments["start"], start, "{request}");
            assert_eq!(arguments.get("repeat").and_then(|one| one.as_str()), repeat, "{request}");
        }
        assert!(calendar_create("Add milk to my calendar", now).is_none());
        assert!(calendar_create("Remind me tomorrow at 9 to call the bank.", now).is_none());
    }

    #[test]
    fn days() {
        let now = date(2026, 11, 21).at(9, 0, 0, 0);
        for (request, expect) in [
            ("What's on my calendar tomorrow?", json!({"from": "2026-11-22", "to": "2026-11-22"})),
            ("Do I have any appointments on Friday?", json!({"from": "2026-11-27", "to": "2026-11-27"})),
            ("Show my calendar", json!({})),
        ] {
            assert_eq!(calendar_list(request, now).unwrap().arguments, expect, "{request}");
        }
        assert!(calendar_list("list my reminders", now).is_none());
    }
}
