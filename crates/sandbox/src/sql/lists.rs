//! The lists that are data.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Functions of [`super::Functions::Standard`].
pub(super) fn standard_functions() -> &'static HashSet<&'static str> {
    static LIST: OnceLock<HashSet<&'static str>> = OnceLock::new();
    LIST.get_or_init(|| words(include_str!("../../data/sql-functions.txt")))
}

/// Table-valued functions that are always readable.
pub(super) fn table_functions() -> &'static HashSet<&'static str> {
    static LIST: OnceLock<HashSet<&'static str>> = OnceLock::new();
    LIST.get_or_init(|| words(include_str!("../../data/sql-table-functions.txt")))
}

/// Beginnings of the messages that mean "over a size limit".
pub(super) fn limit_messages() -> impl Iterator<Item = &'static str> {
    lines(include_str!("../../data/sqlite-limit-messages.txt"))
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'))
}

fn words(text: &'static str) -> HashSet<&'static str> {
    lines(text).flat_map(str::split_whitespace).collect()
}
