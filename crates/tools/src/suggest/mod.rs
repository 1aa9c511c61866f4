//! Complete, valid arguments that each tool proposes for a request in people's words, from what it
//! can see itself. A small model then chooses instead of inventing.
//!
//! Scores mean the same in all tools: 0.9 and more, the request says so in as many words and every
//! argument is grounded in it or in the workspace; 0.6, the arguments are grounded and the cue is
//! weak; 0.3, it would be possible.

pub mod calendar_create;
pub mod calendar_list;
pub mod extract;
pub mod feedback;
pub mod final_answer;
pub mod lexicon;
pub mod mail_draft;
pub mod mail_list;
pub mod notes_create;
pub mod notes_read;
pub mod reminders_create;
pub mod save_memory;
mod view;
pub mod web_search;
pub mod write;

pub use view::View;
pub(crate) use view::confined;
#[cfg(test)]
pub(crate) use view::tests_scope;

use serde_json::Value;
use steward_core::tool::Suggestion;

/// Whether a path looks like a SQLite file, which text tools are of no use for.
pub(crate) fn is_database(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    ["db", "sqlite", "sqlite3"].contains(&extension.as_str())
}

fn suggestion(arguments: Value, score: f32, why: impl Into<String>) -> Suggestion {
    Suggestion { arguments, score: score.clamp(0.0, 1.0), why: why.into() }
}

/// Best first, equal arguments once, at most `most`.
fn ranked(mut found: Vec<Suggestion>, most: usize) -> Vec<Suggestion> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Suggestion> = Vec::new();
    for candidate in found {
        if !kept.iter().any(|known| known.arguments == candidate.arguments) {
            kept.push(candidate);
        }
    }
    kept.truncate(most);
    kept
}
