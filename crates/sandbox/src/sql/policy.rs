use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;
use std::time::Duration;

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

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Functions {
    /// The built-in list of functions without side effects (`data/sql-functions.txt`).
    #[default]
    Standard,
    Allow(BTreeSet<String>),
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
    /// Instructions of SQLite's virtual machine; `None`: only the wall time counts. Default none.
    pub steps: Option<u64>,
    /// Bytes of one string, blob or row, also inside the query. Default 1 MiB.
    pub value_bytes: usize,
    /// Bytes of the statement. Default 100 KiB.
    pub sql_bytes: usize,
    /// Depth of an expression. Default 100.
    pub expr_depth: usize,
    /// Columns of a result. Default 200.
    pub columns: usize,
    /// Parts of a UNION. Default 50.
    pub compound: usize,
    /// Instructions of the compiled statement. Default 25,000.
    pub program: usize,
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
            steps: None,
            value_bytes: 1 << 20,
            sql_bytes: 100 << 10,
            expr_depth: 100,
            columns: 200,
            compound: 50,
            program: 25_000,
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
    /// list of allowed ones that names the table, or `allow_columns` names the column.
    pub deny_sensitive: bool,
    /// Open in spite of their names.
    pub allow_columns: BTreeSet<ColumnRef>,
    pub functions: Functions,
    pub limits: Limits,
}

impl Policy {
    /// For a database without rules: names that suggest secrets stay closed.
    pub fn careful() -> Self {
        Self { deny_sensitive: true, ..Self::default() }
    }

    /// All tables but these, and no column of `deny_columns`.
    pub fn denying<'a>(
        tables: impl IntoIterator<Item = &'a str>,
        columns: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        Self {
            tables: Tables::Deny(tables.into_iter().map(str::to_owned).collect()),
            deny_columns: columns
                .into_iter()
                .map(|(table, column)| ColumnRef { table: table.to_owned(), column: column.to_owned() })
                .collect(),
            ..Self::default()
        }
    }

    pub fn allows_table(&self, table: &str) -> bool {
        let listed = |set: &BTreeSet<String>| set.iter().any(|t| t.eq_ignore_ascii_case(table));
        match &self.tables {
            _ if is_internal(table) => false,
            Tables::All => !self.sensitive(table),
            Tables::Allow(set) => listed(set),
            Tables::Deny(set) => !listed(set) && !self.sensitive(table),
            Tables::Prefix(prefix) => table.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix)),
        }
    }

    /// A table beside those of [`Tables::Prefix`], in which the program notes what was done.
    pub(super) fn keeps_for_itself(&self, table: &str) -> bool {
        matches!(self.tables, Tables::Prefix(_)) && table.starts_with(OWN_TABLES)
    }

    /// Does not consider whether its table may be read.
    pub fn allows_column(&self, table: &str, column: &str) -> bool {
        let listed = |set: &BTreeSet<ColumnRef>| {
            set.iter().any(|c| c.table.eq_ignore_ascii_case(table) && c.column.eq_ignore_ascii_case(column))
        };
        !listed(&self.deny_columns) && (!self.sensitive(column) || listed(&self.allow_columns))
    }

    fn sensitive(&self, name: &str) -> bool {
        self.deny_sensitive && is_sensitive(name)
    }
}

/// SQLite reserves these prefixes for its own schema, statistics and pragma tables.
pub(super) fn is_internal(table: &str) -> bool {
    let starts = |prefix: &str| table.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
    starts("sqlite_") || starts("pragma_")
}

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

/// Whether a name suggests secrets, by `data/sensitive-names.txt`.
pub fn is_sensitive(name: &str) -> bool {
    let words = words_of_name(name);
    phrases()
        .iter()
        .any(|phrase| words.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(a, b)| a == b)))
}

fn phrases() -> &'static Vec<Vec<&'static str>> {
    static PHRASES: OnceLock<Vec<Vec<&'static str>>> = OnceLock::new();
    PHRASES.get_or_init(|| {
        include_str!("../../data/sensitive-names.txt")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
            .map(|line| line.split_whitespace().collect())
            .collect()
    })
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
