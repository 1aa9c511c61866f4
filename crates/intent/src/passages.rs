//! Answers from documents for a model that can't sum up: the passages themselves, quoted, with their sources.

use crate::replies::{Here, Replies};
use std::fmt::Write as _;
use steward_core::reference::Reference;

/// Most passages that are quoted.
const QUOTED: usize = 3;

/// `None`: nothing in the documents is near to the request.
pub fn from_passages(replies: &Replies, here: Here<'_>) -> Option<String> {
    let quotes: Vec<String> = here.setup.references.iter().take(QUOTED).map(quoted).collect();
    if quotes.is_empty() {
        return None;
    }
    replies.framed("passages", &[("quotes", quotes.join("\n\n"))], here)
}

fn quoted(reference: &Reference) -> String {
    let text = if reference.quote.is_empty() { &reference.text } else { &reference.quote };
    let mut lines = String::new();
    for line in text.trim().lines() {
        let _ = writeln!(lines, "> {line}");
    }
    format!("{lines}\n— {} [{}]", reference.place(), reference.number)
}
