//! Proposals for `notes_list`.

use super::extract::text::{any_phrase, plain};
use super::lexicon::lexicon;
use super::suggestion;
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// Whether the notes are asked for.
pub fn suggest(request: &str, _scope: &ToolScope) -> Vec<Suggestion> {
    let text = plain(request);
    let lexicon = &lexicon().notes;
    let Some(cue) = any_phrase(&text, &lexicon.list) else {
        return Vec::new();
    };
    let making = any_phrase(&text, &lexicon.create).is_some();
    let score = if making { 0.3 } else { 0.9 };
    vec![suggestion(
        json!({}),
        score,
        format!("\"{cue}\" asks for the notes"),
    )]
}
