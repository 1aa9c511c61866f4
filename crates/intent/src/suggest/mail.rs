use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::after;
use crate::read::emails;
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted};

pub fn draft(request: &str) -> Option<Suggestion> {
    let lexicon = &lexicon().mail;
    let cue = any_phrase(&plain(request), &lexicon.cues)?;
    let to = emails(request).into_iter().next()?;
    // The cue may hold "to", so the rest is read after the address if more follows there.
    let from = request.find(&to).map_or(0, |at| at + to.len());
    let (behind, whole) = (&request[from..], request);
    let subject = after(behind, &lexicon.subject, &lexicon.subject_end)
        .or_else(|| after(whole, &lexicon.subject, &lexicon.subject_end));
    let body =
        after(behind, &lexicon.body, &lexicon.body_end).or_else(|| after(whole, &lexicon.body, &lexicon.body_end));
    let quotes = quoted(request);
    let body = body.map(|clause| clause.text.to_owned()).or_else(|| quotes.last().map(|quote| quote.text.to_owned()));
    let subject = subject.map(|clause| clause.text.to_owned());
    let explicit = cue.contains(' ');
    let (subject, body, score) = match (subject, body) {
        (Some(subject), Some(body)) => (subject, body, 0.95),
        (Some(subject), None) => (subject.clone(), subject, 0.85),
        (None, Some(body)) => (first_words(&body), body, 0.88),
        (None, None) => return None,
    };
    let score = if explicit { score } else { score - 0.1 };
    Some(Suggestion::new(json!({"to": to, "subject": subject, "body": body}), score, format!("drafts a mail to {to}")))
}

fn first_words(text: &str) -> String {
    text.split_whitespace().take(7).collect::<Vec<_>>().join(" ")
}

pub fn list(request: &str) -> Option<Suggestion> {
    let words = &lexicon().inbox;
    let plain = plain(request);
    any_phrase(&plain, &words.cues)?;
    if any_phrase(&plain, &words.unread).is_some() {
        let why = "shows unread mail";
        return Some(Suggestion::new(json!({"unread": true}), 0.93, why));
    }
    Some(Suggestion::new(json!({}), 0.9, "shows the latest mail"))
}
