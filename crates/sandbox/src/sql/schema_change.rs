//! CREATE, ALTER and DROP of tables, indexes and views in a database that belongs to whoever writes the statement. The
//! authorizer judges what SQLite is about to do; before the commit the whole schema is checked once more, since SQLite
//! does not ask about the new name of a renamed table.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::authorizer::{Refusal, Slot, allows_function, note, read, refuse};
use super::catalog::Names;
use super::error::SqlError;
use super::policy::{Policy, Tables, is_internal};
use super::query::bind;
use super::{Guard, Session};

/// Most tables and views that a schema change may leave, since every write watches all of them.
const MOST_TABLES: i64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange {
    /// What it does in words, such as `creates the table ai_notes`.
    pub what: String,
    /// `false` for one that only adds a table, an index or a view.
    pub takes_away: bool,
}

impl Guard {
    /// Runs a statement that creates, alters or drops tables, indexes or views; `None` if it is none, and nothing was
    /// done. `before_commit` is told what will have happened, and its error rolls it back, as does `keep` being false.
    pub fn change_schema(
        &self,
        sql: &str,
        keep: bool,
        before_commit: impl FnOnce(&SchemaChange) -> Result<(), SqlError>,
    ) -> Result<Option<SchemaChange>, SqlError> {
        bind(sql, &[])?;
        let done = self.session(|session| {
            let planned = Planned::default();
            let names = session.allow_schema_changes(&planned)?;
            let prepared = session.single(sql);
            let first = planned.first();
            let mut statement = match (prepared, &first) {
                (Ok(statement), Some(_)) if !statement.readonly() => statement,
                (Err(error), Some(_)) => return Err(error),
                (Ok(statement), None) if !statement.readonly() && statement.column_count() == 0 => {
                    let idle = session.does_nothing(sql)?;
                    return Ok(idle.then(|| SchemaChange {
                        what: "changes nothing: there is no such thing to drop".to_owned(),
                        takes_away: false,
                    }));
                }
                _ => return Ok(None),
            };
            let Some(first) = first else { return Ok(None) };
            if first.creates_table() && planned.selects() {
                return Err(SqlError::Denied {
                    what: "CREATE TABLE … AS SELECT".to_owned(),
                    hint: "Create the table with its columns, then INSERT INTO … SELECT.".to_owned(),
                });
            }
            statement.raw_execute().map_err(|error| session.classify(error))?;
            drop(statement);
            session.in_time()?;
            session.lift_policy()?;
            session.is_sound()?;
            session.views_are_allowed(first.view())?;
            session.lift_policy()?;
            drop(names);
            let change = first.into_change();
            if keep {
                before_commit(&change)?;
            }
            let end = if keep { "COMMIT" } else { "ROLLBACK" };
            self.conn.execute_batch(end).map_err(|error| session.classify(error))?;
            Ok(Some(change))
        });
        // What was read in between may not have been committed.
        *self.names.borrow_mut() = None;
        done
    }
}

/// The first action of the statement that changes a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    CreateTable,
    CreateIndex,
    CreateView,
    Alter,
    DropTable,
    DropIndex,
    DropView,
}

#[derive(Debug, Clone)]
struct First {
    verb: Verb,
    name: String,
}

impl First {
    fn creates_table(&self) -> bool {
        self.verb == Verb::CreateTable
    }

    fn view(&self) -> Option<&str> {
        (self.verb == Verb::CreateView).then_some(self.name.as_str())
    }

    fn into_change(self) -> SchemaChange {
        let name = self.name;
        let (what, takes_away) = match self.verb {
            Verb::CreateTable => (format!("creates the table {name}"), false),
            Verb::CreateIndex => (format!("creates the index {name}"), false),
            Verb::CreateView => (format!("creates the view {name}"), false),
            Verb::Alter => (format!("alters the table {name}"), true),
            Verb::DropTable => (format!("drops the table {name}"), true),
            Verb::DropIndex => (format!("drops the index {name}"), true),
            Verb::DropView => (format!("drops the view {name}"), true),
        };
        SchemaChange { what, takes_away }
    }
}

/// What the authorizer has seen of the statement.
#[derive(Debug, Clone, Default)]
struct Planned(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    first: Option<First>,
    selects: bool,
}

impl Planned {
    fn first(&self) -> Option<First> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first.clone()
    }

    fn selects(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).selects
    }

    fn record(&self, action: &AuthAction<'_>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (verb, name) = match *action {
            AuthAction::CreateTable { table_name } => (Verb::CreateTable, table_name),
            AuthAction::CreateIndex { index_name, .. } => (Verb::CreateIndex, index_name),
            AuthAction::CreateView { view_name } => (Verb::CreateView, view_name),
            AuthAction::AlterTable { table_name, .. } => (Verb::Alter, table_name),
            AuthAction::DropTable { table_name } => (Verb::DropTable, table_name),
            AuthAction::DropIndex { index_name, .. } => (Verb::DropIndex, index_name),
            AuthAction::DropView { view_name } => (Verb::DropView, view_name),
            AuthAction::Select => {
                seen.selects = true;
                return;
            }
            // Refused, but what it is refused for is said in the words of a schema change.
            AuthAction::CreateTempTable { table_name: name }
            | AuthAction::CreateTempView { view_name: name }
            | AuthAction::CreateTrigger { trigger_name: name, .. }
            | AuthAction::CreateTempTrigger { trigger_name: name, .. }
            | AuthAction::CreateVtable { table_name: name, .. } => (Verb::CreateTable, name),
            _ => return,
        };
        seen.first.get_or_insert(First { verb, name: name.to_owned() });
    }
}

impl Session<'_> {
    fn allow_schema_changes(&self, planned: &Planned) -> Result<Arc<Names>, SqlError> {
        let names = self.names().map_err(|error| self.classify(error))?;
        let (policy, slot) = (Arc::clone(&self.guard.policy), Arc::clone(&self.slot));
        let callback = callback(policy, Arc::clone(&names), slot, planned.clone());
        self.guard.conn.authorizer(Some(callback)).map_err(SqlError::Sqlite)?;
        Ok(names)
    }

    /// Whether the program of the statement neither reads nor writes, as that of DROP … IF EXISTS without one.
    fn does_nothing(&self, sql: &str) -> Result<bool, SqlError> {
        // A query for the journal mode stands in each statement that SQLite does not want taken for a reading one.
        const IDLE: [&str; 6] = ["Init", "Transaction", "Goto", "Halt", "Expire", "JournalMode"];
        let sql = sql.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
        let run = || {
            let mut statement = self.guard.conn.prepare(&format!("EXPLAIN {sql}"))?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let name: String = row.get(1)?;
                if !IDLE.contains(&name.as_str()) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        run().map_err(|error| self.classify(error))
    }

    /// Whether everything in the schema may be there by the policy.
    fn is_sound(&self) -> Result<(), SqlError> {
        let (conn, policy) = (&self.guard.conn, &self.guard.policy);
        let temporary: i64 = conn
            .query_row("SELECT count(*) FROM temp.sqlite_schema", [], |row| row.get(0))
            .map_err(|error| self.classify(error))?;
        if temporary > 0 {
            return Err(denied("something temporary", "Use an ordinary table."));
        }
        let found = objects(conn).map_err(|error| self.classify(error))?;
        let mut tables = 0;
        for object in &found {
            if is_internal(&object.name) || policy.keeps_for_itself(&object.table) {
                continue;
            }
            match object.kind.as_str() {
                "table" if object.root == 0 => return Err(denied("a virtual table", "Use an ordinary table.")),
                "table" | "view" if policy.allows_table(&object.name) => tables += 1,
                "index" if policy.allows_table(&object.table) => {}
                "table" | "view" | "index" => return Err(wrong_name(policy, &object.name)),
                kind => return Err(denied(&format!("a {kind}"), "Use tables, indexes and views.")),
            }
        }
        if tables > MOST_TABLES {
            return Err(SqlError::Limit { what: format!("the database has more than {MOST_TABLES} tables and views") });
        }
        Ok(())
    }

    /// Compiles every view under the policy for reading, so that none is made that could never be read.
    fn views_are_allowed(&self, made: Option<&str>) -> Result<(), SqlError> {
        let found = objects(&self.guard.conn).map_err(|error| self.classify(error))?;
        let _names = self.enforce_policy(None)?;
        for view in found.iter().filter(|object| object.kind == "view") {
            let sql = format!("SELECT * FROM main.\"{}\"", view.name.replace('"', "\"\""));
            let Err(error) = self.guard.conn.prepare(&sql) else { continue };
            let refusal = self.classify(error);
            // One over a table that is gone since is broken, not forbidden.
            if matches!(refusal, SqlError::Denied { .. }) || made.is_some_and(|made| made == view.name) {
                return Err(refusal);
            }
        }
        Ok(())
    }
}

struct Object {
    kind: String,
    name: String,
    table: String,
    root: i64,
}

fn objects(conn: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement = conn.prepare("SELECT type, name, tbl_name, rootpage FROM main.sqlite_schema")?;
    let rows = statement.query_map([], |row| {
        let root = row.get::<_, Option<i64>>(3)?.unwrap_or(0);
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, root })
    })?;
    rows.collect()
}

fn denied(what: &str, hint: &str) -> SqlError {
    SqlError::Denied { what: what.to_owned(), hint: hint.to_owned() }
}

fn hint_of_names(policy: &Policy) -> String {
    match &policy.tables {
        Tables::Prefix(prefix) => format!("Names of tables and views begin with {prefix}, as in {prefix}notes."),
        _ => "Choose another name.".to_owned(),
    }
}

fn wrong_name(policy: &Policy, name: &str) -> SqlError {
    denied(&format!("the name {name}"), &hint_of_names(policy))
}

fn callback(
    policy: Arc<Policy>,
    names: Arc<Names>,
    slot: Slot,
    planned: Planned,
) -> impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static {
    move |context| {
        planned.record(&context.action);
        match decide(&policy, &names, &context) {
            Ok(()) => Authorization::Allow,
            Err(refusal) => {
                note(&slot, refusal);
                Authorization::Deny
            }
        }
    }
}

const ONLY_SCHEMA: &str =
    "Use SELECT, INSERT, UPDATE, DELETE, and CREATE, ALTER and DROP of tables, indexes and views.";

#[expect(clippy::match_same_arms, reason = "each has a reason of its own")]
fn decide(policy: &Policy, names: &Names, context: &AuthContext<'_>) -> Result<(), Refusal> {
    let main = |database: Option<&str>| database.is_none_or(|name| name.eq_ignore_ascii_case("main"));
    let allowed = |name: &str| {
        if policy.allows_table(name) {
            return Ok(());
        }
        Err(refuse(format!("the name {name}"), &hint_of_names(policy)))
    };
    let in_main = |name: &str| {
        if !main(context.database_name) {
            return Err(refuse("something temporary", "Use an ordinary table."));
        }
        allowed(name)
    };
    match context.action {
        // SQLite's own table of row numbers, which it makes for AUTOINCREMENT.
        AuthAction::CreateTable { table_name: "sqlite_sequence" } if main(context.database_name) => Ok(()),
        AuthAction::CreateTable { table_name: name }
        | AuthAction::DropTable { table_name: name }
        | AuthAction::CreateView { view_name: name }
        | AuthAction::DropView { view_name: name }
        // An index may have any name; its table may not.
        | AuthAction::CreateIndex { table_name: name, .. }
        | AuthAction::DropIndex { table_name: name, .. } => in_main(name),
        // Where the others name the database, SQLite names the column here.
        AuthAction::AlterTable { database_name, table_name } if main(Some(database_name)) => allowed(table_name),
        AuthAction::Reindex { .. } | AuthAction::Select | AuthAction::Recursive => Ok(()),
        // SQLite keeps its schema in these, and refuses statements that name them as what they change.
        AuthAction::Insert { table_name } | AuthAction::Delete { table_name } if is_internal(table_name) => {
            if main(context.database_name) { Ok(()) } else { Err(refuse("something temporary", "Use an ordinary table.")) }
        }
        AuthAction::Update { table_name, .. } | AuthAction::Read { table_name, .. } if is_internal(table_name) => Ok(()),
        // What goes with a table that is dropped.
        AuthAction::Delete { table_name } | AuthAction::Update { table_name, .. } => in_main(table_name),
        AuthAction::Read { table_name, column_name } => {
            if policy.allows_table(table_name) {
                return Ok(());
            }
            read(policy, names, context.database_name, table_name, column_name)
        }
        AuthAction::Function { function_name } if allows_function(policy, function_name) => Ok(()),
        // Only SQLite itself can call these.
        AuthAction::Function { function_name } if function_name.starts_with("sqlite_rename_") => Ok(()),
        AuthAction::Function { function_name: "sqlite_drop_column" | "sqlite_fail" | "glob" | "like" } => Ok(()),
        AuthAction::Function { function_name } => {
            Err(refuse(format!("function {function_name}"), "Use the standard SQL functions."))
        }
        // The check of existing rows when a column with a condition is added.
        AuthAction::Pragma { pragma_name: "quick_check", .. } => Ok(()),
        AuthAction::CreateTrigger { .. } | AuthAction::CreateTempTrigger { .. } => {
            Err(refuse("a trigger", "Use tables, indexes and views."))
        }
        AuthAction::CreateVtable { .. } => Err(refuse("a virtual table", "Use an ordinary table.")),
        AuthAction::CreateTempTable { .. } | AuthAction::CreateTempView { .. } | AuthAction::CreateTempIndex { .. } => {
            Err(refuse("something temporary", "Use an ordinary table."))
        }
        _ => Err(refuse("a statement that does more than change tables, indexes or views", ONLY_SCHEMA)),
    }
}
