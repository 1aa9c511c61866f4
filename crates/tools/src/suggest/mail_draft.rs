//! Proposals for `mail_draft`.

use super::extract::address::emails;
use super::extract::clause::after;
use super::lexicon::lexicon;
use super::suggestion;
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::text::quoted;
use steward_core::text::{any_phrase, plain};
use steward_core::tool::Suggestion;

/// The draft that is asked for.
pub fn suggest(request: &str, _scope: &ToolScope) -> Vec<Suggestion> {
    let lexicon = &lexicon().mail;
    let Some(cue) = any_phrase(&plain(request), &lexicon.cues) else {
        return Vec::new();
    };
    let Some(to) = emails(request).into_iter().next() else {
        return Vec::new();
    };
    // The cue may hold "to", so the rest is read from behind the address where there is more.
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
        (None, None) => return Vec::new(),
    };
    let score = if explicit { score } else { score - 0.1 };
    vec![suggestion(json!({"to": to, "subject": subject, "body": body}), score, format!("drafts a mail to {to}"))]
}

fn first_words(text: &str) -> String {
    text.split_whitespace().take(7).collect::<Vec<_>>().join(" ")
}
