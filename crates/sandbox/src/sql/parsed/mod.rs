//! Statements for servers that have no authorizer: parsed here, judged by lists of what is permitted, and sent as
//! written anew from what was judged, so that no server can read another statement than the one that was checked.
//! The boundary behind it is the server's own: a role of its own and a read-only transaction.

mod names;
mod rules;
mod walk;
mod write;

use std::sync::OnceLock;

use sqlparser::ast::Statement;
use sqlparser::dialect::Dialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

pub(super) use names::NameSet;
pub(super) use rules::Rules;
pub use write::{Matched, Verb, Write};

use super::error::{SqlError, told};

/// Bytes of a statement.
const MOST_BYTES: usize = 100 << 10;
/// Words, numbers and signs of a statement.
const MOST_TOKENS: usize = 5000;
/// Nested parentheses and subqueries.
const NESTING: usize = 50;
/// Room for walking the deepest statement that the limits allow; taken only as far as it is used.
const STACK: usize = 64 << 20;

/// A statement that may be run, and only in this form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The statement, written anew.
    pub sql: String,
    /// Whether it changes rows.
    pub writes: bool,
    /// How many values it takes.
    pub parameters: usize,
    /// What is known of it as a write of one table.
    pub write: Option<Write>,
}

/// Reads `sql` with `lexer` and `grammar` and judges it by `rules`.
pub(super) fn check(
    sql: &str,
    lexer: &'static (dyn Dialect + Sync),
    grammar: &'static (dyn Dialect + Sync),
    rules: &Rules,
) -> Result<Checked, SqlError> {
    if sql.len() > MOST_BYTES {
        return Err(limit(&format!(
            "the statement is longer than {MOST_BYTES} bytes"
        )));
    }
    if sql.contains('\0') {
        return Err(denied("a NUL character", "Leave it out."));
    }
    // A tree as deep as the statement is long is walked, and dropped, by recursion.
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || judge(sql, lexer, grammar, rules))
            .map_err(|e| limit(&e.to_string()))?
            .join()
            .map_err(|_| denied("a statement that cannot be read", "Simplify it."))?
    })
}

fn judge(
    sql: &str,
    lexer: &dyn Dialect,
    grammar: &dyn Dialect,
    rules: &Rules,
) -> Result<Checked, SqlError> {
    let tokens = Tokenizer::new(lexer, sql)
        .with_unescape(true)
        .tokenize()
        .map_err(|e| unread(&e.to_string()))?;
    tokens
        .iter()
        .try_for_each(|token| permitted(token, rules))?;
    let written = |token: &&Token| !matches!(token, Token::Whitespace(_));
    let count = tokens.iter().filter(written).count();
    if count > MOST_TOKENS {
        return Err(limit(&format!(
            "the statement has more than {MOST_TOKENS} words"
        )));
    }
    let statements = Parser::new(grammar)
        .with_recursion_limit(NESTING)
        .with_tokens(tokens)
        .parse_statements()
        .map_err(|e| match e {
            ParserError::RecursionLimitExceeded => limit("the statement is nested too deeply"),
            other => unread(&other.to_string()),
        })?;
    let [statement] = statements.as_slice() else {
        return Err(if statements.is_empty() {
            SqlError::Syntax {
                message: "there is no statement".to_owned(),
                hint: None,
            }
        } else {
            denied("more than one statement", "Send one statement at a time.")
        });
    };
    let parameters = walk::walk(statement, rules)?;
    Ok(Checked {
        sql: statement.to_string(),
        writes: !matches!(statement, Statement::Query(_)),
        parameters,
        write: write::of(statement, volatile()),
    })
}

fn volatile() -> &'static NameSet {
    static NAMES: OnceLock<NameSet> = OnceLock::new();
    NAMES.get_or_init(|| NameSet::read(include_str!("../../../data/volatile-functions.txt")))
}

/// What has no place in a statement whatever the grammar makes of it.
fn permitted(token: &Token, rules: &Rules) -> Result<(), SqlError> {
    match token {
        // Servers run some comments, and take others for orders to the planner.
        Token::Whitespace(Whitespace::MultiLineComment(text))
            if rules.live_comments && text.trim_start_matches('M').starts_with(['!', '+']) =>
        {
            Err(denied("a comment that the server runs", "Leave it out."))
        }
        Token::AtSign => Err(denied("a variable of the session", "Use plain values.")),
        Token::AtAt if rules.live_comments => {
            Err(denied("a variable of the server", "Use plain values."))
        }
        Token::Word(word) if word.quote_style.is_none() && word.value.starts_with('@') => {
            Err(denied("a variable", "Use plain values."))
        }
        _ => Ok(()),
    }
}

fn unread(message: &str) -> SqlError {
    denied(
        &format!("a statement that is not understood ({message})"),
        "Only a single SELECT, VALUES or WITH … SELECT in plain SQL is run.",
    )
}

pub(super) fn denied(what: &str, hint: &str) -> SqlError {
    SqlError::Denied {
        what: told(what),
        hint: hint.to_owned(),
    }
}

fn limit(what: &str) -> SqlError {
    SqlError::Limit {
        what: what.to_owned(),
    }
}
