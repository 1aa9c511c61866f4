use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{after, tidy};
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted};

/// Words of a note that become its title if none is given.
const TITLE_WORDS: usize = 5;

pub fn suggest(request: &str) -> Option<Suggestion> {
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
    let words: Vec<&str> = text.split_whitespace().take(TITLE_WORDS).collect();
    words.join(" ").trim_end_matches([',', '.', ':', ';']).to_owned()
}
