use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{tidy, without, without_leads};
use crate::read::moment::{Moment, moment};
use jiff::civil::DateTime;
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted};

/// Without a time nothing is proposed: a calendar is no place for guesses.
pub fn create(request: &str, now: DateTime) -> Option<Suggestion> {
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

/// The event's title: the request without its time and cues.
fn title(request: &str, found: &Moment) -> String {
    if let Some(quote) = quoted(request).into_iter().max_by_key(|quote| quote.text.len()) {
        return quote.text.to_owned();
    }
    let words = &lexicon().calendar;
    let mut rest = request.to_owned();
    for span in found.spans.iter().rev() {
        rest = without(&rest, *span);
    }
    let repeats = words.repeat.iter().flat_map(|one| &one.words);
    for phrase in words.place.iter().chain(repeats) {
        if let Some(at) = find(&rest, phrase) {
            rest = without(&rest, (at, at + phrase.len()));
        }
    }
    tidy(without_leads(&rest, &words.lead.iter()).trim_end_matches(['?', ',', ' '])).to_owned()
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
pub fn list(request: &str, now: DateTime) -> Option<Suggestion> {
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

#[cfg(test)]
mod tests {
    use super::{create, list};
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
            let found = create(request, now);
            let arguments = &found.as_ref().unwrap_or_else(|| panic!("{request}")).arguments;
            assert_eq!(arguments["title"], title, "{request}");
            assert_eq!(arguments["start"], start, "{request}");
            assert_eq!(arguments.get("repeat").and_then(|one| one.as_str()), repeat, "{request}");
        }
        assert!(create("Add milk to my calendar", now).is_none());
        assert!(create("Remind me tomorrow at 9 to call the bank.", now).is_none());
    }

    #[test]
    fn days() {
        let now = date(2026, 11, 21).at(9, 0, 0, 0);
        for (request, expect) in [
            ("What's on my calendar tomorrow?", json!({"from": "2026-11-22", "to": "2026-11-22"})),
            ("Do I have any appointments on Friday?", json!({"from": "2026-11-27", "to": "2026-11-27"})),
            ("Show my calendar", json!({})),
        ] {
            assert_eq!(list(request, now).unwrap().arguments, expect, "{request}");
        }
        assert!(list("list my reminders", now).is_none());
    }
}
