//! The attempts on real servers: PostgreSQL and MariaDB, each with a user of its own.

use crate::mariadb_support;

use std::time::{Duration, Instant};

use mariadb_support::MariaDb;
use serde_json::json;
use sqlx::{Connection as _, Executor as _, MySqlConnection, PgConnection};
use steward_sandbox::sql::remote::{Answer, Remote, RemoteOptions};
use steward_sandbox::sql::{Limits, SqlError, Truncated};
use steward_testkit::postgres::TestPostgres;

const TABLES: &str =
    "CREATE TABLE customers(id INTEGER PRIMARY KEY, name VARCHAR(50), email VARCHAR(50), pin VARCHAR(9));
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, total DECIMAL(10,2));
    CREATE TABLE secrets(id INTEGER PRIMARY KEY, value VARCHAR(50));
    CREATE TABLE app_tokens(id INTEGER PRIMARY KEY, token VARCHAR(50));
    CREATE VIEW v_names AS SELECT id, name FROM customers;
    CREATE VIEW v_pins AS SELECT id, pin FROM customers;
    INSERT INTO secrets VALUES (1, 'TOP');
    INSERT INTO customers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
      SELECT i, concat('name ', i), concat(i, '@example.org'), '1234' FROM n;
    INSERT INTO orders WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
      SELECT i, i % 50 + 1, i * 1.5 FROM n;";

fn options() -> RemoteOptions {
    RemoteOptions { limits: Limits { wall: Duration::from_mins(2), ..Limits::default() }, write: false }
}

/// For what takes longer than anybody waits.
fn hasty() -> RemoteOptions {
    RemoteOptions { limits: Limits { wall: Duration::from_secs(2), ..Limits::default() }, write: false }
}

fn word(answer: &Result<Answer, SqlError>) -> &'static str {
    match answer {
        Ok(Answer::Rows(rows)) => match rows.truncated {
            None => "ok",
            Some(Truncated::Rows) => "rowcap",
            Some(Truncated::Bytes) => "bytecap",
        },
        Ok(Answer::Changed(_)) => "ok",
        Err(SqlError::Denied { .. }) => "deny",
        Err(SqlError::Timeout { .. }) => "timeout",
        Err(SqlError::Limit { .. }) => "limit",
        Err(_) => "error",
    }
}

async fn attempts(url: &str, list: &str, least: usize) {
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut patient = Remote::connect(url, options()).await.unwrap();
    let mut hasty = Remote::connect(url, hasty()).await.unwrap();
    for line in list.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        let mut parts = line.splitn(3, '|');
        let (id, expected, sql) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let remote = if expected == "timeout" { &mut hasty } else { &mut patient };
        let answer = remote.run(sql, &[]).await;
        if word(&answer) != expected {
            let shown: String = format!("{answer:?}").chars().take(400).collect();
            wrong.push(format!("{id}: expected {expected}, got {}: {shown}", word(&answer)));
        }
        // The same connection goes on, whatever was tried.
        let next = remote.run("SELECT count(*) FROM orders", &[]).await;
        let fine = matches!(&next, Ok(Answer::Rows(rows)) if rows.rows == [[json!(900)]]);
        assert!(fine, "after {id}: {next:?}");
        count += 1;
    }
    patient.close().await;
    hasty.close().await;
    assert!(count >= least, "only {count} attempts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn shown(remote: &mut Remote, sql: &str, values: &[serde_json::Value]) -> serde_json::Value {
    match remote.run(sql, values).await.unwrap() {
        Answer::Rows(rows) => json!({"columns": rows.columns, "rows": rows.rows}),
        Answer::Changed(changes) => json!(changes.count),
    }
}

/// Medians of a bare query and a guarded one; printed, since the machine is shared.
fn print_cost(what: &str, mut bare: Vec<Duration>, mut guarded: Vec<Duration>) {
    bare.sort();
    guarded.sort();
    println!("{what}: bare {:?}, guarded {:?}", bare[bare.len() / 2], guarded[guarded.len() / 2]);
}

const QUESTION: &str = "SELECT name, sum(total) FROM customers JOIN orders ON orders.customer_id = customers.id \
    WHERE customers.id < 4 GROUP BY name";

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let server = TestPostgres::shared().await.unwrap();
    let url = server.fresh_database().await.unwrap();
    let mut admin = PgConnection::connect(&url).await.unwrap();
    admin.execute(TABLES).await.unwrap();
    let grants = "CREATE ROLE reader LOGIN; GRANT SELECT (id, name, email) ON customers TO reader; \
         GRANT SELECT ON orders, v_names TO reader; \
         CREATE ROLE writer LOGIN; GRANT SELECT, UPDATE, INSERT, DELETE ON orders TO writer; \
         CREATE FUNCTION evil(orders) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_notify($$a$$, $$b$$); RETURN 1; END'; \
         CREATE FUNCTION lower(int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS \
           'BEGIN RETURN (SELECT count(*) FROM secrets); END'; \
         CREATE FUNCTION many(VARIADIC orders[]) RETURNS int LANGUAGE sql AS 'SELECT 1'; \
         CREATE FUNCTION floor(text) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN 1; END'; \
         CREATE ROLE files LOGIN; GRANT pg_read_server_files TO files";
    admin.execute(grants).await.unwrap();
    let as_user = |name: &str| TestPostgres::as_user(&url, name);
    attempts(&as_user("reader"), include_str!("data/postgres-attempts.txt"), 100).await;
    // Nothing of it was done.
    let (orders, secrets): (i64, i64) =
        sqlx::query_as("SELECT (SELECT count(*) FROM orders WHERE total > 0), (SELECT count(*) FROM secrets)")
            .fetch_one(&mut admin)
            .await
            .unwrap();
    assert_eq!((orders, secrets), (900, 1));
    for powerful in [url.clone(), as_user("files")] {
        let error = Remote::connect(&powerful, options()).await.unwrap_err();
        assert!(error.to_string().contains("user of its own"), "{error}");
    }
    let mut reader = Remote::connect(&as_user("reader"), options()).await.unwrap();
    let values = shown(
        &mut reader,
        "SELECT id, name, $2::text AS given, 1.50 AS n, ARRAY[1,2] AS a, id FROM customers WHERE id = $1::int ORDER BY id",
        &[json!(3), json!("x' OR 1=1 --")],
    )
    .await;
    let expected = json!({"columns": ["id", "name", "given", "n", "a", "id"],
        "rows": [[3, "name 3", "x' OR 1=1 --", 1.50, [1, 2], 3]]});
    assert_eq!(values, expected);
    assert!(matches!(reader.run("SELECT $1::int", &[]).await, Err(SqlError::Parameter { .. })));
    let write = RemoteOptions { write: true, ..options() };
    let mut writer = Remote::connect(&as_user("writer"), write).await.unwrap();
    let update = "UPDATE orders SET total = $1::numeric WHERE id = 7";
    assert_eq!(shown(&mut writer, update, &[json!("12.5")]).await, json!(1));
    for sql in [
        "DELETE FROM secrets",
        "DELETE FROM orders; DELETE FROM orders",
        "DROP TABLE orders",
        "UPDATE orders SET total = pg_sleep(9)::text::numeric",
        "WITH x AS (DELETE FROM orders RETURNING 1) SELECT * FROM x",
    ] {
        assert_eq!(word(&writer.run(sql, &[]).await), "deny", "{sql}");
    }
    let total: f64 =
        sqlx::query_scalar("SELECT total::float8 FROM orders WHERE id = 7").fetch_one(&mut admin).await.unwrap();
    assert!((total - 12.5).abs() < 1e-9);
    admin.execute("ANALYZE orders").await.unwrap();
    wide_plans_are_refused(&as_user("reader"), "$1::int").await;
    let (mut bare, mut guarded) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let started = Instant::now();
        admin.fetch_all("BEGIN").await.unwrap();
        sqlx::query(QUESTION).fetch_all(&mut admin).await.unwrap();
        admin.fetch_all("ROLLBACK").await.unwrap();
        bare.push(started.elapsed());
        let started = Instant::now();
        reader.run(QUESTION, &[]).await.unwrap();
        guarded.push(started.elapsed());
    }
    print_cost("PostgreSQL", bare, guarded);
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb() {
    let server = MariaDb::start().await;
    let mut admin = MySqlConnection::connect(&server.url("root", "mysql")).await.unwrap();
    let set_up = format!(
        "CREATE DATABASE shop; USE shop; {TABLES} \
         CREATE USER reader@'127.0.0.1'; GRANT SELECT (id, name, email) ON shop.customers TO reader@'127.0.0.1'; \
         GRANT SELECT ON shop.orders TO reader@'127.0.0.1'; GRANT SELECT ON shop.v_names TO reader@'127.0.0.1'; \
         CREATE FUNCTION any_value(a INT) RETURNS INT RETURN (SELECT count(*) FROM secrets); \
         GRANT EXECUTE ON shop.* TO reader@'127.0.0.1'; \
         CREATE USER writer@'127.0.0.1'; GRANT SELECT, INSERT, UPDATE, DELETE ON shop.orders TO writer@'127.0.0.1'; \
         CREATE USER files@'127.0.0.1'; GRANT FILE ON *.* TO files@'127.0.0.1'"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(set_up)).execute(&mut admin).await.unwrap();
    attempts(&server.url("reader", "shop"), include_str!("data/mysql-attempts.txt"), 100).await;
    let (orders, secrets): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM shop.orders WHERE total > 0), (SELECT count(*) FROM shop.secrets)",
    )
    .fetch_one(&mut admin)
    .await
    .unwrap();
    assert_eq!((orders, secrets), (900, 1));
    for powerful in ["root", "files"] {
        let error = Remote::connect(&server.url(powerful, "mysql"), options()).await.unwrap_err();
        assert!(matches!(error, SqlError::Connect { .. }), "{error}");
    }
    let mut reader = Remote::connect(&server.url("reader", "shop"), options()).await.unwrap();
    let values = shown(
        &mut reader,
        "SELECT id, name, ? AS given, 1.50 AS n, cast('2024-05-06 07:08:09' AS datetime) AS d, cast('2024-05-06' AS date) AS e, \
         cast('-12:30:01' AS time) AS t, NULL AS z, 1e3 AS f, x'00ff' AS b FROM customers WHERE id = ?",
        &[json!("x' OR 1=1 -- \\"), json!(3)],
    )
    .await;
    let expected = json!([[3, "name 3", "x' OR 1=1 -- \\", "1.50", "2024-05-06T07:08:09", "2024-05-06", "-12:30:01", null, 1000.0,
        {"blob_bytes": 2, "hex_prefix": "00ff"}]]);
    assert_eq!(values["rows"], expected);
    let write = RemoteOptions { write: true, ..options() };
    let mut writer = Remote::connect(&server.url("writer", "shop"), write).await.unwrap();
    let update = "UPDATE orders SET total = ? WHERE id = 7";
    assert_eq!(shown(&mut writer, update, &[json!(12.5)]).await, json!(1));
    for sql in [
        "DELETE FROM secrets",
        "DELETE FROM orders; DELETE FROM orders",
        "DROP TABLE orders",
        "UPDATE orders SET total = sleep(9)",
        "REPLACE INTO orders VALUES (1,1,1)",
    ] {
        assert_eq!(word(&writer.run(sql, &[]).await), "deny", "{sql}");
    }
    too_many_changes_are_rolled_back(&server).await;
    admin.execute("ANALYZE TABLE shop.orders").await.unwrap();
    wide_plans_are_refused(&server.url("reader", "shop"), "?").await;
    let mut plain = MySqlConnection::connect(&server.url("root", "shop")).await.unwrap();
    let (mut bare, mut guarded) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let started = Instant::now();
        sqlx::raw_sql("START TRANSACTION").execute(&mut plain).await.unwrap();
        sqlx::query(QUESTION).fetch_all(&mut plain).await.unwrap();
        sqlx::raw_sql("ROLLBACK").execute(&mut plain).await.unwrap();
        bare.push(started.elapsed());
        let started = Instant::now();
        reader.run(QUESTION, &[]).await.unwrap();
        guarded.push(started.elapsed());
    }
    print_cost("MariaDB", bare, guarded);
}

/// A server's own plan says that a query would look at more rows than are allowed.
async fn wide_plans_are_refused(url: &str, place: &str) {
    let few = RemoteOptions { limits: Limits { planned: Some(100), ..options().limits }, ..options() };
    let mut careful = Remote::connect(url, few).await.unwrap();
    let wide = format!("SELECT id FROM orders WHERE total > {place}");
    let narrow = format!("SELECT total FROM orders WHERE id = {place}");
    for _ in 0..2 {
        let refused = careful.run(&wide, &[json!(3)]).await.unwrap_err();
        assert!(matches!(refused, SqlError::Limit { .. }), "{refused}");
        assert!(refused.to_string().contains("expects to look at"), "{refused}");
        assert_eq!(word(&careful.run(&narrow, &[json!(3)]).await), "ok");
    }
    let both = format!("SELECT o.id FROM orders o, orders p WHERE o.id = {place}");
    assert_eq!(word(&careful.run(&both, &[json!(3)]).await), "limit");
    let mut plain = Remote::connect(url, options()).await.unwrap();
    assert_eq!(word(&plain.run(&wide, &[json!(3)]).await), "ok");
}

async fn too_many_changes_are_rolled_back(server: &MariaDb) {
    let few = RemoteOptions { write: true, limits: Limits { changes: Some(1), ..options().limits } };
    let mut careful = Remote::connect(&server.url("writer", "shop"), few).await.unwrap();
    let seven = "SELECT total FROM orders WHERE id = 7";
    let before = careful.run(seven, &[]).await.unwrap();
    let all = "UPDATE orders SET total = total + 1";
    assert_eq!(word(&careful.run(all, &[]).await), "limit");
    let after = careful.run(seven, &[]).await.unwrap();
    assert_eq!(before, after, "rolled back");
}

#[test]
fn what_was_checked_is_what_is_sent() {
    use steward_sandbox::sql::{mysql, postgres};
    let sent = |sql: &str| postgres::check(sql, false).unwrap().sql;
    assert_eq!(sent("select 1 -- x\n;"), "SELECT 1");
    assert_eq!(sent("SELECT 'it''s' /* y */"), "SELECT 'it''s'");
    assert_eq!(sent("SELECT 'a\\'', f, $$' AS x$$"), "SELECT 'a\\'', f, $$' AS x$$");
    assert_eq!(
        sent("SELECT E'a\\'b', U&'d\\0061t', $q$it's$q$, \"a\"\"b\".c, count(*) FROM \"a\"\"b\""),
        "SELECT 'a''b' , 'dat' , 'it''s' , \"a\"\"b\".c , count( * ) FROM \"a\"\"b\""
    );
    let sent = |sql: &str| mysql::check(sql, false).unwrap().sql;
    assert_eq!(sent("SELECT 'a\\', 'b''c'"), "SELECT 'a\\' , 'b''c'");
    assert_eq!(
        sent("SELECT \"a\"\"'b\", `x\\``y`, 0x1F, X'1F', 5--3 # c"),
        "SELECT 'a\"''b' , `x\\``y` , 0x1F , X'1F' , 5 - - 3"
    );
    // Statements as long as the limits allow are judged, not crashed on.
    for sql in [
        format!("SELECT {}1", "1+".repeat(2400)),
        format!("SELECT {}1", "- ".repeat(4000)),
        format!("SELECT {}1", "NOT ".repeat(4000)),
        format!("SELECT 1 {}", "UNION SELECT 1 ".repeat(1600)),
        format!("SELECT {}1{}", "(".repeat(2400), ")".repeat(2400)),
        format!("SELECT {}", "CASE WHEN 1 THEN ".repeat(1200)),
        "SELECT 1,".repeat(20_000),
    ] {
        assert!(postgres::check(&sql, false).is_err() || sql.contains("UNION"), "{}", &sql[..40]);
        assert!(mysql::check(&sql, false).is_err() || sql.contains("UNION"), "{}", &sql[..40]);
    }
}
