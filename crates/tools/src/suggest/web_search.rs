//! Proposals for `web_search`.

use super::extract::clause::{after, tidy};
use super::lexicon::lexicon;
use super::suggestion;
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::text::quoted;
use steward_core::text::{any_phrase, plain};
use steward_core::tool::Suggestion;

/// The search that is asked for.
pub fn suggest(request: &str, _: &ToolScope) -> Vec<Suggestion> {
    let words = &lexicon().search;
    if any_phrase(&plain(request), &words.cues).is_none() {
        return Vec::new();
    }
    let clause = after(request, &words.before, &words.end).map(|clause| clause.text.to_owned());
    let quote = quoted(request).first().map(|quote| quote.text.to_owned());
    let said = clause.is_some() || quote.is_some();
    let query = clause.or(quote).unwrap_or_else(|| tidy(request).to_owned());
    let query = query.trim_end_matches(['?', '!', '.']).trim().to_owned();
    if query.is_empty() || query.chars().count() > 400 {
        return Vec::new();
    }
    let worth = if said { 0.95 } else { 0.7 };
    let why = format!("searches the web for \"{query}\"");
    vec![suggestion(json!({"query": query}), worth, why)]
}

#[cfg(test)]
mod tests {
    use super::suggest;
    use crate::suggest::view::tests_scope;

    #[test]
    fn queries() {
        let scope = tests_scope();
        for (request, expect) in [
            ("Search the web for rust async patterns.", "rust async patterns"),
            ("google the opening hours of the Louvre", "the opening hours of the Louvre"),
            ("Look up online who won the 2022 world cup and tell me", "who won the 2022 world cup"),
            ("Do a web search for \"heat pump subsidies\"", "heat pump subsidies"),
            ("Suche im Internet nach Fahrplan Wien Graz", "Fahrplan Wien Graz"),
        ] {
            let found = suggest(request, &scope);
            assert_eq!(found[0].arguments["query"], expect, "{request}");
        }
        assert!(suggest("search the logs for errors", &scope).is_empty());
    }
}
