use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{after, tidy};
use serde_json::json;
use steward_core::text::{any_phrase, plain, quoted};

pub fn suggest(request: &str) -> Option<Suggestion> {
    let words = &lexicon().search;
    any_phrase(&plain(request), &words.cues)?;
    let clause = after(request, &words.before, &words.end).map(|clause| clause.text.to_owned());
    let quote = quoted(request).first().map(|quote| quote.text.to_owned());
    let said = clause.is_some() || quote.is_some();
    let query = clause.or(quote).unwrap_or_else(|| tidy(request).to_owned());
    let query = query.trim_end_matches(['?', '!', '.']).trim().to_owned();
    if query.is_empty() || query.chars().count() > 400 {
        return None;
    }
    let worth = if said { 0.95 } else { 0.7 };
    let why = format!("searches the web for \"{query}\"");
    Some(Suggestion::new(json!({"query": query}), worth, why))
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn queries() {
        for (request, expect) in [
            ("Search the web for rust async patterns.", "rust async patterns"),
            ("google the opening hours of the Louvre", "the opening hours of the Louvre"),
            ("Look up online who won the 2022 world cup and tell me", "who won the 2022 world cup"),
            ("Do a web search for \"heat pump subsidies\"", "heat pump subsidies"),
            ("Suche im Internet nach Fahrplan Wien Graz", "Fahrplan Wien Graz"),
        ] {
            let found = suggest(request);
            assert_eq!(found.unwrap().arguments["query"], expect, "{request}");
        }
        assert!(suggest("search the logs for errors").is_none());
    }
}
