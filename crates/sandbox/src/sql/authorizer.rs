use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use steward_core::locks::lock;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::catalog::Names;
use super::error::{SqlError, denied};
use super::policy::{FUNCTIONS, Policy, TABLE_FUNCTIONS, Tables, is_internal};

/// What the authorizer of a session has seen.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// SQLite's own message only says "not authorized".
    pub refusal: Option<SqlError>,
    /// Allowed virtual tables and table-valued functions, in lower case.
    pub virtual_reads: HashSet<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Findings>>);

impl Slot {
    pub fn lock(&self) -> MutexGuard<'_, Findings> {
        lock(&self.0)
    }
}

/// Allows what `decide` does; keeps its first refusal.
pub(super) fn callback(
    slot: Slot,
    mut decide: impl FnMut(&AuthContext<'_>, &mut Findings) -> Result<(), SqlError> + Send + 'static,
) -> impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static {
    move |context| {
        let mut findings = slot.lock();
        match decide(&context, &mut findings) {
            Ok(()) => Authorization::Allow,
            Err(refusal) => {
                findings.refusal.get_or_insert(refusal);
                Authorization::Deny
            }
        }
    }
}

/// The names of the triggers that record a write begin with `recorder`; without it nothing may be written.
pub(super) fn judge(
    policy: &Policy,
    names: &Names,
    recorder: Option<&str>,
    context: &AuthContext<'_>,
    findings: &mut Findings,
) -> Result<(), SqlError> {
    if recorder.is_some_and(|prefix| context.accessor.is_some_and(|name| name.starts_with(prefix))) {
        return Ok(());
    }
    decide(policy, names, context, recorder.is_some())?;
    if let AuthAction::Read { table_name, .. } = context.action {
        let lower = table_name.to_ascii_lowercase();
        if names.virtual_tables.contains(&lower) || (!names.tables.contains(&lower) && TABLE_FUNCTIONS.has(&lower)) {
            findings.virtual_reads.insert(lower);
        }
    }
    Ok(())
}

const ONLY_READ: &str = "Only a single SELECT, VALUES or WITH … SELECT is run.";
pub(super) const ORDINARY: &str = "Change the ordinary tables of the database.";
pub(super) const ONLY_ROWS: &str = "Only a single SELECT, INSERT, UPDATE or DELETE is run.";

fn decide(policy: &Policy, names: &Names, context: &AuthContext<'_>, writes: bool) -> Result<(), SqlError> {
    match context.action {
        AuthAction::Insert { table_name } | AuthAction::Delete { table_name } if writes => {
            change(policy, names, context.database_name, table_name, "")
        }
        AuthAction::Update { table_name, column_name } if writes => {
            change(policy, names, context.database_name, table_name, column_name)
        }
        AuthAction::Select | AuthAction::Recursive => Ok(()),
        AuthAction::Read { table_name, column_name } => {
            read(policy, names, context.database_name, table_name, column_name)
        }
        AuthAction::Function { function_name } => function(function_name),
        other => Err(denied(&describe(&other), if writes { ONLY_ROWS } else { ONLY_READ })),
    }
}

/// What may not be read may not be changed either, nor anything but ordinary tables.
fn change(policy: &Policy, names: &Names, database: Option<&str>, table: &str, column: &str) -> Result<(), SqlError> {
    let lower = table.to_ascii_lowercase();
    if names.virtual_tables.contains(&lower) || !names.tables.contains(&lower) {
        return Err(denied(&format!("changing {table}"), ORDINARY));
    }
    read(policy, names, database, table, column)
}

pub(super) fn read(
    policy: &Policy,
    names: &Names,
    database: Option<&str>,
    table: &str,
    column: &str,
) -> Result<(), SqlError> {
    let lower = table.to_ascii_lowercase();
    let refuse = |what: &str, hint: &str| Err(denied(what, hint));
    if is_internal(table) {
        return Err(internal(table));
    }
    if let Some(other) = database.filter(|name| !name.eq_ignore_ascii_case("main")) {
        return refuse(&format!("database {other}"), "Only the main database is readable.");
    }
    if names.tables.contains(&lower) {
        if !policy.allows_table(table) {
            return refuse(&format!("table {table}"), "Ask for another table, or have this one allowed.");
        }
        // Their modules run statements of their own, and have ways to the text of every column.
        if names.virtual_tables.contains(&lower) {
            let what = format!("table {table}, which is a virtual one");
            return refuse(&what, "Query the ordinary tables of the database.");
        }
        if !column.is_empty() && !policy.allows_column(table, column) {
            let what = format!("column {table}.{column}");
            return refuse(&what, "Leave it out; with *, name the columns that you need instead.");
        }
        return Ok(());
    }
    if TABLE_FUNCTIONS.has(&lower) {
        return Ok(());
    }
    if names.modules.contains(&lower) {
        return refuse(&format!("table-valued function {table}"), "Query the tables of the database.");
    }
    // SQLite names a table without a column when only its rows are used (count(*)), and does so for common table
    // expressions and subqueries too. A name that is neither a table nor a module can only be one of those, since a
    // missing table is an error before this point, and the schema cannot change inside our transaction.
    if column.is_empty() && (!matches!(policy.tables, Tables::Deny(_)) || policy.allows_table(table)) {
        return Ok(());
    }
    refuse(&format!("table {table}"), "Query the tables of the database.")
}

pub(super) fn internal(table: &str) -> SqlError {
    denied(&format!("table {table}"), "The schema is available separately; query the tables themselves.")
}

pub(super) fn function(name: &str) -> Result<(), SqlError> {
    if FUNCTIONS.has(name) {
        return Ok(());
    }
    Err(denied(&format!("function {name}"), "Use the standard SQL functions."))
}

/// `Pragma { pragma_name: "x", … }` → `PRAGMA x`; the rest by the name of the action.
fn describe(action: &AuthAction<'_>) -> String {
    match action {
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => "attaching or detaching a database".to_owned(),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "transaction control".to_owned(),
        AuthAction::Insert { table_name } => format!("INSERT into {table_name}"),
        AuthAction::Update { table_name, .. } => format!("UPDATE of {table_name}"),
        AuthAction::Delete { table_name } => format!("DELETE from {table_name}"),
        _ => "a statement that does more than read".to_owned(),
    }
}
