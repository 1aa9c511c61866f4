//! Proposals for `list`.

use super::extract::text::{any_phrase, plain, stem, words};
use super::lexicon::lexicon;
use super::{View, ranked, suggestion};
use serde_json::{Map, json};
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// Folders to list, best first.
pub fn suggest(request: &str, scope: &ToolScope) -> Vec<Suggestion> {
    let view = View::look(scope);
    let lexicon = lexicon();
    let text = plain(request);
    let words = words(request);
    let noun = words
        .iter()
        .any(|word| lexicon.list.nouns.contains(&stem(&word.lower)));
    let cue = any_phrase(&text, &lexicon.list.cues);
    let folder = view.folder(request).filter(|found| found.score >= 0.55);
    let extension = extension(&words, &view);
    let mut arguments = Map::new();
    let mut worth: f32 = match (cue, noun) {
        (Some(_), true) => 0.9,
        (Some(cue), false) if cue != "list" => 0.85,
        (Some(_), false) => 0.3,
        (None, true)
            if words
                .iter()
                .any(|word| lexicon.paths.folder.contains(&stem(&word.lower))) =>
        {
            0.75
        }
        (None, true) if folder.is_some() => 0.5,
        _ => 0.1,
    };
    if let Some(found) = &folder {
        arguments.insert("path".into(), json!(found.path));
        worth = if cue.is_some() {
            worth.max(0.6 + 0.3 * found.score)
        } else {
            worth
        };
    }
    // A file that is named is to be opened, not listed.
    if view.file(request).is_some_and(|found| found.score >= 0.8) {
        worth *= 0.45;
    }
    if let Some(extension) = extension {
        arguments.insert("pattern".into(), json!(format!("**/*.{extension}")));
        worth += 0.04;
    } else if any_phrase(&text, &lexicon.list.deep).is_some() {
        arguments.insert("depth".into(), json!(5));
    }
    let why = match &folder {
        Some(found) => format!("asks what is in the folder {}", found.path),
        None => "asks for the files of the workspace".to_owned(),
    };
    if worth < 0.2 {
        return Vec::new();
    }
    ranked(vec![suggestion(arguments.into(), worth, why)], 3)
}

/// "all csv files", "files ending in .md".
fn extension(words: &[super::extract::text::Word<'_>], view: &View) -> Option<String> {
    let paths = &lexicon().paths;
    words.iter().enumerate().find_map(|(at, word)| {
        let bare = word.lower.trim_start_matches('*').trim_start_matches('.');
        let before_file = words
            .get(at + 1)
            .is_some_and(|next| paths.file.contains(&stem(&next.lower)));
        let dotted = word.text.starts_with('.') || word.text.starts_with("*.");
        let known = view.entries.iter().any(|entry| entry.extension() == bare);
        if (before_file && known)
            || (dotted && !bare.is_empty() && bare.chars().all(char::is_alphanumeric))
        {
            return Some(bare.to_owned());
        }
        if before_file {
            return paths
                .kinds
                .iter()
                .filter(|kind| kind.words.contains(&stem(&word.lower)))
                .flat_map(|kind| &kind.extensions)
                .find(|extension| {
                    view.entries
                        .iter()
                        .any(|entry| entry.extension() == **extension)
                })
                .cloned();
        }
        None
    })
}
