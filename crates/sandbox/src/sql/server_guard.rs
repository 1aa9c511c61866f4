//! Checks statements for servers, which have no authorizer. A statement is parsed here, judged by lists of what is
//! permitted, and sent as written anew from what was judged, so that the server cannot read another statement than
//! the one that was checked. Behind it stands the server's own boundary: a separate role and a read-only transaction.

mod bounds;
mod tokens;
mod walk;
mod write;

pub use write::{Matched, Verb, Write};

use std::ops::ControlFlow;
use std::sync::LazyLock;

use sqlparser::ast::{Statement, TableFactor, VisitMut, VisitorMut};
use sqlparser::dialect::Dialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::error::{SqlError, denied, limit, syntax};
use super::policy::NameSet;
use tokens::{Bare, Reader};

/// Most bytes of a statement.
const MOST_BYTES: usize = 100 << 10;
const NESTING: usize = 50;
/// Stack for walking the deepest statement that the limits allow; memory is taken only as it is used.
const STACK: usize = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub sql: String,
    pub writes: bool,
    pub parameters: usize,
    pub write: Option<Write>,
    /// The functions that it calls, by the names that the server looks up.
    pub calls: Vec<String>,
    /// Names after a dot, which the server may take for calls.
    pub fields: Vec<String>,
}

/// Checks that the statement is a single query without effects or, with `write`, a single INSERT, UPDATE or DELETE.
pub(super) fn check(sql: &str, rules: &Rules, write: bool) -> Result<Checked, SqlError> {
    if sql.len() > MOST_BYTES {
        return Err(limit(format!("the statement is longer than {MOST_BYTES} bytes")));
    }
    if sql.contains('\0') {
        return Err(denied("a NUL character", "Leave it out."));
    }
    // Trees are walked and dropped recursively, and may be as deep as the statement is long.
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || judge(sql, rules, write))
            .map_err(|e| limit(e.to_string()))?
            .join()
            .map_err(|_| denied("a statement that cannot be read", "Simplify it."))?
    })
}

fn judge(sql: &str, rules: &Rules, write: bool) -> Result<Checked, SqlError> {
    let (reader, grammar) = (Reader { rules }, rules.grammar);
    let tokens = reader.read(sql)?;
    let bare = Bare::of(&tokens);
    let statement = single(tokens, grammar)?;
    let mut walked = walk::walk(&statement, rules, write)?;
    let fields = bounds::fields(&statement, rules)?;
    walked.calls.extend(fields.of_values);
    bounds::bounded(&statement, rules)?;
    let mut skeleton = single(bare.tokens.clone(), grammar)?;
    // With AS, the server cannot take the ONLY in `FROM ONLY t` for a table.
    let _ = skeleton.visit(&mut Explicit);
    let written = skeleton.to_string();
    // What the grammar writes must mean what it has read; otherwise the server would get something that was not judged.
    if single(reader.read(&written)?, grammar)?.to_string() != written {
        return Err(tokens::two_ways());
    }
    let fill = |written: &str| reader.fill(&bare, written);
    Ok(Checked {
        sql: fill(&written)?,
        writes: !matches!(statement, Statement::Query(_)),
        parameters: walked.parameters,
        write: write::of(&statement, &skeleton, &fill)?,
        calls: walked.calls,
        fields: fields.of_rows,
    })
}

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
    let mut parser = Parser::new(grammar).with_recursion_limit(NESTING).with_tokens(tokens);
    let mut statements = parser.parse_statements().map_err(|error| match error {
        ParserError::RecursionLimitExceeded => limit("the statement is nested too deeply"),
        other => unread(&other.to_string()),
    })?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        (None, _) => Err(syntax("there is no statement")),
        _ => Err(denied("more than one statement", "Send one statement at a time.")),
    }
}

static VOLATILE: LazyLock<NameSet> = LazyLock::new(|| NameSet::read(include_str!("../../data/volatile-functions.txt")));

fn unread(message: &str) -> SqlError {
    denied(
        &format!("a statement that is not understood ({message})"),
        "Only a single SELECT, VALUES or WITH … SELECT in plain SQL is run.",
    )
}

#[derive(Debug)]
pub(crate) struct Rules {
    /// Reads the tokens as the server does.
    pub lexer: &'static (dyn Dialect + Sync),
    pub grammar: &'static (dyn Dialect + Sync),
    /// Functions without effects, and those written without parentheses.
    pub functions: NameSet,
    pub table_functions: NameSet,
    /// Words that call a function without parentheses and tell about the session.
    pub words: NameSet,
    /// Functions that search for one of their arguments in another without looking at the clock, each as `name:place`.
    pub searching: NameSet,
    /// Functions whose result can be far larger than their arguments.
    pub growing: NameSet,
    /// Types that may be cast to: reading their texts looks nothing up.
    pub types: NameSet,
    /// Schemas that describe the server or the session.
    pub closed_schemas: NameSet,
    /// Prefixes of the names of such tables, in any schema.
    pub closed_prefixes: &'static [&'static str],
    /// Whether the server runs comments such as `/*! … */`.
    pub live_comments: bool,
}

impl Rules {
    /// Whether the server reserves names such as this one, in any schema.
    pub fn closes(&self, name: &str) -> bool {
        let lower = name.to_lowercase();
        self.closed_prefixes.iter().any(|prefix| lower.starts_with(prefix))
    }
}
