use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::moment::moment;
use jiff::civil::DateTime;
use serde_json::json;
use steward_core::text::{any_phrase, plain};

/// Lists a day if one is given, else the next weeks.
pub fn suggest(request: &str, now: DateTime) -> Option<Suggestion> {
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
    use super::suggest;
    use jiff::civil::date;
    use serde_json::json;

    #[test]
    fn days() {
        let now = date(2026, 11, 21).at(9, 0, 0, 0);
        for (request, expect) in [
            ("What's on my calendar tomorrow?", json!({"from": "2026-11-22", "to": "2026-11-22"})),
            ("Do I have any appointments on Friday?", json!({"from": "2026-11-27", "to": "2026-11-27"})),
            ("Show my calendar", json!({})),
        ] {
            assert_eq!(suggest(request, now).unwrap().arguments, expect, "{request}");
        }
        assert!(suggest("list my reminders", now).is_none());
    }
}
