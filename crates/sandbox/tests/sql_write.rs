//! Writes to `SQLite` files: what is refused, what is told before, and what comes back.

use crate::sql_attempts::denying;
use crate::undo_support;
use crate::undo_support::file as random;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use random::{literal, statement, tables};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use steward_sandbox::sql::change::{Answer, Changes, Snapshot, WriteState};
use steward_sandbox::sql::{Guard, Limits, Policy, SqlError};
use steward_testkit::repetitions;
use undo_support::Dice;

const SHOP: &str = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, email TEXT, pin TEXT);
    CREATE TABLE orders(id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER REFERENCES customers(id) ON DELETE CASCADE ON UPDATE CASCADE,
      total REAL, note TEXT DEFAULT 'none', double REAL AS (total * 2));
    CREATE TABLE items(order_id INTEGER REFERENCES orders(id) ON DELETE CASCADE, name TEXT, PRIMARY KEY (order_id, name)) WITHOUT ROWID;
    CREATE TABLE plain(a, b UNIQUE);
    CREATE TABLE secrets(id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE log(at INTEGER PRIMARY KEY, what TEXT);
    CREATE TABLE touched(id INTEGER PRIMARY KEY, v, times INTEGER DEFAULT 0);
    CREATE TRIGGER t_touched AFTER UPDATE OF v ON touched BEGIN
      UPDATE touched SET times = times + 1 WHERE id = NEW.id; INSERT INTO log(what) VALUES ('touched ' || NEW.id); END;
    CREATE TABLE guarded(id INTEGER PRIMARY KEY, v);
    CREATE TRIGGER t_guarded AFTER INSERT ON guarded BEGIN INSERT INTO secrets(value) VALUES (NEW.v); END;
    CREATE VIEW names AS SELECT id, name FROM customers;
    CREATE TRIGGER t_names INSTEAD OF UPDATE ON names BEGIN UPDATE customers SET name = NEW.name WHERE id = NEW.id; END;
    CREATE VIRTUAL TABLE words USING fts5(word);
    INSERT INTO customers VALUES (1, 'Ann', 'a@x', '1234'), (2, 'Bob', 'b@x', '9999'), (3, 'Cy', 'c@x', '0000');
    INSERT INTO orders(customer_id, total) VALUES (1, 10), (1, 20.5), (2, 30), (3, NULL);
    INSERT INTO items VALUES (1, 'pen'), (1, 'ink'), (3, 'cup');
    INSERT INTO plain VALUES (1, 'x'), (2, 'y'), (x'00ff', NULL);
    INSERT INTO touched VALUES (1, 'a', 0), (2, 'b', 0);
    INSERT INTO secrets VALUES (1, 'TOP');";

struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(sql: &str) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(sql).unwrap();
    File { _folder: folder, path }
}

fn policy() -> Policy {
    let mut policy = denying(&["secrets"], &[("customers", "pin")]);
    policy.limits = Limits { changes: Some(100), wall: Duration::from_secs(20), ..Limits::default() };
    policy
}

impl File {
    fn change(&self, sql: &str, values: &[Value], keep: bool) -> Result<Changes, SqlError> {
        let guard = Guard::open_for_writing(&self.path, policy()).unwrap();
        match guard.change(sql, values, keep)? {
            Answer::Changed(changes) => Ok(*changes),
            Answer::Rows(rows) => panic!("{sql}: {rows:?}"),
        }
    }

    fn put_back(&self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        // As it comes back from a log.
        let text = serde_json::to_string(snapshot).unwrap();
        Guard::put_back(&self.path, policy(), &serde_json::from_str(&text).unwrap())
    }

    fn sql(&self, sql: &str) {
        Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }

    fn dump(&self) -> String {
        dump(&self.path)
    }
}

/// Every row of every table, with its row number, types and bits.
fn dump(path: &Path) -> String {
    let conn = Connection::open(path).unwrap();
    let mut tables = conn
        .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        .unwrap();
    let tables: Vec<(String, bool)> =
        tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let mut out = String::new();
    for (table, own_key) in tables {
        let number = if own_key { "" } else { "_rowid_, " };
        let sql = format!("SELECT {number}* FROM \"{table}\" ORDER BY 1, 2");
        let mut statement = conn.prepare(&sql).unwrap();
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let _ = write!(out, "{table}");
            for at in 0..width {
                let _ = match row.get_ref(at).unwrap() {
                    ValueRef::Null => write!(out, " null"),
                    ValueRef::Integer(n) => write!(out, " i{n}"),
                    ValueRef::Real(r) => write!(out, " r{:x}", r.to_bits()),
                    ValueRef::Text(bytes) => write!(out, " t{bytes:x?}"),
                    ValueRef::Blob(bytes) => write!(out, " b{bytes:x?}"),
                };
            }
            out.push('\n');
        }
    }
    out
}

#[test]
fn every_attempt_ends_as_listed() {
    let file = file(SHOP);
    let before = file.dump();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("data/sql-write-attempts.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
    {
        let mut parts = line.splitn(3, '|');
        let (id, expected, sql) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let mut policy = policy();
        policy.limits.wall = Duration::from_millis(700);
        policy.limits.changes = Some(20);
        let guard = Guard::open_for_writing(&file.path, policy).unwrap();
        let answer = guard.change(sql, &[], false);
        let got = match &answer {
            Ok(_) => "ok",
            Err(SqlError::Denied { .. }) => "deny",
            Err(other) => other.code(),
        };
        if got != expected {
            wrong.push(format!("{id}: expected {expected}, got {got}: {answer:?}"));
        }
        assert_eq!(file.dump(), before, "{id} left something");
        count += 1;
    }
    assert!(count >= 60, "only {count} attempts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names: Vec<_> =
        std::fs::read_dir(file.path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["shop.db"]);
}

#[test]
fn a_preview_tells_and_leaves_nothing() {
    let file = file(SHOP);
    let before = file.dump();
    let told = file.change("UPDATE orders SET total = total * 2 WHERE customer_id = ?1", &[json!(1)], false).unwrap();
    assert_eq!(told.count, 2);
    assert_eq!(told.lines, ["orders rowid=1: total 10.0 → 20.0", "orders rowid=2: total 20.5 → 41.0"]);
    assert!(told.undo.is_ok());
    // What goes along is counted and named.
    let told = file.change("DELETE FROM customers WHERE id = 1", &[], false);
    // Its pin is closed, and so not kept.
    let told = told.unwrap();
    assert_eq!(told.count, 5, "{told:?}");
    assert!(told.notes[0].contains("customers 1, items 2, orders 2"), "{told:?}");
    assert!(told.undo.unwrap_err().contains("closed"));
    assert!(!told.lines.join("\n").contains("1234"));
    let told = file.change("DELETE FROM orders WHERE id = 1", &[], false).unwrap();
    assert_eq!((told.count, told.undo.is_ok()), (3, true));
    assert_eq!(file.dump(), before);
    // A query is one still.
    let guard = Guard::open_for_writing(&file.path, policy()).unwrap();
    let answer = guard.change("SELECT count(*) FROM orders", &[], true).unwrap();
    assert!(matches!(answer, Answer::Rows(rows) if rows.rows == [[json!(4)]]));
}

#[test]
fn what_goes_along_comes_back() {
    let file = file(SHOP);
    for sql in [
        "DELETE FROM orders",
        "UPDATE touched SET v = 'new'",
        "UPDATE touched SET id = id + 10, v = 'both'",
        "UPDATE names SET name = 'Through the view' WHERE id = 2",
        "INSERT INTO plain VALUES (9, 'z'), (10, NULL)",
        "INSERT OR REPLACE INTO plain VALUES (7, 'x')",
        "INSERT OR REPLACE INTO touched VALUES (2, 'c', 5)",
        "INSERT INTO plain VALUES (7, 'y') ON CONFLICT (b) DO UPDATE SET a = excluded.a",
        "UPDATE plain SET rowid = rowid + 100 WHERE a = 1",
        "UPDATE items SET name = upper(name)",
        "UPDATE customers SET name = NULL, id = id + 10",
        "INSERT INTO orders(customer_id, total) SELECT id, id * 1.5 FROM customers",
    ] {
        let before = file.dump();
        let done = file.change(sql, &[], true).unwrap();
        let after = file.dump();
        assert_ne!(before, after, "{sql}");
        match done.undo {
            Ok(snapshot) => {
                file.put_back(&snapshot).unwrap_or_else(|error| panic!("{sql}: {error}"));
                assert_eq!(file.dump(), before, "{sql}");
            }
            // Triggers of the database ran: replaced rows are not told of then.
            Err(why) => {
                let triggers = sql.contains("REPLACE INTO touched");
                assert!(triggers && why.contains("replaced"), "{sql}: {why}");
            }
        }
    }
}

#[test]
fn rows_that_others_changed_since_are_named() {
    let file = file(SHOP);
    let done = file.change("UPDATE orders SET total = 0 WHERE id < 3", &[], true).unwrap();
    let snapshot = done.undo.unwrap();
    file.sql("UPDATE orders SET note = 'mine' WHERE id = 2");
    let left = file.dump();
    let error = file.put_back(&snapshot).unwrap_err();
    assert!(matches!(&error, SqlError::Conflict { rows } if rows == "orders rowid=2"), "{error}");
    assert_eq!(file.dump(), left, "nothing of it was undone");
    file.sql("UPDATE orders SET note = 'none' WHERE id = 2");
    assert_eq!(file.put_back(&snapshot).unwrap(), 2);
    assert_eq!(file.put_back(&snapshot).unwrap(), 0, "it is back already");
    // Somebody took the key of a row that went.
    let gone = file.change("DELETE FROM orders WHERE id = 4", &[], true).unwrap();
    file.sql("INSERT INTO orders(id, total) VALUES (4, 4)");
    let error = file.put_back(&gone.undo.unwrap()).unwrap_err();
    assert!(matches!(error, SqlError::Conflict { .. }), "{error}");
    // Somebody refers to a row that came.
    let came = file.change("INSERT INTO orders(id, total) VALUES (50, 1)", &[], true).unwrap();
    file.sql("INSERT INTO items VALUES (50, 'pen')");
    let error = file.put_back(&came.undo.unwrap()).unwrap_err();
    assert!(error.to_string().contains("refer to what would go"), "{error}");
    // The table is another one.
    let done = file.change("UPDATE plain SET a = 5", &[], true).unwrap();
    file.sql("ALTER TABLE plain ADD COLUMN c");
    let error = file.put_back(&done.undo.unwrap()).unwrap_err();
    assert!(error.to_string().contains("columns of plain"), "{error}");
}

#[test]
fn a_write_that_was_cut_off_shows_in_its_rows() {
    let file = file(SHOP);
    let settle =
        |snapshot: &Snapshot, later: &[Snapshot]| Guard::settle(&file.path, policy(), snapshot, later).unwrap();
    let tried = |sql: &str| file.change(sql, &[], false).unwrap().undo.unwrap();
    let done = |sql: &str| file.change(sql, &[], true).unwrap().undo.unwrap();
    for sql in [
        "UPDATE orders SET total = total - 1 WHERE id < 3",
        "INSERT INTO orders(customer_id, total) VALUES (1, 5)",
        "DELETE FROM orders WHERE id = 1",
        "UPDATE items SET name = name || 's'",
        "UPDATE touched SET v = 'c'",
    ] {
        assert_eq!(settle(&tried(sql), &[]), WriteState::NotDone, "{sql}");
        assert_eq!(settle(&done(sql), &[]), WriteState::Done, "{sql}");
    }
    // Two calls alike: the second did it, and has seen that the first did not.
    let sale = "UPDATE orders SET total = total - 1 WHERE id = 2";
    let (first, second) = (tried(sale), done(sale));
    assert_eq!(settle(&first, &[second]), WriteState::NotDone);
    let (first, second) = (done(sale), done(sale));
    assert_eq!(settle(&first, std::slice::from_ref(&second)), WriteState::Done);
    assert_eq!(settle(&first, &[]), WriteState::Mixed, "somebody has changed it since");
    // The key that a row would have had is another call's.
    let order = "INSERT INTO plain(a) VALUES (7)";
    let (first, second) = (tried(order), done("INSERT INTO plain(a) VALUES (8)"));
    assert_eq!(settle(&first, &[]), WriteState::Mixed);
    assert_eq!(settle(&first, &[second]), WriteState::NotDone);
    // Who is told may be against it.
    let guard = Guard::open_for_writing(&file.path, policy()).unwrap();
    let before = file.dump();
    let refused = guard.change_with("DELETE FROM plain", &[], true, |changes| {
        assert_eq!(changes.count, 4);
        Err(SqlError::Refused("no".to_owned()))
    });
    assert_eq!(refused.unwrap_err().to_string(), "no");
    assert_eq!(file.dump(), before);
}

#[test]
fn too_much_is_refused_or_not_kept() {
    let file = file(SHOP);
    let before = file.dump();
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101) INSERT INTO plain(a) SELECT i FROM n";
    let error = file.change(many, &[], true).unwrap_err();
    assert!(matches!(&error, SqlError::Limit { what } if what.contains("at most 100")), "{error}");
    assert_eq!(file.dump(), before);
    let big = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO plain(a) SELECT zeroblob(10000) FROM n";
    let done = file.change(big, &[], true).unwrap();
    assert_eq!(done.count, 60);
    assert!(done.undo.unwrap_err().contains("KB"));
    assert!(matches!(file.change("UPDATE plain SET a = ?1", &[], true), Err(SqlError::Parameter { .. })));
}

/// Random writes on random tables, undone in the reverse order: after each step back every bit is as it was.
#[test]
fn long_random_runs_come_back_bit_for_bit() {
    let (mut writes, mut undone) = (0, 0);
    for seed in 0..repetitions(25, 100) as u64 {
        let dice = &mut Dice::new(seed);
        let (sql, made) = tables(dice);
        let file = file(&sql);
        let conn = Connection::open(&file.path).unwrap();
        conn.execute_batch("BEGIN").unwrap();
        for table in &made {
            for _ in 0..12 {
                let values: Vec<String> = table.columns.iter().map(|_| literal(dice)).collect();
                let (names, values) = (table.columns.join(", "), values.join(", "));
                let sql = format!("INSERT INTO {}({names}) VALUES ({values})", table.name);
                // Some break a rule of the table.
                let _ = conn.execute_batch(&sql);
            }
        }
        // Unless rows refer to ones that are not there.
        conn.execute_batch("COMMIT").unwrap();
        drop(conn);
        let mut steps: Vec<(String, String, Snapshot)> = Vec::new();
        for _ in 0..10 {
            let sql = statement(dice, &made);
            let before = file.dump();
            let told = file.change(&sql, &[], false);
            assert_eq!(file.dump(), before, "{seed}: the preview of {sql} left something");
            let Ok(told) = told else { continue };
            writes += 1;
            let Ok(_) = told.undo else { continue };
            let done = file.change(&sql, &[], true).unwrap();
            assert_eq!(told.count, done.count, "{seed}: {sql}");
            steps.push((sql, before, done.undo.unwrap()));
        }
        while let Some((sql, before, snapshot)) = steps.pop() {
            file.put_back(&snapshot)
                .unwrap_or_else(|error| panic!("{seed}: {sql}: {error}\n{snapshot:?}\n{}", file.dump()));
            assert_eq!(file.dump(), before, "{seed}: {sql}");
            undone += 1;
        }
    }
    println!("{writes} writes, {undone} undone");
    assert!(writes >= repetitions(90, 400) && undone * 10 >= writes * 9, "{undone} of {writes}");
}
