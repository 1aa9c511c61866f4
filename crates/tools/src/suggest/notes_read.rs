//! Proposals for `notes_read`.

use super::extract::clause::after;
use super::lexicon::lexicon;
use super::{View, suggestion};
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::text::{any_phrase, plain};
use steward_core::tool::Suggestion;

/// The note that is asked for.
pub fn suggest(request: &str, scope: &ToolScope) -> Vec<Suggestion> {
    let text = plain(request);
    let lexicon = &lexicon().notes;
    if any_phrase(&text, &lexicon.read).is_none() || any_phrase(&text, &lexicon.create).is_some() {
        return Vec::new();
    }
    let Some(title) = after(request, &lexicon.read_title, &lexicon.read_end) else {
        return Vec::new();
    };
    let file = View::look(scope).file(request).is_some_and(|found| found.score >= 0.8);
    let bare = title.text.trim_end_matches('?').trim();
    if bare.is_empty() {
        return Vec::new();
    }
    let worth = if file { 0.35 } else { 0.88 };
    vec![suggestion(json!({"title": bare}), worth, format!("reads the note \"{bare}\""))]
}
