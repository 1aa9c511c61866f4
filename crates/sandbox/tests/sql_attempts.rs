//! Every line of the attempts file against a database of the described shape.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;
use steward_sandbox::sql::{ColumnRef, Guard, Limits, Policy, SqlError, Tables, Truncated};

const ATTEMPTS: &str = include_str!("data/sql-attempts.txt");

fn fixture(path: &Path) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, email TEXT, pin TEXT);
         CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL);
         CREATE TABLE secrets(id INTEGER PRIMARY KEY, value TEXT);
         CREATE TABLE app_tokens(id INTEGER PRIMARY KEY, token TEXT);
         CREATE INDEX orders_customer ON orders(customer_id);
         CREATE VIEW v_secrets AS SELECT value FROM secrets;
         CREATE VIEW v_names AS SELECT name, email FROM customers;
         CREATE VIEW v_pins AS SELECT id, pin FROM customers;
         CREATE TABLE keyed(id INTEGER PRIMARY KEY, open TEXT, half TEXT AS (substr(hidden, 1, 1)), hidden TEXT);
         CREATE INDEX keyed_hidden ON keyed(hidden);
         CREATE TABLE flat(a TEXT, hidden TEXT, b TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID;
         INSERT INTO keyed(id, open, hidden) VALUES (5, 'o', 'k1');
         INSERT INTO flat VALUES ('a', 'x', 'b');
         CREATE TRIGGER t AFTER INSERT ON orders BEGIN INSERT INTO app_tokens(token) VALUES ('x'); END;
         INSERT INTO secrets(value) VALUES ('TOP');
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
           INSERT INTO customers SELECT i, 'name ' || i, i || '@example.org', '1234' FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
           INSERT INTO orders SELECT i, i % 50 + 1, i * 1.5 FROM n;",
    )
    .unwrap();
}

/// All tables but these, and none of these columns.
pub fn denying(tables: &[&str], columns: &[(&str, &str)]) -> Policy {
    let column = |(table, column): &(&str, &str)| ColumnRef { table: (*table).into(), column: (*column).into() };
    Policy {
        tables: Tables::Deny(tables.iter().map(|table| (*table).to_owned()).collect()),
        deny_columns: columns.iter().map(column).collect(),
        ..Policy::default()
    }
}

fn policy() -> Policy {
    let mut policy = denying(
        &["secrets", "app_tokens"],
        &[("customers", "pin"), ("keyed", "id"), ("keyed", "hidden"), ("flat", "hidden")],
    );
    policy.limits.wall = Duration::from_millis(700);
    policy
}

fn outcome(guard: &Guard, sql: &str) -> String {
    match guard.query(sql) {
        Ok(rows) if rows.truncated == Some(Truncated::Rows) => "rowcap".to_owned(),
        Ok(rows) if rows.truncated.is_some() => "bytecap".to_owned(),
        Ok(_) => "ok".to_owned(),
        Err(SqlError::Denied { .. }) => "deny".to_owned(),
        Err(other) => other.code().to_owned(),
    }
}

fn open(policy: Policy) -> (tempfile::TempDir, Guard) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    fixture(&path);
    let guard = Guard::open(&path, policy).unwrap();
    (dir, guard)
}

#[test]
fn every_attempt_ends_as_listed() {
    let (dir, guard) = open(policy());
    let before = std::fs::read(guard.path()).unwrap();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for line in ATTEMPTS.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        let mut parts = line.splitn(3, '|');
        let (id, expected, sql) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let got = outcome(&guard, sql);
        if got != expected {
            wrong.push(format!("{id}: expected {expected}, got {got}: {:?}", guard.query(sql)));
        }
        checked += 1;
    }
    assert!(checked >= 38, "only {checked} attempts were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Nothing was created beside the database, here or in the working directory, and no byte of it changed.
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["shop.db"]);
    assert!(!Path::new("pwned.db").exists() && !Path::new("pwned_wf").exists());
    assert_eq!(before, std::fs::read(guard.path()).unwrap());
}

#[test]
fn more_ways_to_the_forbidden_are_closed() {
    let (_dir, guard) = open(policy());
    for sql in [
        "SELECT * FROM v_secrets",
        "SELECT count(*) FROM v_secrets",
        "SELECT * FROM v_pins",
        "SELECT id FROM v_pins ORDER BY pin",
        "SELECT * FROM customers",
        "SELECT c.pin FROM customers c",
        "SELECT 1 FROM customers a JOIN customers b USING (pin)",
        "SELECT a.id FROM customers a NATURAL JOIN customers b",
        "SELECT count(*) FROM app_tokens",
        "SELECT rowid FROM secrets",
        "SELECT (SELECT value FROM secrets)",
        "SELECT name FROM customers WHERE id IN (SELECT id FROM secrets)",
        "SELECT name FROM customers GROUP BY pin",
        "SELECT max(pin) OVER () FROM customers",
        "WITH c AS (SELECT * FROM secrets) SELECT count(*) FROM c",
        "WITH c AS NOT MATERIALIZED (SELECT pin FROM customers) SELECT 1 FROM c",
        "SELECT * FROM main.secrets",
        "SELECT * FROM sqlite_schema",
        "SELECT count(*) FROM sqlite_schema",
        "SELECT count(*) FROM pragma_table_list",
        "SELECT * FROM pragma_database_list",
        "SELECT count(*) FROM dbstat",
        "SELECT * FROM sqlite_stat1",
        "EXPLAIN SELECT * FROM secrets",
        "EXPLAIN QUERY PLAN SELECT * FROM secrets",
        "PRAGMA table_info(secrets)",
        "PRAGMA journal_mode=DELETE",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "RELEASE s",
        "DETACH main",
        "INSERT INTO orders VALUES (100000,1,1) RETURNING id",
        "UPDATE orders SET total = 0 RETURNING id",
        "DELETE FROM orders RETURNING id",
        "DROP TABLE orders",
        "ALTER TABLE orders ADD COLUMN x",
        "CREATE TEMP TABLE x AS SELECT 1",
        "CREATE INDEX i ON orders(total)",
        "SELECT readfile('/etc/passwd')",
        "SELECT edit('x')",
        "SELECT sqlite_version()",
        "SELECT sqlite_compileoption_get(0)",
        "SELECT last_insert_rowid()",
        "SELECT count(*) FROM secrets JOIN (SELECT 'TOP' AS value) USING (value)",
        "SELECT count(*) FROM main.secrets NATURAL JOIN (SELECT 'TOP' AS value)",
        "SELECT count(*) FROM (SELECT 'TOP' AS value) NATURAL JOIN v_secrets",
        "SELECT count(*) FROM sqlite_schema JOIN (SELECT 'secrets' AS name) USING (name)",
        "SELECT count(*) FROM dbstat JOIN (SELECT 'secrets' AS name) USING (name)",
        "SELECT count(*) FROM pragma_table_list JOIN (SELECT 'secrets' AS name) USING (name)",
        "SELECT count(*) FROM customers JOIN (SELECT '1234' AS pin) USING (pin)",
        "SELECT count(*) FROM keyed JOIN (SELECT 'k1' AS hidden) USING (hidden)",
        "SELECT count(*) FROM keyed JOIN (SELECT 5 AS id) USING (id)",
        "SELECT half FROM keyed",
        "SELECT count(*) FROM flat JOIN (SELECT 'x' AS hidden) USING (hidden)",
        "SELECT 1; SELECT 2",
        "SELECT 1; garbage",
        "SELECT 1;; SELECT 2",
    ] {
        assert_eq!(outcome(&guard, sql), "deny", "{sql}");
    }
}

#[test]
fn ordinary_questions_are_answered() {
    let (_dir, guard) = open(policy());
    for sql in [
        "SELECT name, email FROM customers WHERE name LIKE 'name 1%' ORDER BY 1 DESC LIMIT 5",
        "SELECT * FROM v_names",
        "SELECT count(*) FROM customers",
        "SELECT count(*) FROM (SELECT 1 FROM orders)",
        "WITH big AS (SELECT * FROM orders WHERE total > 100) SELECT count(*) FROM big",
        "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b",
        "SELECT customer_id, sum(total) OVER (PARTITION BY customer_id ORDER BY id) FROM orders LIMIT 3",
        "SELECT date('now'), strftime('%Y', 'now'), upper('x'), round(1.5), json_extract('{\"a\":1}', '$.a')",
        "SELECT value FROM json_each('[1,2,3]')",
        "SELECT count(*) FROM json_each('[1,2,3]')",
        "SELECT CASE WHEN total > 10 THEN 'big' ELSE 'small' END, count(*) FROM orders GROUP BY 1 HAVING count(*) > 1",
        "SELECT id FROM customers EXCEPT SELECT customer_id FROM orders",
        "SELECT current_timestamp",
        "SELECT open FROM keyed WHERE open > 'a' ORDER BY open",
        "SELECT count(*) FROM keyed",
        "SELECT a, b FROM flat WHERE b = 'b'",
        "SELECT count(*) FROM customers JOIN (SELECT 'name 3' AS name) USING (name)",
        "SELECT count(*) FROM orders JOIN (SELECT 3 AS customer_id) USING (customer_id)",
        "SELECT 1;  -- done",
        "SELECT 1; /* done */ ;",
        "EXPLAIN QUERY PLAN SELECT name FROM customers",
    ] {
        assert_eq!(outcome(&guard, sql), "ok", "{sql}: {:?}", guard.query(sql));
    }
}

#[test]
fn errors_say_what_to_do() {
    let (_dir, guard) = open(policy());
    let text = |sql: &str| guard.query(sql).unwrap_err().to_string();
    assert!(text("SELECT nme FROM customers").contains("did you mean name?"), "{}", text("SELECT nme FROM customers"));
    assert!(text("SELECT * FROM order").contains("syntax error"));
    assert!(text("SELECT * FROM customer").contains("did you mean customers?"));
    assert!(text("SELECT * FROM bills").contains("the tables are customers, flat"));
    assert!(!text("SELECT * FROM app_token").contains("app_tokens"), "a denied table is not suggested");
    assert!(text("SELECT * FROM customers").contains("column customers.pin"));
    assert!(text("").contains("no statement") && text(" -- x").contains("no statement"));
    assert!(text("SELECT 1\0").contains("NUL"));
    // After each refusal the guard still works.
    assert_eq!(guard.query("SELECT 1").unwrap().rows, [[json!(1)]]);
}

#[test]
fn values_and_caps() {
    let mut policy = policy();
    policy.limits = Limits { rows: 3, bytes: 2000, ..policy.limits };
    let (_dir, guard) = open(policy);
    let rows = guard.query("SELECT 1, 1.5, 'ü', NULL, x'00ff', 9e999, -7").unwrap();
    assert_eq!(rows.rows[0][..4], [json!(1), json!(1.5), json!("ü"), json!(null)]);
    assert_eq!(rows.rows[0][4], json!({ "blob_bytes": 2, "hex_prefix": "00ff" }));
    assert_eq!(rows.rows[0][5..], [json!("inf"), json!(-7)]);
    let capped = guard.query("SELECT id FROM orders").unwrap();
    assert_eq!((capped.rows.len(), capped.truncated), (3, Some(Truncated::Rows)));
    assert_eq!(guard.query("SELECT id FROM orders LIMIT 3").unwrap().truncated, None);
    let long = guard.query("SELECT printf('%.*c', 900, 'x') FROM orders").unwrap();
    assert_eq!((long.rows.len(), long.truncated), (2, Some(Truncated::Bytes)));
    assert!(matches!(guard.query("SELECT printf('%.*c', 9000, 'x')"), Err(SqlError::Limit { .. })));
    let bound = guard.query_with("SELECT ?1, ?2, ?3", &[json!("a' OR 1"), json!(2), json!(null)]).unwrap();
    assert_eq!(bound.rows, [[json!("a' OR 1"), json!(2), json!(null)]]);
    assert!(matches!(guard.query("SELECT ?1"), Err(SqlError::Parameter { index: 1, .. })));
    assert!(matches!(guard.query_with("SELECT ?1", &[json!([])]), Err(SqlError::Parameter { .. })));
}

#[test]
fn time_and_allow_lists() {
    let mut policy = Policy { tables: Tables::Allow(["customers".to_owned()].into()), ..Policy::default() };
    policy.limits.wall = Duration::from_millis(200);
    let (_dir, guard) = open(policy);
    assert_eq!(outcome(&guard, "SELECT count(*) FROM CUSTOMERS"), "ok");
    assert_eq!(outcome(&guard, "SELECT load_extension(name) FROM customers"), "deny");
    assert_eq!(outcome(&guard, "SELECT count(*) FROM orders"), "deny");
    assert_eq!(outcome(&guard, "SELECT id FROM orders"), "deny");
    let endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT count(*) FROM c";
    assert_eq!(outcome(&guard, endless), "timeout");
    assert_eq!(outcome(&guard, "SELECT id FROM customers"), "ok");
}

#[test]
fn schema_shows_only_what_is_allowed() {
    let (_dir, guard) = open(policy());
    let schema = guard.schema().unwrap();
    let names: Vec<_> = schema.tables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["customers", "flat", "keyed", "orders", "v_names", "v_pins", "v_secrets"]);
    let customers = &schema.tables[0];
    let columns: Vec<_> = customers.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str(), c.pk)).collect();
    assert_eq!(columns, [("id", "INTEGER", true), ("name", "TEXT", false), ("email", "TEXT", false)]);
    assert_eq!(customers.row_estimate, Some(50));
    let orders = &schema.tables[3];
    assert_eq!(orders.row_estimate, Some(20_000));
    assert_eq!(
        (orders.foreign_keys[0].column.as_str(), orders.foreign_keys[0].table.as_str()),
        ("customer_id", "customers")
    );
    let values = guard.distinct_values("orders", "CUSTOMER_ID", 7).unwrap();
    assert_eq!(values.len(), 7);
    for (table, column) in [
        ("secrets", "value"),
        ("customers", "pin"),
        ("orders", "\" FROM secrets --"),
        ("v_pins", "nope"),
        ("keyed", "hidden"),
    ] {
        assert!(guard.distinct_values(table, column, 5).is_err(), "{table}.{column}");
    }
}

#[test]
fn a_schema_that_changes_meanwhile_is_judged_anew() {
    let (_dir, guard) = open(Policy { tables: Tables::Allow(["customers".to_owned()].into()), ..Policy::default() });
    assert_eq!(outcome(&guard, "SELECT name FROM customers"), "ok");
    Connection::open(guard.path()).unwrap().execute_batch("CREATE TABLE late(x); INSERT INTO late VALUES (1)").unwrap();
    assert_eq!(outcome(&guard, "SELECT count(*) FROM late"), "deny");
}

#[test]
fn bad_files_have_clear_errors() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("text.db"), "this is no database, but it is long enough to be read as one ".repeat(40)).unwrap();
    std::fs::write(at("empty.db"), "").unwrap();
    assert!(matches!(Guard::open(at("none.db"), Policy::default()), Err(SqlError::Open { .. })));
    assert!(matches!(Guard::open(at("empty.db"), Policy::default()), Err(SqlError::Open { .. })));
    assert!(matches!(Guard::open(dir.path(), Policy::default()), Err(SqlError::Open { .. })));
    assert!(matches!(Guard::open(at("text.db"), Policy::default()), Err(SqlError::Corrupt { .. })));
    assert!(!at("none.db").exists());
}

#[test]
fn wal_databases_and_locked_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a b%3F.db");
    fixture(&path);
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "WAL").unwrap();
    writer.execute("INSERT INTO secrets(value) VALUES ('in the log')", []).unwrap();
    let guard = Guard::open(&path, Policy::default()).unwrap();
    assert_eq!(guard.query("SELECT count(*) FROM secrets").unwrap().rows, [[json!(2)]]);
    drop(guard);
    writer.pragma_update(None, "journal_mode", "DELETE").unwrap();
    let guard = Guard::open(&path, Policy::default()).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(guard.query("SELECT 1 FROM orders"), Err(SqlError::Busy)));
    writer.execute_batch("ROLLBACK").unwrap();
    assert!(guard.query("SELECT 1 FROM orders LIMIT 1").is_ok());
}

/// Printed only, since the machine is shared.
#[test]
fn what_the_guard_costs() {
    let (_dir, guard) = open(policy());
    let bare = Connection::open(guard.path()).unwrap();
    let sql = "SELECT name, sum(total) FROM customers JOIN orders ON orders.customer_id = customers.id WHERE customers.id < 4 GROUP BY name";
    let time = |run: &dyn Fn()| {
        let mut taken: Vec<Duration> = (0..100)
            .map(|_| {
                let started = Instant::now();
                run();
                started.elapsed()
            })
            .collect();
        taken.sort();
        taken[50]
    };
    let plain = time(&|| {
        let mut statement = bare.prepare(sql).unwrap();
        let rows: Vec<(String, f64)> =
            statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3);
    });
    let guarded = time(&|| assert_eq!(guard.query(sql).unwrap().rows.len(), 3));
    println!("bare {plain:?}, guarded {guarded:?}");
}
