//! Statements for MariaDB and MySQL.

use std::any::TypeId;
use std::sync::OnceLock;

use sqlparser::dialect::{Dialect, MySqlDialect};

use super::error::SqlError;
use super::parsed::{self, Checked, NameSet, Rules};

/// Reads words, texts and comments as a server does in the mode `NO_BACKSLASH_ESCAPES`, which is set for the session:
/// a backslash is a character like any other. Comments are only comments; those that the server would run are refused.
#[derive(Debug)]
struct Lexer;

impl Dialect for Lexer {
    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    fn requires_single_line_comment_whitespace(&self) -> bool {
        true
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        MySqlDialect {}.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        MySqlDialect {}.is_identifier_part(ch)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        false
    }

    fn supports_multiline_comment_hints(&self) -> bool {
        false
    }
}

/// Whether the statement is a single query without effects; with `write`, a single INSERT, UPDATE or DELETE too.
///
/// # Errors
/// [`SqlError::Denied`], [`SqlError::Limit`] or [`SqlError::Syntax`].
pub fn check(sql: &str, write: bool) -> Result<Checked, SqlError> {
    parsed::check(sql, &Lexer, &MySqlDialect {}, rules(write))
}

fn rules(write: bool) -> &'static Rules {
    static RULES: [OnceLock<Rules>; 2] = [OnceLock::new(), OnceLock::new()];
    RULES[usize::from(write)].get_or_init(|| Rules {
        functions: NameSet::read(include_str!("../../../data/mysql-functions.txt")),
        table_functions: NameSet::read(""),
        words: NameSet::read("current_role current_user"),
        searching: NameSet::read(include_str!("../../../data/mysql-searching-functions.txt")),
        growing: NameSet::read(include_str!("../../../data/mysql-growing-functions.txt")),
        types: NameSet::read(include_str!("../../../data/mysql-types.txt")),
        closed_schemas: NameSet::read("information_schema mysql performance_schema sys"),
        closed_prefixes: &[],
        live_comments: true,
        write,
    })
}
