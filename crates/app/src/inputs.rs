//! Checks of what people send that many use cases share.

use crate::error::{AppError, AppResult};
use steward_core::Timestamp;

/// Longest text to search for, characters.
const MAX_SEARCH: usize = 200;

/// Whether it is 1 to `most` characters on one line.
pub(crate) fn is_line(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// The same, with no space at the ends.
pub(crate) fn is_trimmed_line(text: &str, most: usize) -> bool {
    is_line(text, most) && text.trim() == text
}

/// A name of something that people make.
pub(crate) fn checked_name(name: &str) -> AppResult<String> {
    let name = name.trim();
    if is_line(name, 100) {
        return Ok(name.to_owned());
    }
    Err(AppError::invalid("name", "this can't be a name", "use 1 to 100 characters in one line"))
}

/// What was said, if that is more than spaces.
pub(crate) fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Refuses a text to search for that is too long.
pub(crate) fn check_search(text: Option<&str>) -> AppResult<()> {
    if text.is_none_or(|text| text.chars().count() <= MAX_SEARCH) {
        return Ok(());
    }
    let hint = format!("use {MAX_SEARCH} characters at most");
    Err(AppError::invalid("search", "the text to search for is too long", hint))
}

/// Refuses two times that are not in order.
pub(crate) fn in_order(from: Timestamp, to: Timestamp, hint: &str) -> AppResult<()> {
    if from > to { Err(AppError::invalid("from", "`from` is after `to`", hint)) } else { Ok(()) }
}

/// Refuses a change of rules that was made from another version (`read`) than they have `now`. `address`: where they are
/// read again.
pub(crate) fn same_version(now: u64, read: u64, address: &str) -> AppResult<()> {
    if now == read {
        return Ok(());
    }
    Err(AppError::conflict(
        "changed_meanwhile",
        format!("the rules have changed since version {read}; they are at {now}"),
        format!("read them again with GET {address}, and change those"),
    ))
}

#[cfg(test)]
mod tests {
    use super::checked_name;

    #[test]
    fn a_name_is_one_line() {
        assert!(checked_name(" Contracts ").is_ok_and(|name| name == "Contracts"));
        assert!(checked_name(" ").is_err() && checked_name("a\nb").is_err() && checked_name(&"x".repeat(101)).is_err());
    }
}
