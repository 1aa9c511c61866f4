//! What is closed by its name alone, as with skills that nobody has set rules for; and functions that know the time.

use rusqlite::Connection;
use std::time::Duration;
use steward_sandbox::sql::{Guard, Policy, SqlError};

const SHOP: &str = "
    CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, email TEXT, pin TEXT);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL);
    CREATE TABLE secrets(id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE app_tokens(id INTEGER PRIMARY KEY, token TEXT);
    INSERT INTO secrets(value) VALUES ('TOP');
    INSERT INTO customers VALUES (7, 'ann', 'ann@example.org', '1234');
    INSERT INTO orders VALUES (1, 7, 1.5);
    CREATE TABLE gen(id INTEGER PRIMARY KEY, name TEXT, pin TEXT,
      half TEXT AS (substr(pin, 1, 2)) STORED, len AS (length(pin)));
    CREATE INDEX gen_half ON gen(half);
    INSERT INTO gen(name, pin) VALUES ('a', '9876');
    CREATE VIEW overview AS SELECT name, pin AS code FROM customers;
    CREATE VIRTUAL TABLE people USING fts5(name, pin);
    INSERT INTO people VALUES ('ann', '4711');
    CREATE VIRTUAL TABLE geo USING rtree(id, x0, x1, +password TEXT);
    INSERT INTO geo VALUES (1, 0, 1, 'pw');";

fn open(policy: Policy) -> (tempfile::TempDir, Guard) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    Connection::open(&path).unwrap().execute_batch(SHOP).unwrap();
    let guard = Guard::open(&path, policy).unwrap();
    (dir, guard)
}

fn outcome(guard: &Guard, sql: &str) -> &'static str {
    match guard.query(sql) {
        Ok(_) => "ok",
        Err(SqlError::Denied { .. }) => "deny",
        Err(other) => other.code(),
    }
}

#[test]
fn what_its_name_closes_is_closed_in_every_way() {
    let mut policy = Policy::careful();
    policy.limits.wall = Duration::from_millis(700);
    let (_dir, guard) = open(policy);
    for sql in [
        "SELECT g.guess FROM customers JOIN (SELECT '1234' AS pin, 'it is' AS guess) g USING (pin)",
        "SELECT count(*) FROM customers NATURAL JOIN (SELECT '1234' AS pin)",
        "SELECT count(*) FROM customers LEFT JOIN (SELECT '1234' AS pin) USING (pin)",
        "SELECT count(*) FROM (SELECT '1234' AS pin) RIGHT JOIN customers USING (pin)",
        "SELECT count(*) FROM customers FULL JOIN (SELECT '1234' AS pin) USING (pin)",
        "SELECT count(*) FROM secrets JOIN (SELECT 'TOP' AS value) USING (value)",
        "SELECT half FROM gen",
        "SELECT count(*) FROM gen WHERE half = '98'",
        "SELECT count(*) FROM gen JOIN (SELECT '98' AS half) USING (half)",
        "SELECT len FROM gen",
        "SELECT name FROM people",
        "SELECT name FROM people WHERE people MATCH 'pin:4711'",
        "SELECT c1 FROM people_content",
        "SELECT hex(block) FROM people_data",
        "SELECT a0 FROM geo_rowid",
        "SELECT count(*) FROM geo",
        // Nobody learns by trying what there is.
        "SELECT nope FROM secrets",
        "SELECT token FROM app_tokens INDEXED BY nope",
        "SELECT * FROM secrets(1)",
        "SELECT pin, nope FROM customers",
        "SELECT * FROM generate_series(1, 3)",
        "SELECT * FROM fsdir('/')",
        ";SELECT * FROM secrets",
    ] {
        assert_eq!(outcome(&guard, sql), "deny", "{sql}");
    }
    for sql in [
        "SELECT name FROM gen",
        "SELECT count(*) FROM gen WHERE name = 'a'",
        "SELECT name, email FROM customers JOIN (SELECT 7 AS id) USING (id)",
        "SELECT count(*) FROM customers JOIN orders ON orders.customer_id = customers.id",
        ";SELECT 1",
        " ;; SELECT 1",
    ] {
        assert_eq!(outcome(&guard, sql), "ok", "{sql}");
    }
    assert_eq!(outcome(&guard, "SELECT nope FROM orders"), "syntax");
}

/// Minutes each with SQLite's own.
#[test]
fn functions_do_not_outrun_the_clock() {
    let mut policy = Policy::careful();
    policy.limits.wall = Duration::from_secs(2);
    let (_dir, guard) = open(policy);
    let long = "printf('%.*c', 1000000, 'a')";
    let likes = vec![format!("{long} LIKE '%' || printf('%.*c', 900, 'a') || '_b'"); 150];
    for (sql, expected) in [
        (format!("SELECT length(trim({long}, printf('%.*c', 80000, 'b') || 'a'))"), "ok"),
        (format!("SELECT instr({long}, printf('%.*c', 500000, 'a') || 'b')"), "ok"),
        (format!("SELECT length(replace({long}, printf('%.*c', 500000, 'a') || 'b', 'c'))"), "ok"),
        (format!("SELECT {}", likes.join(", ")), "timeout"),
        (format!("SELECT replace({long}, 'a', 'bb')"), "limit"),
    ] {
        let end = outcome(&guard, &sql);
        assert_eq!(end, expected, "{}", &sql[..80.min(sql.len())]);
    }
}

/// Values and names that are proposed come from statements of our own, which see no more.
#[test]
fn what_is_closed_is_not_proposed_either() {
    let (_dir, guard) = open(Policy::careful());
    for (table, column) in [("overview", "code"), ("gen", "len"), ("gen", "half"), ("gen", "pin"), ("people", "name")] {
        let told = guard.distinct_values(table, column, 10);
        assert!(told.is_err(), "{table}.{column}: {told:?}");
    }
    assert_eq!(guard.distinct_values("customers", "name", 10).unwrap(), ["ann"]);
    let schema = guard.schema().unwrap();
    let tables: Vec<_> = schema.tables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(tables, ["customers", "gen", "orders", "overview"]);
    let generated = &schema.tables[1].columns;
    assert!(generated.iter().all(|c| c.name != "half" && c.name != "pin"));
}

#[test]
fn every_listed_function_is_there() {
    let list = include_str!("../data/sql-functions.txt").lines();
    let listed = list.filter(|line| !line.starts_with('#'));
    let conn = Connection::open_in_memory().unwrap();
    let mut known = conn.prepare("SELECT count(*) FROM pragma_function_list WHERE name = ?1").unwrap();
    for name in listed.flat_map(str::split_whitespace) {
        let count: i64 = known.query_row([name], |row| row.get(0)).unwrap();
        // These have a grammar of their own.
        let spoken = name.starts_with("current_") || name == "nullif" || name == "iif";
        // Ours: connections that are guarded have it.
        let spoken = spoken || name == "unicode_lower";
        assert!(count > 0 || spoken, "{name}");
    }
}
