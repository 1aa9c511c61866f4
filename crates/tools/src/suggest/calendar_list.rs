//! Proposals for `calendar_list`.

use super::extract::moment::moment;
use super::lexicon::lexicon;
use super::{View, suggestion};
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::text::{any_phrase, plain};
use steward_core::tool::Suggestion;

/// The look at the calendar that is asked for: of a day where one is said, else of the next weeks.
pub fn suggest(request: &str, scope: &ToolScope) -> Vec<Suggestion> {
    let lexicon = lexicon();
    let plain = plain(request);
    if any_phrase(&plain, &lexicon.calendar.list).is_none() {
        return Vec::new();
    }
    let day = moment(request, View::look(scope).now, &lexicon.time).filter(|found| found.day);
    let Some(day) = day else {
        return vec![suggestion(json!({}), 0.9, "shows the next two weeks of the calendar")];
    };
    let day = day.at.date().to_string();
    let why = format!("shows the calendar of {day}");
    vec![suggestion(json!({"from": day, "to": day}), 0.93, why)]
}

#[cfg(test)]
mod tests {
    use super::suggest;
    use crate::suggest::view::tests_scope;
    use serde_json::json;

    #[test]
    fn days() {
        let scope = tests_scope();
        for (request, expect) in [
            ("What's on my calendar tomorrow?", json!({"from": "2026-11-22", "to": "2026-11-22"})),
            ("Do I have any appointments on Friday?", json!({"from": "2026-11-27", "to": "2026-11-27"})),
            ("Show my calendar", json!({})),
        ] {
            assert_eq!(suggest(request, &scope)[0].arguments, expect, "{request}");
        }
        assert!(suggest("list my reminders", &scope).is_empty());
    }
}
