//! What is wrong with a text, where, and what to do about it.

use crate::syntax::Range;
use serde::Serialize;
use steward_core::text::nearest;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub range: Range,
    pub severity: Severity,
    /// Stable, for programs.
    pub code: &'static str,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

impl Diagnostic {
    pub fn error(range: Range, code: &'static str, message: impl Into<String>) -> Self {
        Self { range, severity: Severity::Error, code, message: message.into(), hint: None }
    }

    pub fn warning(range: Range, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(range, code, message) }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// More candidates are not compared: a suggestion is not worth the time.
const COMPARED: usize = 2_000;

/// The candidate that was probably meant. A candidate with a schema may be meant without it.
pub(crate) fn closest<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let named = candidates.into_iter().take(COMPARED).flat_map(|candidate| {
        let bare = candidate.rsplit_once('.').map(|(_, bare)| (bare, candidate));
        [Some((candidate, candidate)), bare]
    });
    nearest(wanted, named.flatten())
}

/// `Did you mean …?`, or what there is to choose from.
pub(crate) fn suggest<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str> + Clone) -> Option<String> {
    const LISTED: usize = 12;
    if let Some(candidate) = closest(wanted, candidates.clone()) {
        return Some(format!("Did you mean `{candidate}`?"));
    }
    let mut candidates = candidates.into_iter();
    let listed: Vec<String> = candidates.by_ref().take(LISTED).map(|candidate| format!("`{candidate}`")).collect();
    let more = if candidates.next().is_some() { ", …" } else { "" };
    (!listed.is_empty()).then(|| format!("Use one of {}{more}.", listed.join(", ")))
}

/// `a, b and c`, with the word between the last two.
pub(crate) fn enumerated(words: &[String], last_by: &str) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [first @ .., last] => format!("{} {last_by} {last}", first.join(", ")),
    }
}
