//! Matches the paths of a request against the entries of the workspace.

use crate::lexicon::PathWords;
use steward_core::ports::Entry;
use steward_core::text::{Word, distance, parts, stem, words};

#[derive(Debug, Clone, PartialEq)]
pub struct PathMatch {
    pub path: String,
    pub folder: bool,
    /// Confidence, 0 to 1.
    pub score: f32,
    /// Bytes of the request that name it.
    pub span: (usize, usize),
}

pub fn is_database(path: &str) -> bool {
    ends_with(path, &["db", "sqlite", "sqlite3"])
}

pub fn is_rows(path: &str) -> bool {
    ends_with(path, &["csv", "tsv"])
}

fn ends_with(path: &str, endings: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending.to_lowercase().as_str()))
}

/// Entries named by the request, best first, each once.
pub fn matches(request: &str, entries: &[Entry], nouns: &PathWords) -> Vec<PathMatch> {
    let words = words(request);
    let mut found: Vec<PathMatch> = Vec::new();
    for entry in entries {
        let named = by_name(&words, entry, nouns);
        let best = named.or_else(|| by_description(&words, entry, nouns));
        found.extend(best);
    }
    // A name shared by several entries is not sure for any of them.
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.path.len().cmp(&b.path.len())));
    found
}

fn hit(entry: &Entry, score: f32, span: (usize, usize)) -> PathMatch {
    PathMatch { path: entry.path.clone(), folder: entry.folder, score, span }
}

fn by_name(words: &[Word<'_>], entry: &Entry, nouns: &PathWords) -> Option<PathMatch> {
    let path = entry.path.to_lowercase();
    let name = entry.name().to_lowercase();
    let base = entry.base().to_lowercase();
    words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| {
            let wanted = word.lower.trim_start_matches("./").trim_end_matches('/');
            let folder_near = beside(words, at, &nouns.folder) || word.text.ends_with('/');
            let file_near = beside(words, at, &nouns.file) || beside_kind(words, at, entry, nouns);
            let score = if wanted == path && (!entry.folder || folder_near || wanted.contains('/')) {
                1.0
            } else if (wanted == name && !entry.folder)
                || (wanted.contains('/') && path.ends_with(&format!("/{wanted}")))
            {
                0.97
            } else if entry.folder && wanted == name {
                if folder_near { 0.97 } else { 0.55 }
            } else if !entry.folder && wanted == base && wanted.len() > 2 {
                if file_near { 0.85 } else { 0.5 }
            } else if !entry.folder && close(wanted, &name, &path) {
                0.75
            } else {
                return None;
            };
            Some(hit(entry, score, (word.start, word.end)))
        })
        .max_by(|a, b| a.score.total_cmp(&b.score))
}

/// A name with one or two typing errors; short names are too easily something else.
fn close(wanted: &str, name: &str, path: &str) -> bool {
    let target = if wanted.contains('/') { path } else { name };
    let allowed = match wanted.chars().count() {
        0..=5 => return false,
        6..=9 => 1,
        _ => 2,
    };
    wanted.contains('.') && wanted.len().abs_diff(target.len()) <= allowed && distance(wanted, target) <= allowed
}

fn beside(words: &[Word<'_>], at: usize, nouns: &[String]) -> bool {
    let near = |index: usize| words.get(index).is_some_and(|word| nouns.contains(&stem(&word.lower)));
    (at > 0 && near(at - 1)) || near(at + 1)
}

fn beside_kind(words: &[Word<'_>], at: usize, entry: &Entry, nouns: &PathWords) -> bool {
    let extension = entry.extension();
    nouns.kinds.iter().filter(|kind| kind.extensions.contains(&extension)).any(|kind| beside(words, at, &kind.words))
}

/// "the weather file", "the app log", "the handover notes": parts of the name with a noun of files.
fn by_description(words: &[Word<'_>], entry: &Entry, nouns: &PathWords) -> Option<PathMatch> {
    let extension = entry.extension();
    let kind_words: Vec<&String> = nouns
        .kinds
        .iter()
        .filter(|kind| !entry.folder && kind.extensions.contains(&extension))
        .flat_map(|kind| &kind.words)
        .collect();
    // Files in the folder "minutes" are spoken of as minutes.
    let parent = entry.path.rsplit('/').nth(1).map(stem);
    let generic = if entry.folder { &nouns.folder } else { &nouns.file };
    let is_noun = |word: &Word<'_>| {
        let stemmed = stem(&word.lower);
        generic.contains(&stemmed)
            || kind_words.iter().any(|kind| **kind == stemmed)
            || parent.as_ref() == Some(&stemmed)
    };
    let name_parts: Vec<String> = parts(entry.base()).iter().map(|part| stem(part)).collect();
    let telling: Vec<&String> =
        name_parts.iter().filter(|part| part.len() > 2 && !part.chars().all(|c| c.is_ascii_digit())).collect();
    if telling.is_empty() {
        return None;
    }
    let noun_at = words.iter().enumerate().filter(|(_, word)| is_noun(word)).map(|(at, _)| at);
    noun_at
        .filter_map(|at| {
            let from = at.saturating_sub(3);
            let to = (at + 4).min(words.len());
            let spoken: Vec<usize> = (from..to)
                .filter(|&index| index != at || telling.len() == 1)
                .filter(|&index| telling.iter().any(|part| **part == stem(&words[index].lower)))
                .collect();
            let (first, last) = (*spoken.first()?, *spoken.last()?);
            // The noun alone names a file only if the file is called exactly that.
            if spoken == [at] && !name_parts.iter().all(|part| *part == stem(&words[at].lower)) {
                return None;
            }
            #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
            let share = spoken.len() as f32 / telling.len() as f32;
            let near = words[first.min(at)].start;
            Some(hit(entry, 0.25f32.mul_add(share.min(1.0), 0.55), (near, words[last.max(at)].end)))
        })
        .max_by(|a, b| a.score.total_cmp(&b.score))
}

/// Words that look like a path but match no entry: a file to be created, or a mistake.
pub fn unknown_paths(request: &str, entries: &[Entry]) -> Vec<(String, (usize, usize))> {
    words(request)
        .into_iter()
        .filter(|word| {
            let text = word.text;
            let lower = text.to_lowercase();
            let extension = lower.rsplit_once('.').map(|(base, extension)| (base, extension.to_owned()));
            let like_a_file = extension.is_some_and(|(base, extension)| {
                // "i.e" is not a path.
                base.len() + extension.len() > 2
                    && !base.is_empty()
                    && (1..=6).contains(&extension.len())
                    && extension.chars().all(|c| c.is_ascii_alphanumeric())
                    && extension.chars().any(|c| c.is_ascii_alphabetic())
            });
            let in_folder = text.contains('/') && !text.contains("//") && text.chars().any(char::is_alphabetic);
            (like_a_file || in_folder)
                && !text.contains('@')
                && !lower.contains("://")
                && !lower.starts_with("www.")
                && !text.contains(['(', ')', '*', '='])
                && super::number::value(text).is_none()
                && !entries.iter().any(|entry| entry.path.eq_ignore_ascii_case(text.trim_start_matches("./")))
        })
        .map(|word| (word.text.trim_start_matches("./").to_owned(), (word.start, word.end)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{matches, unknown_paths};
    use steward_core::ports::Entry;

    #[test]
    fn names_descriptions_and_typos() {
        let entries: Vec<Entry> = [
            ("seattle-weather.csv", false),
            ("logs", true),
            ("logs/app.log", false),
            ("notes", true),
            ("notes/handover.md", false),
            ("stocks.csv", false),
        ]
        .map(|(path, folder)| Entry { path: path.into(), folder })
        .into();
        let nouns = &crate::lexicon::lexicon().paths;
        let best = |request: &str| matches(request, &entries, nouns).first().map(|m| m.path.clone());
        for (request, expect) in [
            ("read notes/handover.md", "notes/handover.md"),
            ("show me HANDOVER.md", "notes/handover.md"),
            ("the first rows of the weather file", "seattle-weather.csv"),
            ("what is in the logs folder?", "logs"),
            ("open the app log", "logs/app.log"),
            ("count lines of stoks.csv please", "stocks.csv"),
            ("what do the handover notes say", "notes/handover.md"),
        ] {
            assert_eq!(best(request).as_deref(), Some(expect), "{request}");
        }
        assert_eq!(best("remember the milk"), None);
        assert_eq!(unknown_paths("save it to out/status.txt now, v2.0", &entries)[0].0, "out/status.txt");
    }
}
