use super::Suggestion;
use crate::lexicon::lexicon;
use crate::read::clause::{after, tidy};
use serde_json::json;
use steward_core::text::{any_phrase, plain};

pub fn suggest(request: &str) -> Option<Suggestion> {
    let lexicon = &lexicon().memory;
    let text = plain(request);
    // A question about what is remembered is nothing to remember.
    let asks = request.trim_end().ends_with('?');
    if let Some(clause) = after(request, &lexicon.replace, &[]) {
        let arguments = json!({"text": sentence(clause.text), "mode": "replace"});
        return Some(Suggestion::new(arguments, 0.9, "replaces the memory"));
    }
    if let Some(clause) = after(request, &lexicon.cues, &[]) {
        let early = request[..clause.cue_start].split_whitespace().count() <= 4;
        let cue = &request[clause.cue_start..clause.start];
        let keeps = cue.to_lowercase().ends_with(" my") || cue.to_lowercase().ends_with(" i");
        let fact =
            if keeps { tidy(&request[clause.start - cue.len() + cue.rfind(' ').unwrap_or(0)..]) } else { clause.text };
        let score = match (asks, early) {
            (true, _) => 0.3,
            (false, true) => 0.94,
            (false, false) => 0.7,
        };
        let arguments = json!({"text": sentence(fact), "mode": "append"});
        return Some(Suggestion::new(arguments, score, "keeps a fact for later"));
    }
    if !asks && any_phrase(&text, &lexicon.facts).is_some() {
        let arguments = json!({"text": sentence(tidy(request)), "mode": "append"});
        return Some(Suggestion::new(arguments, 0.6, "states a fact about the user"));
    }
    None
}

fn sentence(text: &str) -> String {
    let text = text.trim_start_matches([',', ':', ' ']);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
