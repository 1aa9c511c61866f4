//! Proposals for `reminders_list`.

use super::extract::text::{any_phrase, has_phrase, plain};
use super::lexicon::lexicon;
use super::suggestion;
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// Whether the reminders are asked for.
pub fn suggest(request: &str, _scope: &ToolScope) -> Vec<Suggestion> {
    let text = plain(request);
    match any_phrase(&text, &lexicon().reminders.list) {
        Some(cue) if !has_phrase(&text, "remind me") => {
            vec![suggestion(
                json!({}),
                0.9,
                format!("\"{cue}\" asks for the reminders"),
            )]
        }
        _ => Vec::new(),
    }
}
