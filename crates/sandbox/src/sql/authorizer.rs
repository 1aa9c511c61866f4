use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::catalog::Names;
use super::policy::{Functions, Policy, is_internal, standard_functions, table_functions};

#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub what: String,
    pub hint: String,
}

#[derive(Debug, Default)]
pub(super) struct Findings {
    /// SQLite's own message only says "not authorized".
    refusal: Option<Refusal>,
    /// Allowed virtual tables and table-valued functions, in lower case.
    virtual_reads: HashSet<String>,
}

pub(super) type Slot = Arc<Mutex<Findings>>;

pub(super) fn take(slot: &Slot) -> Option<Refusal> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).refusal.take()
}

pub(super) fn note(slot: &Slot, refusal: Refusal) {
    slot.lock().unwrap_or_else(PoisonError::into_inner).refusal.get_or_insert(refusal);
}

pub(super) fn virtual_reads(slot: &Slot) -> usize {
    slot.lock().unwrap_or_else(PoisonError::into_inner).virtual_reads.len()
}

/// The names of the triggers that record a write begin with `recorder`; without it nothing may be written.
pub(super) fn callback(
    policy: Arc<Policy>,
    names: Arc<Names>,
    slot: Slot,
    recorder: Option<String>,
) -> impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static {
    move |context| {
        let ours = |prefix: &String| context.accessor.is_some_and(|name| name.starts_with(prefix));
        if recorder.as_ref().is_some_and(ours) {
            return Authorization::Allow;
        }
        let decision = decide(&policy, &names, &context, recorder.is_some());
        let mut findings = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match decision {
            Ok(()) => {
                if let AuthAction::Read { table_name, .. } = context.action {
                    let lower = table_name.to_ascii_lowercase();
                    let virtual_table = names.virtual_tables.contains(&lower);
                    if virtual_table || (!names.tables.contains(&lower) && table_functions().contains(lower.as_str())) {
                        findings.virtual_reads.insert(lower);
                    }
                }
                Authorization::Allow
            }
            Err(refusal) => {
                findings.refusal.get_or_insert(refusal);
                Authorization::Deny
            }
        }
    }
}

const ONLY_READ: &str = "Only a single SELECT, VALUES or WITH … SELECT is run.";
const ONLY_ROWS: &str = "Only a single SELECT, INSERT, UPDATE or DELETE is run.";

fn decide(policy: &Policy, names: &Names, context: &AuthContext<'_>, writes: bool) -> Result<(), Refusal> {
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
        AuthAction::Function { function_name } => function(policy, function_name),
        other => Err(refuse(describe(&other), if writes { ONLY_ROWS } else { ONLY_READ })),
    }
}

/// What may not be read may not be changed either, nor anything but ordinary tables.
fn change(policy: &Policy, names: &Names, database: Option<&str>, table: &str, column: &str) -> Result<(), Refusal> {
    let lower = table.to_ascii_lowercase();
    if names.virtual_tables.contains(&lower) || !names.tables.contains(&lower) {
        return Err(refuse(format!("changing {table}"), "Change the ordinary tables of the database."));
    }
    read(policy, names, database, table, column)
}

pub(super) fn read(
    policy: &Policy,
    names: &Names,
    database: Option<&str>,
    table: &str,
    column: &str,
) -> Result<(), Refusal> {
    let lower = table.to_ascii_lowercase();
    if is_internal(table) {
        return Err(refuse(
            format!("table {table}"),
            "The schema is available separately; query the tables themselves.",
        ));
    }
    if database.is_some_and(|d| !d.eq_ignore_ascii_case("main")) {
        return Err(refuse(
            format!("database {}", database.unwrap_or_default()),
            "Only the main database is readable.",
        ));
    }
    if names.tables.contains(&lower) {
        if !policy.allows_table(table) {
            return Err(refuse(format!("table {table}"), "Ask for another table, or have this one allowed."));
        }
        // Their modules run statements of their own, and have ways to the text of every column.
        if names.virtual_tables.contains(&lower) {
            return Err(refuse(
                format!("table {table}, which is a virtual one"),
                "Query the ordinary tables of the database.",
            ));
        }
        if !column.is_empty() && !policy.allows_column(table, column) {
            return Err(refuse(
                format!("column {table}.{column}"),
                "Leave it out; with *, name the columns that you need instead.",
            ));
        }
        return Ok(());
    }
    if table_functions().contains(lower.as_str()) {
        return Ok(());
    }
    if names.modules.contains(&lower) {
        return Err(refuse(format!("table-valued function {table}"), "Query the tables of the database."));
    }
    // SQLite names a table without a column when only its rows are used (count(*)), and does so for common table
    // expressions and subqueries too. A name that is neither a table nor a module can only be one of those, since a
    // missing table is an error before this point, and the schema cannot change inside our transaction.
    if column.is_empty() && policy_never_lists(policy, table) {
        return Ok(());
    }
    Err(refuse(format!("table {table}"), "Query the tables of the database."))
}

fn policy_never_lists(policy: &Policy, table: &str) -> bool {
    match &policy.tables {
        super::Tables::Deny(_) => policy.allows_table(table),
        super::Tables::All | super::Tables::Allow(_) | super::Tables::Prefix(_) => true,
    }
}

fn function(policy: &Policy, name: &str) -> Result<(), Refusal> {
    if allows_function(policy, name) {
        Ok(())
    } else {
        Err(refuse(format!("function {name}"), "Use the standard SQL functions."))
    }
}

pub(super) fn allows_function(policy: &Policy, name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    match &policy.functions {
        Functions::Standard => standard_functions().contains(lower.as_str()),
        Functions::Allow(set) => set.iter().any(|f| f.eq_ignore_ascii_case(name)),
    }
}

pub(super) fn refuse(what: impl Into<String>, hint: &str) -> Refusal {
    Refusal { what: what.into(), hint: hint.to_owned() }
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
