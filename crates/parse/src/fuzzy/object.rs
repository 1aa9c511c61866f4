//! The object of a phrase: what is searched, fetched, read, written or run.

use super::rules::{Object, Rule, Rules};

/// Longest object.
const LONGEST: usize = 300;

/// An object and where it ends in the text behind the phrase.
pub(super) struct Found {
    pub text: String,
    pub end: usize,
}

/// The object at the start of `rest`, if it is of the kind that the rule wants.
pub(super) fn find(rule: &Rule, rest: &str, rules: &Rules) -> Option<Found> {
    let found = match (quoted(rest), rule.object) {
        (Some(found), Object::Text | Object::Quoted) => found,
        (Some(found), Object::Url) if is_url(&found.text) => found,
        (Some(found), Object::Path) if is_path(&found.text, true) => found,
        (None, Object::Url) => word(rest).filter(|found| is_url(&found.text))?,
        (None, Object::Path) => word(rest).filter(|found| is_path(&found.text, false))?,
        (None, Object::Text) => text(rest, rules)?,
        _ => return None,
    };
    let sound = !found.text.trim().is_empty() && found.text.len() <= LONGEST && !rules.is_empty_word(&found.text);
    sound.then_some(found)
}

const QUOTES: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('`', '`'), ('«', '»'), ('„', '“')];

fn quoted(rest: &str) -> Option<Found> {
    let first = rest.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let body = &rest[first.len_utf8()..];
    // An apostrophe within a word closes nothing.
    let end = body.match_indices(*close).map(|(at, _)| at).find(|at| {
        let next = body[at + close.len_utf8()..].chars().next();
        next.is_none_or(|c| !c.is_alphanumeric())
    })?;
    let text = body[..end].trim().to_owned();
    Some(Found { text, end: first.len_utf8() + end + close.len_utf8() })
}

fn word(rest: &str) -> Option<Found> {
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let text = rest[..end].trim_end_matches(['.', ',', ';', ':', ')', '!', '…', '*']);
    (!text.is_empty()).then(|| Found { text: text.to_owned(), end })
}

fn text(rest: &str, rules: &Rules) -> Option<Found> {
    let end = rules.stop(rest).unwrap_or(rest.len());
    let text = rest[..end].trim().trim_end_matches(['.', '!', '…', ':']);
    (text.chars().count() > 1).then(|| Found { text: text.to_owned(), end })
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.len() > 2 && !rest.contains(char::is_whitespace))
}

/// A path has a folder or an ending; in quotes a name is enough if it has no blanks at either side.
fn is_path(text: &str, quoted: bool) -> bool {
    if is_url(text) || text.contains('\n') {
        return false;
    }
    let ending = text.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty() && (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let folder = text.starts_with(['/', '~', '.']) && text.len() > 1 || text.contains('/');
    (ending || folder) && (quoted || !text.contains(char::is_whitespace))
}
