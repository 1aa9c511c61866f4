use super::Suggestion;
use crate::lexicon::lexicon;
use serde_json::json;
use steward_core::text::{any_phrase, plain};

pub fn suggest(request: &str) -> Option<Suggestion> {
    let words = &lexicon().inbox;
    let plain = plain(request);
    any_phrase(&plain, &words.cues)?;
    if any_phrase(&plain, &words.unread).is_some() {
        let why = "shows unread mail";
        return Some(Suggestion::new(json!({"unread": true}), 0.93, why));
    }
    Some(Suggestion::new(json!({}), 0.9, "shows the latest mail"))
}
