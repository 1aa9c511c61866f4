use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{tidy, without, without_leads};
use crate::read::moment::{Moment, moment};
use jiff::civil::{DateTime, Time};
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted};

pub fn suggest(request: &str, now: DateTime) -> Option<Suggestion> {
    let lexicon = lexicon();
    let plain = plain(request);
    let cue = any_phrase(&plain, &lexicon.reminders.create)?;
    if any_phrase(&plain, &lexicon.reminders.list).is_some() && !cue.contains("remind me") {
        return None;
    }
    let found = moment(request, now, &lexicon.time);
    let mut text = text(request, found.as_ref());
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

/// What to be reminded of: the request without its time and its cue.
fn text(request: &str, found: Option<&Moment>) -> String {
    if let Some(quote) = quoted(request).into_iter().max_by_key(|quote| quote.text.len()) {
        return quote.text.to_owned();
    }
    let mut rest = request.to_owned();
    for span in found.into_iter().flat_map(|moment| moment.spans.iter().rev()) {
        rest = without(&rest, *span);
    }
    let lexicon = &lexicon().reminders;
    tidy(without_leads(&rest, &lexicon.lead.iter().chain(&lexicon.text)).trim_end_matches('?')).to_owned()
}
