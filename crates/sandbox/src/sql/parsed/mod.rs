//! Statements for servers that have no authorizer: parsed here, judged by lists of what is permitted, and sent as
//! written anew from what was judged, so that no server can read another statement than the one that was checked.
//! The boundary behind it is the server's own: a role of its own and a read-only transaction.

mod fields;
mod names;
mod rules;
mod script;
mod size;
mod walk;
mod write;

use std::ops::ControlFlow;
use std::sync::OnceLock;

use sqlparser::ast::{Statement, TableFactor, VisitMut, VisitorMut};
use sqlparser::dialect::Dialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

pub(super) use names::NameSet;
pub(super) use rules::Rules;
use script::{Bare, Reader};
pub use write::{Matched, Verb, Write};

use super::error::{SqlError, told};

/// Bytes of a statement.
const MOST_BYTES: usize = 100 << 10;
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
    /// Functions that it calls, as the server looks their names up.
    pub calls: Vec<String>,
    /// What stands after a dot, where the server may take it for a call.
    pub fields: Vec<String>,
}

/// Reads `sql` with `lexer` and `grammar` and judges it by `rules`.
pub(super) fn check(
    sql: &str,
    lexer: &'static (dyn Dialect + Sync),
    grammar: &'static (dyn Dialect + Sync),
    rules: &Rules,
) -> Result<Checked, SqlError> {
    if sql.len() > MOST_BYTES {
        return Err(limit(&format!("the statement is longer than {MOST_BYTES} bytes")));
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

fn judge(sql: &str, lexer: &dyn Dialect, grammar: &dyn Dialect, rules: &Rules) -> Result<Checked, SqlError> {
    let reader = Reader { lexer, rules };
    let tokens = reader.read(sql)?;
    let bare = Bare::of(&tokens);
    let statement = single(tokens, grammar)?;
    let mut walked = walk::walk(&statement, rules)?;
    let fields = fields::fields(&statement, rules)?;
    walked.calls.extend(fields.of_values);
    size::bounded(&statement, rules)?;
    let mut skeleton = single(bare.tokens.clone(), grammar)?;
    // `FROM ONLY t` is no table ONLY that is called t, so the server shall see AS.
    let _ = skeleton.visit(&mut Explicit);
    let written = skeleton.to_string();
    // What the grammar writes must be what it has read, or something was judged that is not sent.
    if single(reader.read(&written)?, grammar)?.to_string() != written {
        return Err(script::two_ways());
    }
    let fill = |written: &str| reader.fill(&bare, written);
    Ok(Checked {
        sql: fill(&written)?,
        writes: !matches!(statement, Statement::Query(_)),
        parameters: walked.parameters,
        write: write::of(&statement, &skeleton, &fill, volatile())?,
        calls: walked.calls,
        fields: fields.of_rows,
    })
}

/// Writes AS before what a table is called.
struct Explicit;

impl VisitorMut for Explicit {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } = factor
            && let Some(alias) = alias
        {
            alias.explicit = true;
        }
        ControlFlow::Continue(())
    }
}

fn single(tokens: Vec<Token>, grammar: &dyn Dialect) -> Result<Statement, SqlError> {
    let mut statements =
        Parser::new(grammar).with_recursion_limit(NESTING).with_tokens(tokens).parse_statements().map_err(
            |e| match e {
                ParserError::RecursionLimitExceeded => limit("the statement is nested too deeply"),
                other => unread(&other.to_string()),
            },
        )?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        (None, _) => Err(SqlError::Syntax { message: "there is no statement".to_owned(), hint: None }),
        _ => Err(denied("more than one statement", "Send one statement at a time.")),
    }
}

fn volatile() -> &'static NameSet {
    static NAMES: OnceLock<NameSet> = OnceLock::new();
    NAMES.get_or_init(|| NameSet::read(include_str!("../../../data/volatile-functions.txt")))
}

fn unread(message: &str) -> SqlError {
    denied(
        &format!("a statement that is not understood ({message})"),
        "Only a single SELECT, VALUES or WITH … SELECT in plain SQL is run.",
    )
}

pub(super) fn denied(what: &str, hint: &str) -> SqlError {
    SqlError::Denied { what: told(what), hint: hint.to_owned() }
}

fn limit(what: &str) -> SqlError {
    SqlError::Limit { what: what.to_owned() }
}
