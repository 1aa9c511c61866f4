//! Writes on MariaDB: what is told before, what comes back, and what is said where nothing does.

use crate::mariadb_support;
use crate::undo_support;
use crate::undo_support::mariadb as random;

use std::fmt::Write as _;
use std::time::Duration;

use mariadb_support::MariaDb;
use random::{statement, table};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, Row as _, ValueRef as _};
use steward_sandbox::sql::change::{Answer, Changes, Snapshot, WriteState};
use steward_sandbox::sql::remote::{Remote, RemoteOptions};
use steward_sandbox::sql::{Limits, SqlError};
use steward_testkit::repetitions;
use undo_support::Dice;

fn options() -> RemoteOptions {
    RemoteOptions {
        limits: Limits { wall: Duration::from_secs(20), changes: Some(200), rows: 1, ..Limits::default() },
        write: true,
    }
}

struct Base {
    admin: MySqlConnection,
    url: String,
    _server: MariaDb,
}

fn changes(answer: Result<Answer, SqlError>) -> Result<Changes, SqlError> {
    match answer? {
        Answer::Changed(changes) => Ok(*changes),
        Answer::Rows(rows) => panic!("{rows:?}"),
    }
}

impl Base {
    async fn new(set_up: &str, rights: &str) -> Self {
        let server = MariaDb::start().await;
        let mut admin = MySqlConnection::connect(&server.url("root", "mysql")).await.unwrap();
        let sql = format!(
            "CREATE DATABASE shop CHARACTER SET utf8mb4; USE shop; {set_up} \
             CREATE USER writer@'127.0.0.1'; GRANT {rights} ON shop.* TO writer@'127.0.0.1';"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();
        let url = server.url("writer", "shop");
        Self { admin, url, _server: server }
    }

    async fn sql(&mut self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.admin).await.unwrap();
    }

    /// A connection for each call, as skills have.
    async fn remote(&self) -> Remote {
        Remote::connect(&self.url, options()).await.unwrap()
    }

    async fn run(&mut self, sql: &str, values: &[Value]) -> Result<Changes, SqlError> {
        let mut remote = self.remote().await;
        let answer = remote.run(sql, values).await;
        remote.close().await;
        changes(answer)
    }

    async fn preview(&mut self, sql: &str) -> Result<Changes, SqlError> {
        let mut remote = self.remote().await;
        let answer = remote.preview(sql, &[]).await;
        remote.close().await;
        changes(answer)
    }

    async fn put_back(&mut self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        let text = serde_json::to_string(snapshot).unwrap();
        let mut remote = self.remote().await;
        let done = remote.put_back(&serde_json::from_str(&text).unwrap()).await;
        remote.close().await;
        done
    }

    /// The bytes that the server itself sends for each value of each row.
    async fn dump(&mut self, table: &str) -> Vec<String> {
        let sql = format!("SELECT * FROM {table}");
        let rows = self.admin.fetch_all(sqlx::query(AssertSqlSafe(sql))).await.unwrap();
        let mut all: Vec<String> = rows
            .iter()
            .map(|row| {
                let mut text = String::new();
                for at in 0..row.len() {
                    if row.try_get_raw(at).unwrap().is_null() {
                        text.push_str(" null");
                    } else {
                        let bytes: &[u8] = row.try_get_unchecked(at).unwrap();
                        let _ = write!(text, " {bytes:x?}");
                    }
                }
                text
            })
            .collect();
        all.sort();
        all
    }
}

const SHOP: &str = "CREATE TABLE customers(id INT PRIMARY KEY, name VARCHAR(50), changed TIMESTAMP DEFAULT '2001-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP);
    CREATE TABLE orders(id INT AUTO_INCREMENT PRIMARY KEY, customer_id INT, total DECIMAL(10,2), dbl DECIMAL(12,2) AS (total * 2) STORED,
      FOREIGN KEY (customer_id) REFERENCES customers(id));
    CREATE TABLE parents(id INT PRIMARY KEY, code VARCHAR(9) UNIQUE NOT NULL);
    CREATE TABLE children(id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parents(id) ON DELETE CASCADE);
    CREATE TABLE keyless(a INT, b TEXT);
    CREATE TABLE watched(id INT PRIMARY KEY, v TEXT);
    CREATE TABLE log(what TEXT);
    CREATE TRIGGER notes AFTER UPDATE ON watched FOR EACH ROW INSERT INTO log VALUES ('x');
    CREATE TABLE stays(id INT PRIMARY KEY, v TEXT) ENGINE=MyISAM;
    CREATE VIEW names AS SELECT id, name FROM customers;
    INSERT INTO customers(id, name) VALUES (1, 'Ann'), (2, 'Bob');
    INSERT INTO orders(customer_id, total) VALUES (1, 10), (1, 20.5), (2, 30);
    INSERT INTO parents VALUES (1, 'a'), (2, 'b'); INSERT INTO children VALUES (1, 1), (2, 1);
    INSERT INTO keyless VALUES (1, 'x'); INSERT INTO watched VALUES (1, 'x'); INSERT INTO stays VALUES (1, 'x'), (2, 'x');";

const ALL: &str = "SELECT, INSERT, UPDATE, DELETE, TRIGGER";

#[tokio::test(flavor = "multi_thread")]
async fn told_before_and_undone_after() {
    let mut base = Base::new(SHOP, ALL).await;
    let before = base.dump("orders").await;
    let told = base.preview("UPDATE orders SET total = total * 2 WHERE customer_id = 1").await.unwrap();
    assert_eq!(told.count, 2);
    assert_eq!(told.lines, ["orders id=1: total 10.00 → 20.00", "orders id=2: total 20.50 → 41.00"]);
    assert!(told.undo.is_ok());
    assert_eq!(base.dump("orders").await, before, "only tried");
    for (table, sql) in [
        ("orders", "UPDATE shop.orders AS o SET o.total = o.total + 1 WHERE o.id > 1 ORDER BY o.id"),
        ("orders", "DELETE FROM orders ORDER BY id DESC LIMIT 2"),
        ("orders", "INSERT INTO orders(customer_id, total) SELECT id, 1 FROM customers"),
        ("customers", "UPDATE customers SET name = upper(name)"),
        ("customers", "UPDATE customers SET name = name, changed = now() WHERE changed < now()"),
        ("parents", "UPDATE parents SET id = id + 10 WHERE id = 2"),
        ("keyless", "INSERT INTO parents VALUES (5, 'ü')"),
    ] {
        let before = base.dump(table).await;
        let done = base.run(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let snapshot = done.undo.unwrap_or_else(|why| panic!("{sql}: {why}"));
        base.put_back(&snapshot).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(base.dump(table).await, before, "{sql}");
    }
    let done = base.run("UPDATE orders SET total = ? WHERE id = ?", &[json!(7.5), json!(3)]).await;
    assert_eq!(done.unwrap().count, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_told_or_undone_is_said() {
    let mut base = Base::new(SHOP, ALL).await;
    for (sql, why) in [
        ("UPDATE watched SET v = 'y'", "triggers would run"),
        ("UPDATE names SET name = 'y'", "not a table"),
        ("UPDATE stays SET v = 'y'", "roll nothing back"),
    ] {
        let error = base.preview(sql).await.unwrap_err();
        assert!(matches!(&error, SqlError::NoPreview(told) if told.contains(why)), "{sql}: {error}");
        let done = base.run(sql, &[]).await.unwrap();
        assert!(done.undo.unwrap_err().contains(why), "{sql}");
    }
    for (sql, count, why) in [
        ("UPDATE keyless SET b = 'y'", 1, "no key"),
        ("DELETE FROM parents WHERE id = 1", 1, "children"),
        ("UPDATE parents SET id = id + 100, code = concat(code, '1') WHERE id = 2", 1, "names the rows"),
        ("UPDATE orders SET total = 1 LIMIT 1", 1, "LIMIT"),
        ("DELETE FROM orders WHERE rand() < 2", 3, "may find other rows"),
        ("INSERT IGNORE INTO parents VALUES (1, 'a')", 0, "already"),
        ("UPDATE orders o JOIN customers c ON c.id = o.customer_id SET o.total = 1", 3, "other tables"),
    ] {
        let told = base.preview(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(told.count, count, "{sql}");
        let said = told.undo.unwrap_err();
        assert!(said.contains(why), "{sql}: {said}");
    }
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM shop.children").fetch_one(&mut base.admin).await.unwrap();
    assert_eq!(rows, 2, "only tried");
    base.sql("INSERT INTO orders(customer_id, total) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT 1, i FROM n").await;
    // How many rows that makes shows only when it is too late.
    let error = base.run("INSERT INTO stays VALUES (9, 'x')", &[]).await.unwrap_err();
    assert!(error.to_string().contains("roll nothing back"), "{error}");
    base.sql("INSERT INTO stays WITH RECURSIVE n(i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, 'x' FROM n").await;
    for table in ["orders", "stays"] {
        let before = base.dump(table).await;
        let error = base.run(&format!("DELETE FROM {table}"), &[]).await.unwrap_err();
        assert!(matches!(&error, SqlError::Limit { what } if what.contains("at most 200")), "{error}");
        assert_eq!(base.dump(table).await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn triggers_that_the_user_does_not_see() {
    let mut base = Base::new(SHOP, "SELECT, INSERT, UPDATE, DELETE").await;
    let before = base.dump("orders").await;
    let told = base.preview("UPDATE orders SET total = 0 WHERE id = 1").await.unwrap();
    assert_eq!((told.count, told.lines[0].as_str()), (1, "orders id=1 is: id=1, customer_id=1, total=10.00"));
    assert!(told.notes[0].contains("not tried") && told.undo.is_err(), "{told:?}");
    assert_eq!(base.dump("orders").await, before);
    let done = base.run("UPDATE watched SET v = 'y'", &[]).await.unwrap();
    assert!(done.undo.unwrap_err().contains("triggers"));
    let before = base.dump("orders").await;
    let done = base.run("UPDATE orders SET total = 0", &[]).await.unwrap();
    let snapshot = done.undo.unwrap();
    base.put_back(&snapshot).await.unwrap();
    assert_eq!(base.dump("orders").await, before);
    // One that was made since would run at the undo.
    let done = base.run("UPDATE orders SET total = 0", &[]).await.unwrap();
    base.sql("CREATE TRIGGER more AFTER UPDATE ON orders FOR EACH ROW INSERT INTO log VALUES ('y')").await;
    let left = base.dump("orders").await;
    let error = base.put_back(&done.undo.unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("triggers"), "{error}");
    assert_eq!(base.dump("orders").await, left);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_was_cut_off_shows_in_its_rows() {
    let mut base = Base::new(SHOP, ALL).await;
    let kept = |answer: Answer| match answer {
        Answer::Changed(changes) => changes.undo.unwrap(),
        Answer::Rows(rows) => panic!("{rows:?}"),
    };
    for sql in [
        "UPDATE orders SET total = total - 1 WHERE id = 1",
        "INSERT INTO parents VALUES (70, 'z')",
        "DELETE FROM orders WHERE id = 3",
    ] {
        for commits in [false, true] {
            let mut remote = base.remote().await;
            let snapshot = kept(remote.hold(sql, &[]).await.unwrap().answer);
            if commits {
                remote.commit().await.unwrap();
            }
            drop(remote);
            let mut remote = base.remote().await;
            let found = remote.settle(&snapshot, &[]).await.unwrap();
            let wanted = if commits { WriteState::Done } else { WriteState::NotDone };
            assert_eq!(found, wanted, "{sql}");
        }
    }
    // Nothing holds these back, so they are not begun.
    let stays = base.dump("stays").await;
    let error = base.remote().await.hold("INSERT INTO stays VALUES (9, 'x')", &[]).await;
    assert!(matches!(error, Err(SqlError::NoPreview(_))), "{error:?}");
    assert_eq!(base.dump("stays").await, stays);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_others_changed_since_are_named() {
    let mut base = Base::new(SHOP, ALL).await;
    let done = base.run("UPDATE orders SET total = 0", &[]).await.unwrap();
    let snapshot = done.undo.unwrap();
    base.sql("UPDATE orders SET customer_id = 2 WHERE id = 1").await;
    let error = base.put_back(&snapshot).await.unwrap_err();
    assert!(matches!(&error, SqlError::Conflict { rows } if rows == "orders id=1"), "{error}");
    base.sql("UPDATE orders SET customer_id = 1 WHERE id = 1").await;
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 3);
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 0, "it is back already");
    let came = base.run("INSERT INTO parents VALUES (7, 'z')", &[]).await.unwrap();
    base.sql("INSERT INTO children VALUES (7, 7)").await;
    let snapshot = came.undo.unwrap();
    let error = base.put_back(&snapshot).await.unwrap_err();
    assert!(error.to_string().contains("refer to what would go"), "{error}");
    base.sql("DELETE FROM children WHERE id = 7").await;
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 1);
    let done = base.run("UPDATE orders SET total = 1 WHERE id = 1", &[]).await.unwrap();
    base.sql("BEGIN").await;
    base.sql("UPDATE orders SET total = 2 WHERE id = 1").await;
    assert!(matches!(base.put_back(&done.undo.unwrap()).await, Err(SqlError::Busy)));
}

/// Random writes on random tables, undone in the reverse order: after each step back every byte is as it was.
#[tokio::test(flavor = "multi_thread")]
async fn long_random_runs_come_back_bit_for_bit() {
    let mut sql = "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; ".to_owned();
    let mut made = Vec::new();
    for seed in 0..repetitions(25, 100) as u64 {
        let (text, table) = table(&mut Dice::new(seed), made.len());
        sql.push_str(&text);
        made.push(table);
    }
    let mut base = Base::new(&sql, ALL).await;
    let (mut writes, mut undone) = (0, 0);
    for (seed, table) in made.iter().enumerate() {
        let dice = &mut Dice::new(1000 + seed as u64);
        let mut steps = Vec::new();
        let mut before = base.dump(&table.name).await;
        for _ in 0..3 {
            let sql = statement(dice, table);
            let told = base.preview(&sql).await;
            assert_eq!(base.dump(&table.name).await, before, "{seed}: the preview of {sql} left something");
            let Ok(told) = told else { continue };
            writes += 1;
            let done = base.run(&sql, &[]).await.unwrap();
            assert_eq!(told.count, done.count, "{seed}: {sql}");
            let snapshot = done.undo.unwrap_or_else(|why| panic!("{seed}: {sql}: {why}"));
            let after = base.dump(&table.name).await;
            steps.push((sql, std::mem::replace(&mut before, after), snapshot));
        }
        while let Some((sql, before, snapshot)) = steps.pop() {
            let back = base.put_back(&snapshot).await;
            back.unwrap_or_else(|error| panic!("{seed}: {sql}: {error}\n{snapshot:?}"));
            assert_eq!(base.dump(&table.name).await, before, "{seed}: {sql}");
            undone += 1;
        }
    }
    println!("{writes} writes, {undone} undone");
    assert!(writes >= repetitions(35, 150), "only {writes} writes worked");
}
