use std::collections::BTreeSet;
use std::time::Duration;

use super::sensitive::is_sensitive;

/// Which tables and views a query may read. Names compare without regard to ASCII case, as in SQL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Tables {
    /// Every table and view of the database's own; never `sqlite_*`.
    #[default]
    All,
    /// Only these.
    Allow(BTreeSet<String>),
    /// All but these.
    Deny(BTreeSet<String>),
}

/// A column of a table, for [`Policy::deny_columns`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ColumnRef {
    /// Table or view.
    pub table: String,
    /// Column of it.
    pub column: String,
}

/// Which SQL functions a query may call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Functions {
    /// The built-in list of functions without side effects (`data/sql-functions.txt`).
    #[default]
    Standard,
    /// Only these.
    Allow(BTreeSet<String>),
}

/// Bounds of one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rows returned; more are cut off and reported as truncated. Default 1000.
    pub rows: usize,
    /// Bytes of all returned values together; more are cut off and reported as truncated. Default 1 MiB.
    pub bytes: usize,
    /// Rows that a statement may change; beyond that it is rolled back. Default none.
    pub changes: Option<u64>,
    /// Changed rows that are kept for an undo; more cannot be undone. Default 1000.
    pub undo_rows: usize,
    /// Bytes of them. Default 1 MiB.
    pub undo_bytes: usize,
    /// Wall time, compilation included. Default 2 s.
    pub wall: Duration,
    /// Instructions of `SQLite`'s virtual machine; `None` leaves it to the wall time. Default none.
    pub steps: Option<u64>,
    /// Bytes of one string, blob or row, inside the query as well. Default 1 MiB.
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

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 1000,
            bytes: 1 << 20,
            changes: None,
            undo_rows: 1000,
            undo_bytes: 1 << 20,
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

/// What a guarded connection lets a statement do. The default suits a database in a workspace: all of its own
/// tables readable, nothing writable, the schema tables and pragmas closed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Readable tables.
    pub tables: Tables,
    /// Columns that are never read, also not by WHERE or inside a view.
    pub deny_columns: BTreeSet<ColumnRef>,
    /// Tables and columns whose names speak of secrets are closed too (`data/sensitive-names.txt`), unless `tables`
    /// is a list of allowed ones that names the table, or `allow_columns` names the column.
    pub deny_sensitive: bool,
    /// Columns open in spite of their names.
    pub allow_columns: BTreeSet<ColumnRef>,
    /// Callable functions.
    pub functions: Functions,
    /// Bounds of each query.
    pub limits: Limits,
}

impl Policy {
    /// The default for a database that nobody has set rules for: what its names call secret stays closed.
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

    /// Whether the table or view may be read at all.
    pub fn allows_table(&self, table: &str) -> bool {
        let listed = |set: &BTreeSet<String>| set.iter().any(|t| t.eq_ignore_ascii_case(table));
        match &self.tables {
            _ if is_internal(table) => false,
            Tables::All => !self.sensitive(table),
            Tables::Allow(set) => listed(set),
            Tables::Deny(set) => !listed(set) && !self.sensitive(table),
        }
    }

    /// Whether the column may be read; says nothing of its table.
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
