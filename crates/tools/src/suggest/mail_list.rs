//! Proposals for `mail_list`.

use super::lexicon::lexicon;
use super::suggestion;
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::text::{any_phrase, plain};
use steward_core::tool::Suggestion;

/// The look into the inbox that is asked for.
pub fn suggest(request: &str, _: &ToolScope) -> Vec<Suggestion> {
    let words = &lexicon().inbox;
    let plain = plain(request);
    if any_phrase(&plain, &words.cues).is_none() {
        return Vec::new();
    }
    if any_phrase(&plain, &words.unread).is_some() {
        let why = "shows unread mail";
        return vec![suggestion(json!({"unread": true}), 0.93, why)];
    }
    vec![suggestion(json!({}), 0.9, "shows the latest mail")]
}
