use crate::tx::Row;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use steward_core::ports::{Page, RunStatus, StoreError, StoreResult};
use steward_core::provenance::Provenance;

/// Longest text to search for, characters: SQLite takes patterns of 50,000 bytes.
const LONGEST_SEARCH: usize = 1000;
pub(crate) fn to_json<T: Serialize>(value: &T) -> StoreResult<String> {
    serde_json::to_string(value).map_err(|e| StoreError::Backend(format!("a value cannot be written as JSON: {e}")))
}

/// The value of a JSON column; `what` names the row in the error.
pub(crate) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> StoreResult<T> {
    serde_json::from_str(text)
        .map_err(|e| StoreError::Corrupt(format!("{what} holds JSON that is not understood: {e}")))
}

/// Reads a row whose first column is the JSON of a value.
pub(crate) fn body<T: DeserializeOwned>(what: &'static str) -> impl Fn(&Row) -> StoreResult<T> {
    move |row| from_json(what, &row.text(0)?)
}

/// For a column that is null where there is nothing to say.
pub(crate) fn provenance_text(provenance: &Provenance) -> StoreResult<Option<String>> {
    (!provenance.is_empty()).then(|| to_json(provenance)).transpose()
}

/// What such a column says.
pub(crate) fn provenance_of(text: Option<String>) -> StoreResult<Provenance> {
    let read = text.map(|text| from_json("where something comes from that is kept", &text)).transpose()?;
    Ok(read.unwrap_or_default())
}

pub(crate) fn status_of(word: &str) -> StoreResult<RunStatus> {
    match word {
        "running" => Ok(RunStatus::Running),
        "parked" => Ok(RunStatus::Parked),
        "finished" => Ok(RunStatus::Finished),
        other => Err(StoreError::Corrupt(format!("a run has the status {other:?}"))),
    }
}

pub(crate) fn to_word<T: Serialize>(value: &T) -> StoreResult<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Ok(word),
        other => Err(StoreError::Backend(format!("a value cannot be written as one word: {other:?}"))),
    }
}

/// `what` names the column in the error.
pub(crate) fn from_word<T: DeserializeOwned>(what: &str, word: String) -> StoreResult<T> {
    serde_json::from_value(Value::String(word))
        .map_err(|e| StoreError::Corrupt(format!("{what} holds a word that is not known: {e}")))
}

/// Letter by letter, whatever the case: how a part is folded must not depend on what is around it.
pub(crate) fn fold(text: &str) -> String {
    text.chars().map(|letter| if letter == '\0' { '\u{fffd}' } else { letter }).flat_map(char::to_lowercase).collect()
}

/// The pattern for `like … escape '\'` that finds `text` in folded text; `None` finds all.
pub(crate) fn pattern(text: Option<&str>) -> StoreResult<Option<String>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if text.chars().count() > LONGEST_SEARCH {
        return Err(StoreError::Conflict(format!(
            "the text to search for is too long; use {LONGEST_SEARCH} characters at most"
        )));
    }
    let mut pattern = String::from("%");
    for letter in fold(text).chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    Ok(Some(pattern))
}

/// The first `limit` of `items` as a page; the query asked for one more.
pub(crate) fn paged<T>(mut items: Vec<T>, limit: u32) -> Page<T> {
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    Page { items, more }
}

/// A name as text that every locale orders by its bytes.
pub(crate) fn sort_key(name: &str) -> String {
    hex::encode(name)
}

/// What may be names of blobs: the hashes that a body holds, such as of files before a change.
pub(crate) fn hashes_in(body: &str) -> impl Iterator<Item = &str> {
    let words = body.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 64 && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

/// Rows of a page that asked for `limit`: 0 means 100, and 1,000 is the most.
pub(crate) fn page_size(limit: u32) -> u32 {
    if limit == 0 { 100 } else { limit.min(1000) }
}

#[cfg(test)]
mod tests {
    use super::{fold, pattern, to_word};
    use steward_core::event::Outcome;

    #[test]
    fn text_is_folded_and_wildcards_are_letters() {
        assert_eq!(fold("ÄRGER mit Ünicode\0"), "ärger mit ünicode\u{fffd}");
        assert_eq!(fold("ΟΔΟΣ"), format!("{}σ", fold("ΟΔΟ")), "no final form");
        assert_eq!(pattern(Some("50%_A\\")).ok().flatten().as_deref(), Some("%50\\%\\_a\\\\%"));
        assert!(matches!(pattern(None), Ok(None)));
        assert!(matches!(pattern(Some("")), Ok(None)));
        assert!(pattern(Some(&"x".repeat(1001))).is_err());
        assert!(to_word(&1).is_err());
    }

    #[test]
    fn words_are_those_of_the_json() {
        for outcome in [
            Outcome::Completed,
            Outcome::Failed { message: String::new() },
            Outcome::Stopped { by: String::new() },
            Outcome::Limited { limit: steward_core::budget::Limit::Tokens, message: String::new() },
            Outcome::Rejected,
        ] {
            let json = serde_json::to_value(&outcome).unwrap_or_default();
            assert_eq!(json["status"], <&'static str>::from(&outcome));
        }
    }
}
