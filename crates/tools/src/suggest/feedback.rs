//! Proposals for `feedback`.

use super::extract::clause::after;
use super::lexicon::lexicon;
use super::suggestion;
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// The question that the request wants put to the user.
pub fn suggest(request: &str, _scope: &ToolScope) -> Vec<Suggestion> {
    let lexicon = &lexicon().feedback;
    match after(request, &lexicon.question, &[]) {
        Some(clause) if request[..clause.cue_start].split_whitespace().count() <= 3 => {
            let mut question = clause.text.trim_end_matches('?').to_owned();
            question.push('?');
            vec![suggestion(json!({"question": question}), 0.85, "wants to be asked")]
        }
        _ => Vec::new(),
    }
}
