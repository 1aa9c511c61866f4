//! Reads the arguments of acting tools from a request that states them.
//!
//! Scores mean the same for all tools. 0.9 and more: the request says so literally, and every argument is grounded in
//! it or in the workspace; 0.6: the arguments are grounded and the cue is weak; 0.3: it is possible.

mod dates;
mod texts;
mod write;

use crate::view::View;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub arguments: Value,
    /// 0 to 1.
    pub score: f32,
    /// One line for the trace.
    pub why: String,
}

impl Suggestion {
    fn new(arguments: Value, score: f32, why: impl Into<String>) -> Self {
        Self { arguments, score: score.clamp(0.0, 1.0), why: why.into() }
    }
}

/// `None` if the request doesn't ask for the tool, or if its arguments can't be read here.
pub fn suggest(tool: &str, request: &str, view: &View) -> Option<Suggestion> {
    match tool {
        "calendar_create" => dates::calendar_create(request, view.now),
        "calendar_list" => dates::calendar_list(request, view.now),
        "mail_draft" => texts::mail_draft(request),
        "mail_list" => texts::mail_list(request),
        "notes_create" => texts::notes_create(request),
        "reminders_create" => dates::reminders_create(request, view.now),
        "save_memory" => texts::save_memory(request),
        "web_search" => texts::web_search(request),
        "write" => write::suggest(request, view),
        _ => None,
    }
}
