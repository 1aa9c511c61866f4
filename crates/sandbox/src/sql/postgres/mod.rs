//! Statements for PostgreSQL.

use std::sync::OnceLock;

use sqlparser::dialect::PostgreSqlDialect;

use super::error::SqlError;
use super::parsed::{self, Checked, NameSet, Rules};

const DIALECT: &PostgreSqlDialect = &PostgreSqlDialect {};

/// Whether the statement is a single query without effects; with `write`, a single INSERT, UPDATE or DELETE too.
///
/// # Errors
/// [`SqlError::Denied`], [`SqlError::Limit`] or [`SqlError::Syntax`].
pub fn check(sql: &str, write: bool) -> Result<Checked, SqlError> {
    parsed::check(sql, DIALECT, DIALECT, rules(write))
}

fn rules(write: bool) -> &'static Rules {
    static RULES: [OnceLock<Rules>; 2] = [OnceLock::new(), OnceLock::new()];
    RULES[usize::from(write)].get_or_init(|| Rules {
        functions: NameSet::read(include_str!("../../../data/postgres-functions.txt")),
        table_functions: NameSet::read(include_str!("../../../data/postgres-table-functions.txt")),
        words: NameSet::read("current_role current_user session_user system_user user current_catalog current_schema"),
        searching: NameSet::read(include_str!("../../../data/postgres-searching-functions.txt")),
        growing: NameSet::read(include_str!("../../../data/postgres-growing-functions.txt")),
        types: NameSet::read(include_str!("../../../data/postgres-types.txt")),
        closed_schemas: NameSet::read("information_schema pg_catalog pg_toast"),
        closed_prefixes: &["pg_"],
        live_comments: false,
        write,
    })
}
