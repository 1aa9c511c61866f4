//! Reasons why a claim counts as proved or not, in plain English.

use super::Evidence;
use super::lexicon::proofs;

/// Most calls that are named one by one.
const TOLD: usize = 3;

/// Longest object that is quoted, characters.
const LONG: usize = 80;

/// No call did what is claimed; `fits` are those that tried.
pub(super) fn nothing(action: &str, fits: &[&Evidence<'_>], idle: bool) -> String {
    if let Some(first) = fits.first() {
        return lost(first);
    }
    if idle {
        return "no tool ran in this run".to_owned();
    }
    let past = proofs().past.get(action).map_or("did this", String::as_str);
    format!("no tool {past} in this run")
}

/// The call that would prove it failed or was undone.
pub(super) fn lost(call: &Evidence<'_>) -> String {
    if call.undone {
        format!("{}, but it was undone", told(call))
    } else {
        format!("{} was tried, but failed", call.tool)
    }
}

/// Calls did such a thing, but to something other than `wanted`.
pub(super) fn other(good: &[&Evidence<'_>], wanted: &str) -> String {
    let done: Vec<_> = good.iter().take(TOLD).map(|call| did(call)).collect();
    format!("the run {}, not {wanted}", done.join(", "))
}

pub(super) fn too_few(claimed: usize, found: usize) -> String {
    format!("it claims {claimed}, the run shows {found}")
}

pub(super) fn proved(calls: &[&Evidence<'_>]) -> String {
    let mut told: Vec<_> = calls.iter().take(TOLD).map(|call| told(call)).collect();
    if calls.len() > TOLD {
        told.push(format!("{} more", calls.len() - TOLD));
    }
    told.join(", ")
}

/// What the call did, with its tool: "write created notes.md".
fn told(call: &Evidence<'_>) -> String {
    if call.receipt.is_some() {
        return format!("{} {}", call.tool, did(call));
    }
    match about(call) {
        Some(about) => format!("{} of {about}", call.tool),
        None => format!("{} succeeded", call.tool),
    }
}

/// What the call did: "created notes.md", "used read on notes.md".
fn did(call: &Evidence<'_>) -> String {
    if let Some(receipt) = call.receipt {
        return format!("{} {}", receipt.action, short(&receipt.object));
    }
    match about(call) {
        Some(about) => format!("used {} on {about}", call.tool),
        None => format!("used {}", call.tool),
    }
}

fn about(call: &Evidence<'_>) -> Option<String> {
    let keys = ["path", "pattern", "query", "url", "title", "name"];
    let found = keys.iter().find_map(|key| call.arguments.get(key)?.as_str());
    found.map(short)
}

fn short(text: &str) -> String {
    let cut = text.char_indices().nth(LONG);
    cut.map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}
