//! CREATE, ALTER and DROP of tables, indexes and views in a database that belongs to whoever writes the statement. The
//! authorizer judges what SQLite is about to do; before the commit the whole schema is checked once more, since SQLite
//! does not ask about the new name of a renamed table.

use std::sync::{Arc, Mutex};
use steward_core::locks::lock;

use rusqlite::hooks::{AuthAction, AuthContext};

use super::authorizer::{function, read};
use super::bytecode_check::explain;
use super::catalog::{Names, objects, quoted};
use super::error::{SqlError, denied, limit};
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
            let seen = Arc::<Mutex<Seen>>::default();
            let names = session.allow_schema_changes(Arc::clone(&seen))?;
            let prepared = session.single(sql);
            let Seen { first, selects } = std::mem::take(&mut *lock(&seen));
            let (mut statement, First { does, name }) = match (prepared, first) {
                (Ok(statement), Some(first)) if !statement.readonly() => (statement, first),
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
            if does == CREATES_TABLE && selects {
                let hint = "Create the table with its columns, then INSERT INTO … SELECT.";
                return Err(denied("CREATE TABLE … AS SELECT", hint));
            }
            statement.raw_execute().map_err(|error| session.classify(error))?;
            drop(statement);
            session.in_time()?;
            session.lift_policy()?;
            session.is_sound()?;
            session.views_are_allowed((does == CREATES_VIEW).then_some(name.as_str()))?;
            session.lift_policy()?;
            drop(names);
            let change = SchemaChange { what: format!("{does} {name}"), takes_away: !does.starts_with("creates") };
            if keep {
                before_commit(&change)?;
            }
            session.end(keep)?;
            Ok(Some(change))
        });
        // What was read in between may not have been committed.
        *self.names.borrow_mut() = None;
        done
    }
}

const CREATES_TABLE: &str = "creates the table";
const CREATES_VIEW: &str = "creates the view";

/// The first action of the statement that changes a schema.
#[derive(Debug)]
struct First {
    /// In words.
    does: &'static str,
    name: String,
}

/// What the authorizer has seen of the statement.
#[derive(Debug, Default)]
struct Seen {
    first: Option<First>,
    selects: bool,
}

impl Seen {
    fn record(&mut self, action: &AuthAction<'_>) {
        let (does, name) = match *action {
            AuthAction::CreateTable { table_name } => (CREATES_TABLE, table_name),
            AuthAction::CreateIndex { index_name, .. } => ("creates the index", index_name),
            AuthAction::CreateView { view_name } => (CREATES_VIEW, view_name),
            AuthAction::AlterTable { table_name, .. } => ("alters the table", table_name),
            AuthAction::DropTable { table_name } => ("drops the table", table_name),
            AuthAction::DropIndex { index_name, .. } => ("drops the index", index_name),
            AuthAction::DropView { view_name } => ("drops the view", view_name),
            AuthAction::Select => {
                self.selects = true;
                return;
            }
            // Refused, but what it is refused for is said in the words of a schema change.
            AuthAction::CreateTempTable { table_name: name }
            | AuthAction::CreateTempView { view_name: name }
            | AuthAction::CreateTrigger { trigger_name: name, .. }
            | AuthAction::CreateTempTrigger { trigger_name: name, .. }
            | AuthAction::CreateVtable { table_name: name, .. } => (CREATES_TABLE, name),
            _ => return,
        };
        self.first.get_or_insert(First { does, name: name.to_owned() });
    }
}

impl Session<'_> {
    fn allow_schema_changes(&self, seen: Arc<Mutex<Seen>>) -> Result<Arc<Names>, SqlError> {
        let names = self.names().map_err(|error| self.classify(error))?;
        let (policy, known) = (Arc::clone(&self.guard.policy), Arc::clone(&names));
        self.authorize(move |context, _| {
            lock(&seen).record(&context.action);
            decide(&policy, &known, context)
        })?;
        Ok(names)
    }

    /// Whether the program of the statement neither reads nor writes, as that of DROP … IF EXISTS without one.
    fn does_nothing(&self, sql: &str) -> Result<bool, SqlError> {
        // A query for the journal mode stands in each statement that SQLite does not want taken for a reading one.
        const IDLE: [&str; 6] = ["Init", "Transaction", "Goto", "Halt", "Expire", "JournalMode"];
        let program = explain(&self.guard.conn, sql).map_err(|error| self.classify(error))?;
        Ok(program.iter().all(|op| IDLE.contains(&op.name.as_str())))
    }

    /// Whether everything in the schema may be there by the policy.
    fn is_sound(&self) -> Result<(), SqlError> {
        let (conn, policy) = (&self.guard.conn, &self.guard.policy);
        let temporary: i64 = conn
            .query_row("SELECT count(*) FROM temp.sqlite_schema", [], |row| row.get(0))
            .map_err(|error| self.classify(error))?;
        if temporary > 0 {
            return Err(no_ordinary_table("something temporary"));
        }
        let found = objects(conn).map_err(|error| self.classify(error))?;
        let mut tables = 0;
        for object in &found {
            if is_internal(&object.name) || policy.keeps_for_itself(&object.table) {
                continue;
            }
            match object.kind.as_str() {
                "table" if object.root == 0 => return Err(no_ordinary_table("a virtual table")),
                "table" | "view" if policy.allows_table(&object.name) => tables += 1,
                "index" if policy.allows_table(&object.table) => {}
                "table" | "view" | "index" => return Err(wrong_name(policy, &object.name)),
                kind => return Err(denied(&format!("a {kind}"), NO_TRIGGERS)),
            }
        }
        if tables > MOST_TABLES {
            return Err(limit(format!("the database has more than {MOST_TABLES} tables and views")));
        }
        Ok(())
    }

    /// Compiles every view under the policy for reading, so that none is made that could never be read.
    fn views_are_allowed(&self, made: Option<&str>) -> Result<(), SqlError> {
        let found = objects(&self.guard.conn).map_err(|error| self.classify(error))?;
        let _names = self.enforce_policy(None)?;
        for view in found.iter().filter(|object| object.kind == "view") {
            let sql = format!("SELECT * FROM main.{}", quoted(&view.name));
            let Err(error) = self.guard.conn.prepare(&sql) else { continue };
            let refusal = self.classify(error);
            // One over a table that is gone since is broken, not forbidden.
            if matches!(refusal, SqlError::Denied { .. }) || made == Some(view.name.as_str()) {
                return Err(refusal);
            }
        }
        Ok(())
    }
}

fn wrong_name(policy: &Policy, name: &str) -> SqlError {
    let hint = match &policy.tables {
        Tables::Prefix(prefix) => format!("Names of tables and views begin with {prefix}, as in {prefix}notes."),
        _ => "Choose another name.".to_owned(),
    };
    denied(&format!("the name {name}"), &hint)
}

fn no_ordinary_table(what: &str) -> SqlError {
    denied(what, "Use an ordinary table.")
}

const NO_TRIGGERS: &str = "Use tables, indexes and views.";
const ONLY_SCHEMA: &str =
    "Use SELECT, INSERT, UPDATE, DELETE, and CREATE, ALTER and DROP of tables, indexes and views.";

#[expect(clippy::match_same_arms, reason = "each has a reason of its own")]
fn decide(policy: &Policy, names: &Names, context: &AuthContext<'_>) -> Result<(), SqlError> {
    let main = |database: Option<&str>| database.is_none_or(|name| name.eq_ignore_ascii_case("main"));
    let allowed = |name: &str| {
        if policy.allows_table(name) { Ok(()) } else { Err(wrong_name(policy, name)) }
    };
    let temporary = || Err(no_ordinary_table("something temporary"));
    let in_main = |name: &str| {
        if main(context.database_name) { allowed(name) } else { temporary() }
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
            if main(context.database_name) { Ok(()) } else { temporary() }
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
        // Only SQLite itself can call these.
        AuthAction::Function { function_name } if function_name.starts_with("sqlite_rename_") => Ok(()),
        AuthAction::Function { function_name: "sqlite_drop_column" | "sqlite_fail" | "glob" | "like" } => Ok(()),
        AuthAction::Function { function_name } => function(function_name),
        // The check of existing rows when a column with a condition is added.
        AuthAction::Pragma { pragma_name: "quick_check", .. } => Ok(()),
        AuthAction::CreateTrigger { .. } | AuthAction::CreateTempTrigger { .. } => {
            Err(denied("a trigger", NO_TRIGGERS))
        }
        AuthAction::CreateVtable { .. } => Err(no_ordinary_table("a virtual table")),
        AuthAction::CreateTempTable { .. } | AuthAction::CreateTempView { .. } | AuthAction::CreateTempIndex { .. } => {
            temporary()
        }
        _ => Err(denied("a statement that does more than change tables, indexes or views", ONLY_SCHEMA)),
    }
}
