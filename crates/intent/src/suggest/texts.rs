//! Tools whose arguments are texts of the request: notes, memory, mail, a search of the web.

use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{after, tidy};
use crate::read::emails;
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted};

/// Words of a note that become its title if none is given.
const TITLE_WORDS: usize = 5;
/// Words of a mail that become its subject.
const SUBJECT_WORDS: usize = 7;

pub fn notes_create(request: &str) -> Option<Suggestion> {
    let lexicon = &lexicon().notes;
    // "Could you note that it leaks?" asks for a note, which asks nothing.
    let request = if request.contains(':') { request } else { request.trim_end_matches(['?', ' ', '\u{a0}']) };
    let text = plain(request);
    let cue = any_phrase(&text, &lexicon.create).or_else(|| any_phrase(&request.to_lowercase(), &lexicon.create))?;
    let title = after(request, &lexicon.title, &lexicon.title_end);
    let rest_from = title.as_ref().map_or(0, |title| title.end);
    let body = after(&request[rest_from..], &lexicon.text, &lexicon.text_end)
        .map(|clause| clause.text.to_owned())
        .or_else(|| {
            let after_title = tidy(&request[rest_from..]);
            (rest_from > 0 && !after_title.is_empty()).then(|| after_title.to_owned())
        })
        .or_else(|| after(request, &lexicon.text, &lexicon.text_end).map(|clause| clause.text.to_owned()));
    let quotes = quoted(request);
    let (title, body, score) = match (title, body) {
        (Some(title), Some(body)) if title.text != body => (title.text.to_owned(), body, 0.95),
        (Some(title), _) => match quotes.iter().find(|quote| quote.text != title.text) {
            Some(quote) => (title.text.to_owned(), quote.text.to_owned(), 0.9),
            None => (title.text.to_owned(), title.text.to_owned(), 0.7),
        },
        // "Note that …" has no other content.
        (None, Some(body)) if text.starts_with(cue) => (short(&body), body, 0.92),
        (None, Some(body)) => (short(&body), body, 0.85),
        (None, None) => {
            let quote = quotes.first()?;
            (short(quote.text), quote.text.to_owned(), 0.8)
        }
    };
    let why = format!("makes the note \"{title}\"");
    Some(Suggestion::new(json!({"title": title, "text": body}), score, why))
}

fn short(text: &str) -> String {
    first_words(text, TITLE_WORDS).trim_end_matches([',', '.', ':', ';']).to_owned()
}

fn first_words(text: &str, most: usize) -> String {
    text.split_whitespace().take(most).collect::<Vec<_>>().join(" ")
}

pub fn save_memory(request: &str) -> Option<Suggestion> {
    let lexicon = &lexicon().memory;
    // A question about what is remembered is nothing to remember.
    let asks = request.trim_end().ends_with('?');
    let keep = |text: &str, mode: &str| json!({"text": sentence(text), "mode": mode});
    if let Some(clause) = after(request, &lexicon.replace, &[]) {
        return Some(Suggestion::new(keep(clause.text, "replace"), 0.9, "replaces the memory"));
    }
    if let Some(clause) = after(request, &lexicon.cues, &[]) {
        let early = request[..clause.cue_start].split_whitespace().count() <= 4;
        let cue = &request[clause.cue_start..clause.start];
        let keeps = cue.to_lowercase().ends_with(" my") || cue.to_lowercase().ends_with(" i");
        let fact =
            if keeps { tidy(&request[clause.start - cue.len() + cue.rfind(' ').unwrap_or(0)..]) } else { clause.text };
        let score = match (asks, early) {
            (true, _) => 0.3,
            (false, true) => 0.94,
            (false, false) => 0.7,
        };
        return Some(Suggestion::new(keep(fact, "append"), score, "keeps a fact for later"));
    }
    let states = !asks && any_phrase(&plain(request), &lexicon.facts).is_some();
    states.then(|| Suggestion::new(keep(tidy(request), "append"), 0.6, "states a fact about the user"))
}

fn sentence(text: &str) -> String {
    let text = text.trim_start_matches([',', ':', ' ']);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

pub fn mail_draft(request: &str) -> Option<Suggestion> {
    let lexicon = &lexicon().mail;
    let cue = any_phrase(&plain(request), &lexicon.cues)?;
    let to = emails(request).into_iter().next()?;
    // The cue may hold "to", so the rest is read after the address if more follows there.
    let from = request.find(&to).map_or(0, |at| at + to.len());
    let said = |cues: &[String], ends: &[String]| {
        let clause = after(&request[from..], cues, ends).or_else(|| after(request, cues, ends));
        clause.map(|clause| clause.text.to_owned())
    };
    let subject = said(&lexicon.subject, &lexicon.subject_end);
    let quote = || quoted(request).last().map(|quote| quote.text.to_owned());
    let body = said(&lexicon.body, &lexicon.body_end).or_else(quote);
    let explicit = cue.contains(' ');
    let (subject, body, score) = match (subject, body) {
        (Some(subject), Some(body)) => (subject, body, 0.95),
        (Some(subject), None) => (subject.clone(), subject, 0.85),
        (None, Some(body)) => (first_words(&body, SUBJECT_WORDS), body, 0.88),
        (None, None) => return None,
    };
    let score = if explicit { score } else { score - 0.1 };
    Some(Suggestion::new(json!({"to": to, "subject": subject, "body": body}), score, format!("drafts a mail to {to}")))
}

pub fn mail_list(request: &str) -> Option<Suggestion> {
    let words = &lexicon().inbox;
    let plain = plain(request);
    any_phrase(&plain, &words.cues)?;
    if any_phrase(&plain, &words.unread).is_some() {
        let why = "shows unread mail";
        return Some(Suggestion::new(json!({"unread": true}), 0.93, why));
    }
    Some(Suggestion::new(json!({}), 0.9, "shows the latest mail"))
}

pub fn web_search(request: &str) -> Option<Suggestion> {
    let words = &lexicon().search;
    any_phrase(&plain(request), &words.cues)?;
    let clause = after(request, &words.before, &words.end).map(|clause| clause.text.to_owned());
    let quote = quoted(request).first().map(|quote| quote.text.to_owned());
    let said = clause.is_some() || quote.is_some();
    let query = clause.or(quote).unwrap_or_else(|| tidy(request).to_owned());
    let query = query.trim_end_matches(['?', '!', '.']).trim().to_owned();
    if query.is_empty() || query.chars().count() > 400 {
        return None;
    }
    let worth = if said { 0.95 } else { 0.7 };
    let why = format!("searches the web for \"{query}\"");
    Some(Suggestion::new(json!({"query": query}), worth, why))
}

#[cfg(test)]
mod tests {
    use super::web_search;

    #[test]
    fn queries() {
        for (request, expect) in [
            ("Search the web for rust async patterns.", "rust async patterns"),
            ("google the opening hours of the Louvre", "the opening hours of the Louvre"),
            ("Look up online who won the 2022 world cup and tell me", "who won the 2022 world cup"),
            ("Do a web search for \"heat pump subsidies\"", "heat pump subsidies"),
            ("Suche im Internet nach Fahrplan Wien Graz", "Fahrplan Wien Graz"),
        ] {
            let found = web_search(request);
            assert_eq!(found.unwrap().arguments["query"], expect, "{request}");
        }
        assert!(web_search("search the logs for errors").is_none());
    }
}
