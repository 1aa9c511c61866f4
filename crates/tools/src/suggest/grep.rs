//! Proposals for `grep`.

use super::extract::clause::{after, tidy};
use super::extract::path::PathMatch;
use super::extract::quoted::quoted;
use super::extract::text::{any_phrase, has_phrase, plain, words};
use super::lexicon::lexicon;
use super::{View, ranked, suggestion};
use serde_json::{Map, json};
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// What to search for, best first.
pub fn suggest(request: &str, scope: &ToolScope) -> Vec<Suggestion> {
    let view = View::look(scope);
    let lexicon = &lexicon().grep;
    let text = plain(request);
    let cue = any_phrase(&text, &lexicon.cues).is_some();
    if !cue {
        return Vec::new();
    }
    let place = place(request, &view);
    let files = any_phrase(&text, &lexicon.files).is_some();
    let lines = [
        "lines",
        "line",
        "entries",
        "entry",
        "occurrences",
        "messages",
    ]
    .iter()
    .any(|noun| has_phrase(&text, noun));
    let mut found = Vec::new();
    for (pattern, sure) in patterns(request, place.as_ref()) {
        let mut arguments = Map::from_iter([("pattern".to_owned(), json!(pattern))]);
        let mut worth: f32 = sure;
        if let Some(place) = &place {
            arguments.insert("path".into(), json!(place.path));
            worth += 0.1 * place.score;
            if super::is_database(&place.path) {
                worth *= 0.3;
            }
        } else if !files && !lines && !has_phrase(&text, "grep") && !has_phrase(&text, "search") {
            worth *= 0.5;
        }
        if files || lines {
            worth += 0.08;
        }
        // "ERROR" is a level and not the word "error"; other words are meant in any case.
        arguments.insert("ignore_case".into(), json!(!level(&pattern)));
        arguments.insert("fixed".into(), json!(true));
        let why = match &place {
            Some(place) => format!("looks for \"{pattern}\" in {}", place.path),
            None => format!("looks for \"{pattern}\" in all files"),
        };
        found.push(suggestion(arguments.into(), worth.min(0.97), why));
    }
    ranked(found, 3)
}

/// Whether a pattern is written all in capitals.
pub fn level(pattern: &str) -> bool {
    pattern.chars().any(char::is_alphabetic) && !pattern.chars().any(char::is_lowercase)
}

/// The file or folder that is searched.
pub fn place(request: &str, view: &View) -> Option<PathMatch> {
    view.named(request)
        .into_iter()
        .find(|found| found.score >= if found.folder { 0.55 } else { 0.6 })
}

/// What the request looks for, with how sure that is.
pub fn patterns(request: &str, place: Option<&PathMatch>) -> Vec<(String, f32)> {
    let lexicon = &lexicon().grep;
    let mut found: Vec<(String, f32)> = Vec::new();
    for quote in quoted(request) {
        if place.is_none_or(|place| quote.start >= place.span.1 || quote.end <= place.span.0) {
            found.push((quote.text.to_owned(), 0.86));
        }
    }
    if found.is_empty()
        && let Some(clause) = after(request, &lexicon.before, &lexicon.after)
    {
        // "Where do we talk about X": the last cue stands before what is meant.
        let mut text = clause.text;
        while let Some(inner) = after(text, &lexicon.before, &lexicon.after)
            .filter(|inner| inner.cue_start > 0 || inner.text.len() < text.len())
        {
            text = inner.text;
        }
        let pattern = without_leading(text, &lexicon.leading);
        if !pattern.is_empty() && !is_place(&pattern, place) {
            let count = pattern.split_whitespace().count();
            let sure = match count {
                1 => 0.82,
                2 | 3 => 0.7,
                _ => 0.45,
            };
            found.push((pattern, sure));
        }
    }
    // A word in capitals, or written with a capital inside the sentence, is most often what is meant.
    for word in words(request).iter().skip(1) {
        let capital = word.text.chars().next().is_some_and(char::is_uppercase)
            && word.text.chars().count() > 1;
        if capital
            && !is_place(word.text, place)
            && !found.iter().any(|(known, _)| known.contains(word.text))
        {
            let sure = if level(word.text) { 0.78 } else { 0.6 };
            found.push((word.text.to_owned(), sure));
        }
    }
    found
}

fn is_place(text: &str, place: Option<&PathMatch>) -> bool {
    place.is_some_and(|place| {
        place.path.eq_ignore_ascii_case(text)
            || place
                .path
                .to_lowercase()
                .ends_with(&format!("/{}", text.to_lowercase()))
    })
}

fn without_leading(text: &str, leading: &[String]) -> String {
    let mut rest = tidy(text.trim_end_matches(['?', '!']));
    while let Some((first, tail)) = rest.split_once(' ') {
        if !leading.iter().any(|word| word.eq_ignore_ascii_case(first)) {
            break;
        }
        rest = tail.trim_start();
    }
    if leading.iter().any(|word| word.eq_ignore_ascii_case(rest)) {
        String::new()
    } else {
        tidy(rest).to_owned()
    }
}
