//! Proposals for `read`.

use super::extract::number::{count_before, digits, ordinal};
use super::extract::path::unknown_paths;
use super::extract::text::{any_phrase, plain, stem, words};
use super::lexicon::lexicon;
use super::{View, ranked, suggestion};
use serde_json::{Map, json};
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// Extensions of files that are no text.
const BINARY: &[&str] = &[
    "db", "sqlite", "sqlite3", "png", "jpg", "jpeg", "gif", "zip", "gz", "pdf", "xlsx", "docx",
];

/// Files to read, best first.
pub fn suggest(request: &str, scope: &ToolScope) -> Vec<Suggestion> {
    let view = View::look(scope);
    let lexicon = lexicon();
    let text = plain(request);
    let strong = any_phrase(&text, &lexicon.read.strong).is_some();
    let cue = strong || any_phrase(&text, &lexicon.read.cues).is_some();
    let mut found: Vec<Suggestion> = Vec::new();
    for named in view
        .named(request)
        .into_iter()
        .filter(|named| !named.folder)
        .take(4)
    {
        let extension = named
            .path
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let mut worth = match (strong, cue) {
            (true, _) => 0.92,
            (false, true) => 0.75,
            _ => 0.5,
        } * named.score;
        if BINARY.contains(&extension.as_str()) {
            worth *= 0.25;
        }
        let mut arguments = Map::from_iter([("path".to_owned(), json!(named.path))]);
        let mut why = format!("reads {}", named.path);
        if let Some((start, lines)) = range(request, &text, &named.path, &view) {
            arguments.insert("start".into(), json!(start));
            arguments.insert("lines".into(), json!(lines));
            worth = (worth + 0.06).max(if named.score > 0.7 { 0.9 } else { 0.0 });
            why = format!("reads {lines} lines of {} from line {start}", named.path);
        }
        found.push(suggestion(arguments.into(), worth, why));
    }
    if found.is_empty() && strong {
        // A path that isn't there: the tool's error will name what is near.
        for (path, _) in unknown_paths(request, &view.entries).into_iter().take(1) {
            let why = format!("reads {path}, which was not found in the workspace");
            found.push(suggestion(json!({"path": path}), 0.55, why));
        }
    }
    ranked(found, 4)
}

/// First line and number of lines, where the request speaks of some.
fn range(request: &str, text: &str, path: &str, view: &View) -> Option<(u64, u64)> {
    let words = words(request);
    let lexicon = &lexicon().read;
    let nouns: Vec<&str> = lexicon.lines.iter().map(String::as_str).collect();
    let noun_at = words
        .iter()
        .position(|word| nouns.contains(&stem(&word.lower).as_str()));
    let singular = noun_at.is_some_and(|at| nouns.contains(&words[at].lower.as_str()));
    if let Some(at) = noun_at {
        let whole = |index: usize| -> Option<u64> { digits(words.get(index)?.text)?.parse().ok() };
        // "lines 10 to 20", "lines 10-20", "line 7".
        if let Some((from, to)) = words
            .get(at + 1)
            .and_then(|word| word.text.split_once(['-', '–']))
            && let (Ok(from), Ok(to)) = (from.parse::<u64>(), to.parse::<u64>())
            && from >= 1
            && to >= from
        {
            return Some((from, to - from + 1));
        }
        if let Some(from) = whole(at + 1).filter(|from| *from >= 1) {
            let to = whole(at + 3).filter(|to| *to >= from && words[at + 2].lower != "of");
            return Some((from, to.map_or(1, |to| to - from + 1)));
        }
    }
    let plural_count = count_before(
        request,
        &words
            .iter()
            .map(|w| w.lower.as_str())
            .filter(|w| nouns.contains(&stem(w).as_str()))
            .collect::<Vec<_>>(),
    );
    let first = any_phrase(text, &lexicon.first).is_some();
    let last = any_phrase(text, &lexicon.last).is_some();
    let spoken = noun_at.is_some();
    let count = plural_count.or(match (first || last, spoken, singular) {
        (true, true, true) => Some(1),
        (true, _, _)
            if spoken
                || super::extract::text::has_phrase(text, "head")
                || super::extract::text::has_phrase(text, "tail")
                || super::extract::text::has_phrase(text, "beginning of")
                || super::extract::text::has_phrase(text, "header") =>
        {
            Some(10)
        }
        _ => None,
    });
    if last && !first {
        let count = count?.max(1);
        let total = view.count_lines(path)?;
        return Some((total.saturating_sub(count) + 1, count));
    }
    if first {
        return Some((1, count?.max(1)));
    }
    // "the third line".
    let at = noun_at.filter(|_| singular)?;
    let nth = words[..at]
        .last()
        .and_then(|word| ordinal(word.text))
        .filter(|nth| *nth >= 1)?;
    Some((u64::from(nth), 1))
}
