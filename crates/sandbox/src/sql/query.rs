use std::collections::BTreeSet;

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Batch, ErrorCode, Statement, params_from_iter};
use serde::Serialize;
use serde_json::{Value, json};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::catalog::Names;
use super::error::{SqlError, denied, limit, shorten, syntax, timeout};
use super::policy::{self, Policy, is_internal};
use super::{Guard, Session, authorizer, bytecode_check};
use crate::files::near_matches;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncated {
    Rows,
    Bytes,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rows {
    /// Names can repeat.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
    /// `None` if it is complete.
    pub truncated: Option<Truncated>,
}

impl Guard {
    pub fn query(&self, sql: &str) -> Result<Rows, SqlError> {
        self.query_with(sql, &[])
    }

    /// Like [`Guard::query`], with values bound to `?1`, `?2`…
    pub fn query_with(&self, sql: &str, parameters: &[Value]) -> Result<Rows, SqlError> {
        let bound = bind(sql, parameters)?;
        self.session(|session| {
            let names = session.enforce_policy(None)?;
            let mut statement = session.single(sql)?;
            if !statement.readonly() {
                return Err(denied("a statement that writes", "Only reading is possible here."));
            }
            session.check_program(sql, &statement, &names)?;
            fits(statement.parameter_count(), bound.len())?;
            session.collect(&mut statement, bound)
        })
    }
}

/// Parameters as SQL values; also refuses a statement with a NUL character.
pub(super) fn bind(sql: &str, parameters: &[Value]) -> Result<Vec<SqlValue>, SqlError> {
    if sql.contains('\0') {
        return Err(syntax("the statement holds a NUL character"));
    }
    (1..).zip(parameters).map(|(index, value)| from_json(index, value)).collect()
}

pub(super) fn fits(expected: usize, given: usize) -> Result<(), SqlError> {
    if expected == given {
        return Ok(());
    }
    let reason = format!("the statement takes {expected} values, {given} were given");
    Err(SqlError::Parameter { index: given.min(expected) + 1, reason })
}

impl<'g> Session<'g> {
    /// Compiles exactly one statement, which must return rows or change some.
    pub(super) fn single(&self, sql: &str) -> Result<Statement<'g>, SqlError> {
        let mut batch = Batch::new(&self.guard.conn, sql);
        let first = batch.next().map_err(|e| self.unreadable(e, sql))?;
        let statement = first.ok_or_else(|| syntax("there is no statement"))?;
        // A second statement is refused whether it is harmless, forbidden or broken.
        if !matches!(batch.next(), Ok(None)) {
            return Err(denied("more than one statement", "Send one statement at a time."));
        }
        if statement.readonly() && statement.column_count() == 0 {
            return Err(denied("a statement that returns no rows", "Only a query is run."));
        }
        Ok(statement)
    }

    /// Something closed gets the same refusal as in a valid statement, so that nobody learns which names exist.
    fn unreadable(&self, error: rusqlite::Error, sql: &str) -> SqlError {
        let error = self.classify(error);
        if !matches!(error, SqlError::Syntax { .. }) {
            return error;
        }
        let tokens = Tokenizer::new(&SQLiteDialect {}, sql).tokenize().unwrap_or_default();
        let known = self.guard.names.borrow();
        match known.as_ref().and_then(|(_, names)| named(&tokens, names, &self.guard.policy)) {
            Some(what) => denied(&what, "Ask for something else."),
            None => error,
        }
    }

    /// Checks the compiled program; returns the tables that it writes.
    pub(super) fn check_program(
        &self,
        sql: &str,
        statement: &Statement<'_>,
        names: &Names,
    ) -> Result<BTreeSet<String>, SqlError> {
        // An EXPLAIN lists its program and runs none of it.
        if statement.is_explain() != 0 {
            return Ok(BTreeSet::new());
        }
        let guard = self.guard;
        let reads = self.slot.lock().virtual_reads.len();
        let checked = bytecode_check::check(&guard.conn, sql, &guard.policy, names, reads);
        let checked = checked.map_err(|error| self.classify(error))?;
        match checked.forbidden {
            None => Ok(checked.written),
            Some(what) => Err(denied(&what, "Join on other columns, or ask for another table.")),
        }
    }

    pub(super) fn collect(&self, statement: &mut Statement<'_>, parameters: Vec<SqlValue>) -> Result<Rows, SqlError> {
        let limits = &self.guard.policy.limits;
        let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let mut out = Rows { rows: Vec::new(), truncated: None, columns };
        let mut bytes = 0usize;
        let mut cursor = statement.query(params_from_iter(parameters)).map_err(|e| self.classify(e))?;
        while let Some(row) = cursor.next().map_err(|e| self.classify(e))? {
            if out.rows.len() >= limits.rows {
                out.truncated = Some(Truncated::Rows);
                break;
            }
            let cells = (0..out.columns.len()).map(|index| row.get_ref(index)).collect::<rusqlite::Result<Vec<_>>>();
            let cells = cells.map_err(|e| self.classify(e))?;
            bytes = cells.iter().fold(bytes, |sum, cell| sum.saturating_add(size(*cell)));
            if bytes > limits.bytes {
                if out.rows.is_empty() {
                    return Err(limit(format!("the first row is larger than {} bytes", limits.bytes)));
                }
                out.truncated = Some(Truncated::Bytes);
                break;
            }
            out.rows.push(cells.into_iter().map(to_json).collect());
        }
        self.in_time()?;
        Ok(out)
    }

    pub(super) fn classify(&self, error: rusqlite::Error) -> SqlError {
        if let Some(refusal) = self.slot.lock().refusal.take() {
            return refusal;
        }
        let message = message_of(&error);
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) if self.timed_out() => timeout(&self.guard.policy.limits),
            Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => limit(message),
            Some(ErrorCode::AuthorizationForStatementDenied) => denied(&message, "Only reading is possible here."),
            Some(ErrorCode::ReadOnly) => denied("writing", "Only reading is possible here."),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqlError::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                SqlError::Corrupt { path: self.guard.path.clone(), reason: message }
            }
            Some(ErrorCode::Unknown) | None if policy::limit_messages().any(|m| message.starts_with(m)) => {
                limit(message)
            }
            Some(ErrorCode::Unknown) => self.invalid(message),
            None if matches!(error, rusqlite::Error::SqlInputError { .. }) => self.invalid(message),
            _ => SqlError::Sqlite(error),
        }
    }

    /// A missing function that is not listed is refused like any other; otherwise similar names are looked up.
    fn invalid(&self, message: String) -> SqlError {
        if let Some(name) = message.strip_prefix("no such function: ")
            && let Err(refusal) = authorizer::function(name)
        {
            return refusal;
        }
        if let Some(table) = message.strip_prefix("no such table: ")
            && is_internal(table)
        {
            return authorizer::internal(table);
        }
        if message.ends_with(" may not be modified") {
            return denied(&message, authorizer::ORDINARY);
        }
        let hint = self.near(&message);
        SqlError::Syntax { message, hint }
    }

    fn near(&self, message: &str) -> Option<String> {
        self.lift_policy().ok()?;
        if let Some(wanted) = message.strip_prefix("no such table: ") {
            return suggest(wanted, &self.readable_tables().ok()?, "the tables are");
        }
        let wanted = message.strip_prefix("no such column: ")?;
        let column = wanted.rsplit('.').next().unwrap_or(wanted);
        suggest(column, &self.readable_columns().ok()?, "the columns are")
    }
}

/// The first name of something closed, or of a table-valued function that is not allowed.
fn named(tokens: &[Token], names: &Names, policy: &Policy) -> Option<String> {
    let mut tokens = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).peekable();
    let mut before: Option<&Token> = None;
    while let Some(token) = tokens.next() {
        if let Token::Word(word) = token {
            let lower = word.value.to_ascii_lowercase();
            let closed = names.tables.contains(&lower) && !policy.allows_table(&lower);
            if closed || is_internal(&lower) {
                return Some(format!("table {}", word.value));
            }
            if names.closed.values().any(|columns| columns.contains(&lower)) {
                return Some(format!("column {}", word.value));
            }
            let source =
                matches!(before, Some(Token::Word(word)) if matches!(word.keyword, Keyword::FROM | Keyword::JOIN));
            let called = matches!(tokens.peek(), Some(Token::LParen));
            if source && called && !policy::TABLE_FUNCTIONS.has(&lower) {
                return Some(format!("table-valued function {}", word.value));
            }
        }
        before = Some(token);
    }
    None
}

fn suggest(wanted: &str, names: &[String], listing: &str) -> Option<String> {
    let near = near_matches(wanted, names.iter().map(String::as_str));
    if !near.is_empty() {
        return Some(format!("did you mean {}?", near.join(", ")));
    }
    (!names.is_empty() && names.len() <= 30).then(|| format!("{listing} {}", names.join(", ")))
}

fn message_of(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => shorten(message),
        rusqlite::Error::SqlInputError { msg, .. } => shorten(msg),
        other => shorten(&other.to_string()),
    }
}

/// Bytes of a blob that are shown.
const BLOB_PREFIX: usize = 32;

/// Infinite numbers become text, a blob its size and beginning.
pub(super) fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => Value::from(i),
        ValueRef::Real(r) => serde_json::Number::from_f64(r).map_or_else(|| Value::from(r.to_string()), Value::Number),
        ValueRef::Text(bytes) => Value::from(String::from_utf8_lossy(bytes)),
        ValueRef::Blob(bytes) => blob(bytes),
    }
}

pub(super) fn blob(bytes: &[u8]) -> Value {
    json!({ "blob_bytes": bytes.len(), "hex_prefix": hex::encode(&bytes[..bytes.len().min(BLOB_PREFIX)]) })
}

/// What counts against the result's size limit, bytes.
pub(super) fn size(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null => 4,
        ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(bytes) => bytes.len(),
        ValueRef::Blob(bytes) => bytes.len().min(BLOB_PREFIX) * 2 + 32,
    }
}

fn from_json(index: usize, value: &Value) -> Result<SqlValue, SqlError> {
    let bad = |reason: &str| SqlError::Parameter { index, reason: reason.to_owned() };
    match value {
        Value::Null => Ok(SqlValue::Null),
        Value::Bool(b) => Ok(SqlValue::Integer(i64::from(*b))),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Ok(SqlValue::Integer(i)),
            (None, Some(f)) => Ok(SqlValue::Real(f)),
            (None, None) => Err(bad("the number is out of range")),
        },
        Value::String(s) => Ok(SqlValue::Text(s.clone())),
        Value::Array(_) | Value::Object(_) => Err(bad("use a text, number, boolean or null")),
    }
}
