use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;
use std::time::Duration;

use crate::data_lines;

/// Names of the tables in which the program notes what was done begin with it.
pub(super) const OWN_TABLES: &str = "steward_";

/// Which tables and views may be read. ASCII case does not matter, as in SQL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Tables {
    /// Every table and view of the database's own; never `sqlite_*`.
    #[default]
    All,
    Allow(BTreeSet<String>),
    Deny(BTreeSet<String>),
    /// Those whose names begin with it.
    Prefix(String),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ColumnRef {
    pub table: String,
    pub column: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rows returned; more are cut off and reported as truncated. Default 1000.
    pub rows: usize,
    /// Bytes of all returned values together; more are cut off and reported as truncated. Default 1 MiB.
    pub bytes: usize,
    /// Rows that a statement may change; beyond that it is rolled back. Default none.
    pub changes: Option<u64>,
    /// Changed rows kept for an undo; more cannot be undone. Default 1000.
    pub undo_rows: usize,
    /// Their bytes. Default 1 MiB.
    pub undo_bytes: usize,
    /// Rows that a server may expect to look at for a query, by its own plan. Default none.
    pub planned: Option<u64>,
    /// Including compilation. Default 2 s.
    pub wall: Duration,
}

impl Limits {
    /// Why a write of so many rows and bytes can't be undone, if it can't.
    pub(crate) fn undo_refusal(&self, rows: usize, bytes: usize) -> Option<String> {
        if rows > self.undo_rows {
            Some(format!("it changes more than {} rows", self.undo_rows))
        } else if bytes > self.undo_bytes {
            Some(format!("the rows take more than {} KB", self.undo_bytes >> 10))
        } else {
            None
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 1000,
            bytes: 1 << 20,
            changes: None,
            undo_rows: 1000,
            undo_bytes: 1 << 20,
            planned: None,
            wall: Duration::from_secs(2),
        }
    }
}

/// The default: all tables of a workspace's database readable, nothing writable, schema tables and pragmas closed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    pub tables: Tables,
    /// Never read, not even by WHERE or inside a view.
    pub deny_columns: BTreeSet<ColumnRef>,
    /// Also closes tables and columns whose names suggest secrets (`data/sensitive-names.txt`), unless `tables` is a
    /// list of allowed ones that names the table.
    pub deny_sensitive: bool,
    pub limits: Limits,
}

impl Policy {
    /// For a database without rules: names that suggest secrets stay closed.
    pub fn careful() -> Self {
        Self { deny_sensitive: true, ..Self::default() }
    }

    pub fn allows_table(&self, table: &str) -> bool {
        let listed = |set: &BTreeSet<String>| set.iter().any(|t| t.eq_ignore_ascii_case(table));
        match &self.tables {
            _ if is_internal(table) => false,
            Tables::All => !self.sensitive(table),
            Tables::Allow(set) => listed(set),
            Tables::Deny(set) => !listed(set) && !self.sensitive(table),
            Tables::Prefix(prefix) => begins_with(table, prefix),
        }
    }

    /// A table beside those of [`Tables::Prefix`], in which the program notes what was done.
    pub(super) fn keeps_for_itself(&self, table: &str) -> bool {
        matches!(self.tables, Tables::Prefix(_)) && table.starts_with(OWN_TABLES)
    }

    /// Does not consider whether its table may be read.
    pub fn allows_column(&self, table: &str, column: &str) -> bool {
        let named = |c: &ColumnRef| c.table.eq_ignore_ascii_case(table) && c.column.eq_ignore_ascii_case(column);
        !self.deny_columns.iter().any(named) && !self.sensitive(column)
    }

    fn sensitive(&self, name: &str) -> bool {
        self.deny_sensitive && is_sensitive(name)
    }
}

fn begins_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// SQLite reserves these prefixes for its own schema, statistics and pragma tables.
pub(super) fn is_internal(table: &str) -> bool {
    begins_with(table, "sqlite_") || begins_with(table, "pragma_")
}

/// Functions without side effects.
pub(super) static FUNCTIONS: LazyLock<NameSet> =
    LazyLock::new(|| NameSet::read(include_str!("../../data/sql-functions.txt")));

/// Table-valued functions that are always readable.
pub(super) static TABLE_FUNCTIONS: LazyLock<NameSet> =
    LazyLock::new(|| NameSet::read(include_str!("../../data/sql-table-functions.txt")));

/// Beginnings of the messages that mean "over a size limit".
pub(super) fn limit_messages() -> impl Iterator<Item = &'static str> {
    data_lines(include_str!("../../data/sqlite-limit-messages.txt"))
}

/// Lower-case names from a data file: words separated by blanks.
#[derive(Debug)]
pub(crate) struct NameSet(HashSet<&'static str>);

impl NameSet {
    pub fn read(text: &'static str) -> Self {
        Self(data_lines(text).flat_map(str::split_whitespace).collect())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name.to_ascii_lowercase().as_str())
    }
}

/// Whether a name suggests secrets, by `data/sensitive-names.txt`.
fn is_sensitive(name: &str) -> bool {
    static PHRASES: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
        let lines = data_lines(include_str!("../../data/sensitive-names.txt"));
        lines.map(|line| line.split_whitespace().collect()).collect()
    });
    let words = words_of_name(name);
    PHRASES.iter().any(|phrase| words.windows(phrase.len()).any(|window| window == phrase.as_slice()))
}

/// `userAPIKey_2` → `user`, `api`, `key`.
fn words_of_name(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, c) in letters.iter().enumerate() {
        if !c.is_alphabetic() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|i| letters[i]);
        let after = letters.get(at + 1);
        let starts =
            c.is_uppercase() && (before.is_some_and(char::is_lowercase) || after.is_some_and(|a| a.is_lowercase()));
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_by_their_words() {
        for name in [
            "secrets",
            "SECRETS",
            "app_tokens",
            "userPassword",
            "password_hash",
            "pin",
            "API_KEY",
            "apiKey",
            "userAPIKey2",
            "v_secrets",
            "stripe-secret-key",
            "Pin",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in [
            "customers",
            "shipping",
            "pinned",
            "opinion",
            "tokenizer",
            "keys",
            "key",
            "name",
            "secretary",
            "spin",
            "",
            "apis",
        ] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
