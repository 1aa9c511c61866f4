//! Proposals for `web_fetch`.

use super::extract::address::urls;
use super::extract::text::{any_phrase, plain};
use super::lexicon::lexicon;
use super::{View, ranked, suggestion};
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// Pages to fetch, in the order of the request.
pub fn suggest(request: &str, scope: &ToolScope) -> Vec<Suggestion> {
    let view = View::look(scope);
    let known = |text: &str| {
        view.entries
            .iter()
            .any(|entry| entry.path == text || entry.name() == text)
    };
    let cue = any_phrase(&plain(request), &lexicon().web.cues).is_some();
    let found = urls(request, known)
        .into_iter()
        .map(|url| {
            let written = request.contains(url.as_str());
            let worth = match (written, cue) {
                (true, true) => 0.97,
                (true, false) => 0.8,
                (false, true) => 0.75,
                (false, false) => 0.5,
            };
            let why = format!("fetches {url}");
            suggestion(json!({"url": url}), worth, why)
        })
        .collect();
    ranked(found, 3)
}
