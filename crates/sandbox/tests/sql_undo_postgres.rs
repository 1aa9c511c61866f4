//! Writes on PostgreSQL: what is told before, what comes back, and what is said where nothing does.

use crate::undo_support;
use crate::undo_support::postgres as random;

use std::time::Duration;

use random::{statement, table};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _};
use steward_sandbox::sql::change::{Answer, Changes, Snapshot, WriteState};
use steward_sandbox::sql::remote::{Remote, RemoteOptions};
use steward_sandbox::sql::{Limits, SqlError};
use steward_testkit::postgres::TestPostgres;
use steward_testkit::repetitions;
use undo_support::Dice;

fn options() -> RemoteOptions {
    RemoteOptions {
        limits: Limits { wall: Duration::from_secs(20), changes: Some(200), ..Limits::default() },
        write: true,
    }
}

struct Base {
    admin: PgConnection,
    remote: Remote,
    url: String,
}

impl Base {
    async fn new(set_up: &str) -> Self {
        let server = TestPostgres::shared().await.unwrap();
        let url = server.fresh_database().await.unwrap();
        let mut admin = PgConnection::connect(&url).await.unwrap();
        let (_, rest) = url.split_once('@').unwrap();
        let user = format!("u{}", rest.rsplit('/').next().unwrap());
        admin.execute(AssertSqlSafe(set_up.to_owned())).await.unwrap();
        let grants = format!(
            "DROP ROLE IF EXISTS {user}; CREATE ROLE {user} LOGIN; GRANT USAGE ON SCHEMA public TO {user}; \
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user}; \
             GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {user}"
        );
        admin.execute(AssertSqlSafe(grants)).await.unwrap();
        let url = format!("postgres://{user}@{rest}");
        let remote = Remote::connect(&url, options()).await.unwrap();
        Self { admin, remote, url }
    }

    async fn sql(&mut self, sql: &str) {
        self.admin.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
    }

    async fn run(&mut self, sql: &str, values: &[Value]) -> Result<Changes, SqlError> {
        changes(self.remote.run(sql, values).await)
    }

    async fn preview(&mut self, sql: &str) -> Result<Changes, SqlError> {
        changes(self.remote.preview(sql, &[]).await)
    }

    async fn put_back(&mut self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        let text = serde_json::to_string(snapshot).unwrap();
        self.remote.put_back(&serde_json::from_str(&text).unwrap()).await
    }

    /// The bytes that the server itself sends for each value of each row.
    async fn dump(&mut self, table: &str) -> Vec<String> {
        let sql = "SELECT a.attname::text, t.typsend::text FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
            WHERE a.attrelid = $1::regclass AND a.attnum > 0 ORDER BY a.attnum";
        let columns: Vec<(String, String)> = sqlx::query_as(sql).bind(table).fetch_all(&mut self.admin).await.unwrap();
        let parts: Vec<String> =
            columns.iter().map(|(name, send)| format!("coalesce(encode({send}(\"{name}\"), 'hex'), 'null')")).collect();
        let sql = format!("SELECT concat_ws(' ', {}) AS r FROM {table} ORDER BY 1", parts.join(", "));
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.admin).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}

fn changes(answer: Result<Answer, SqlError>) -> Result<Changes, SqlError> {
    match answer? {
        Answer::Changed(changes) => Ok(*changes),
        Answer::Rows(rows) => panic!("{rows:?}"),
    }
}

const SHOP: &str = "CREATE TABLE customers(id int PRIMARY KEY, name text);
    CREATE TABLE orders(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id int REFERENCES customers, total numeric(10,2),
      double numeric GENERATED ALWAYS AS (total * 2) STORED);
    CREATE TABLE parents(id int PRIMARY KEY, code text UNIQUE NOT NULL);
    CREATE TABLE children(id int PRIMARY KEY, parent int REFERENCES parents ON DELETE CASCADE ON UPDATE CASCADE);
    CREATE TABLE keyless(a int, b text);
    CREATE TABLE watched(id int PRIMARY KEY, v text);
    CREATE TABLE log(what text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO log VALUES ('x'); RETURN NEW; END $$;
    CREATE TRIGGER notes AFTER UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION note();
    CREATE VIEW names AS SELECT id, name FROM customers;
    CREATE TABLE parts(id int, region text, v text, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
    CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
    CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN ('b');
    INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bob');
    INSERT INTO orders(customer_id, total) VALUES (1, 10), (1, 20.5), (2, 30);
    INSERT INTO parents VALUES (1, 'a'), (2, 'b'); INSERT INTO children VALUES (1, 1), (2, 1);
    INSERT INTO keyless VALUES (1, 'x'); INSERT INTO watched VALUES (1, 'x');
    INSERT INTO parts VALUES (1, 'a', 'x'), (1, 'b', 'y');";

#[tokio::test(flavor = "multi_thread")]
async fn told_before_and_undone_after() {
    let mut base = Base::new(SHOP).await;
    let before = base.dump("orders").await;
    let told = base.preview("UPDATE orders SET total = total * 2 WHERE customer_id = 1").await.unwrap();
    assert_eq!(told.count, 2);
    assert_eq!(told.lines, ["orders id=1: total 10.00 → 20.00", "orders id=2: total 20.50 → 41.00"]);
    assert!(told.undo.is_ok());
    assert_eq!(base.dump("orders").await, before, "only tried");
    for (table, sql) in [
        ("orders", "UPDATE orders AS o SET total = o.total + c.id FROM customers c WHERE c.id = o.customer_id"),
        ("orders", "DELETE FROM orders USING customers c WHERE c.id = customer_id AND c.name = 'Ann'"),
        ("orders", "INSERT INTO orders(customer_id, total) SELECT id, 1 FROM customers RETURNING id"),
        (
            "customers",
            "INSERT INTO customers VALUES (1, 'Other'), (9, 'New') ON CONFLICT (id) DO UPDATE SET name = excluded.name",
        ),
        ("parts", "UPDATE public.parts SET v = region || v"),
        ("parts", "DELETE FROM parts"),
        ("parents", "UPDATE parents SET id = id + 10 WHERE id = 2"),
    ] {
        let before = base.dump(table).await;
        let done = base.run(sql, &[]).await.unwrap();
        assert_ne!(base.dump(table).await, before, "{sql}");
        match done.undo {
            Ok(snapshot) => {
                base.put_back(&snapshot).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
                assert_eq!(base.dump(table).await, before, "{sql}");
            }
            Err(why) => assert!(why.contains("go along: children"), "{sql}: {why}"),
        }
    }
    let done = base.run("UPDATE orders SET total = $1::numeric WHERE id = $2::int", &[json!("7.5"), json!(3)]).await;
    assert_eq!(done.unwrap().count, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_told_or_undone_is_said() {
    let mut base = Base::new(SHOP).await;
    for (sql, why) in
        [("UPDATE watched SET v = 'y'", "triggers would run"), ("UPDATE names SET name = 'y'", "not a table")]
    {
        let error = base.preview(sql).await.unwrap_err();
        assert!(matches!(&error, SqlError::NoPreview(told) if told.contains(why)), "{sql}: {error}");
        let done = base.run(sql, &[]).await.unwrap();
        assert!(done.undo.unwrap_err().contains(why), "{sql}");
    }
    for (sql, count, why) in [
        ("UPDATE keyless SET b = 'y'", 1, "no key"),
        ("DELETE FROM parents WHERE id = 1", 1, "children"),
        (
            "UPDATE customers SET id = id + 100 WHERE id = 2 AND NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = 2)",
            0,
            "names the rows",
        ),
    ] {
        let told = base.preview(sql).await.unwrap();
        assert_eq!(told.count, count, "{sql}");
        assert!(told.undo.unwrap_err().contains(why), "{sql}");
    }
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM children").fetch_one(&mut base.admin).await.unwrap();
    assert_eq!(rows, 2, "only tried");
    let before = base.dump("orders").await;
    base.sql("INSERT INTO orders(customer_id, total) SELECT 1, i FROM generate_series(1, 300) AS i").await;
    let error = base.run("DELETE FROM orders", &[]).await.unwrap_err();
    assert!(matches!(&error, SqlError::Limit { what } if what.contains("303 rows")), "{error}");
    base.sql("DELETE FROM orders WHERE id > 3").await;
    assert_eq!(base.dump("orders").await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_says_what_became_of_a_write_that_was_cut_off() {
    let mut base = Base::new(SHOP).await;
    let url = base.url.clone();
    let sale = "UPDATE orders SET total = total - 1 WHERE id = 1";
    let before = base.dump("orders").await;
    for commits in [false, true] {
        let mut cut_off = Remote::connect(&url, options()).await.unwrap();
        let held = cut_off.hold(sale, &[]).await.unwrap();
        assert!(matches!(&held.answer, Answer::Changed(changes) if changes.count == 1));
        let id = held.transaction.unwrap();
        assert_eq!(base.dump("orders").await, before, "it is held back");
        if commits {
            cut_off.commit().await.unwrap();
        }
        drop(cut_off);
        let found = base.remote.transaction(&id).await.unwrap();
        let wanted = if commits { WriteState::Done } else { WriteState::NotDone };
        assert_eq!(found, Some(wanted));
        assert_eq!(base.dump("orders").await != before, commits);
    }
    let unheard = base.remote.transaction("18446744073709551000").await;
    assert!(unheard.is_err(), "{unheard:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_others_changed_since_are_named() {
    let mut base = Base::new(SHOP).await;
    let done = base.run("UPDATE orders SET total = 0", &[]).await.unwrap();
    let snapshot = done.undo.unwrap();
    base.sql("UPDATE orders SET customer_id = 2 WHERE id = 1").await;
    let error = base.put_back(&snapshot).await.unwrap_err();
    assert!(matches!(&error, SqlError::Conflict { rows } if rows == "orders id=1"), "{error}");
    base.sql("UPDATE orders SET customer_id = 1 WHERE id = 1").await;
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 3);
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 0, "it is back already");
    // What was made since would go along with a row that came.
    let came = base.run("INSERT INTO parents VALUES (7, 'z')", &[]).await.unwrap();
    base.sql("INSERT INTO children VALUES (7, 7)").await;
    let snapshot = came.undo.unwrap();
    let error = base.put_back(&snapshot).await.unwrap_err();
    assert!(error.to_string().contains("refer to what would go"), "{error}");
    base.sql("DELETE FROM children WHERE id = 7").await;
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 1);
    // A lock of others is not waited for without end.
    let done = base.run("UPDATE orders SET total = 1 WHERE id = 1", &[]).await.unwrap();
    base.sql("BEGIN; UPDATE orders SET total = 2 WHERE id = 1").await;
    assert!(matches!(base.put_back(&done.undo.unwrap()).await, Err(SqlError::Busy)));
    base.sql("ROLLBACK; ALTER TABLE customers ADD COLUMN extra int").await;
}

/// Random writes on random tables, undone in the reverse order: after each step back every byte is as it was.
#[tokio::test(flavor = "multi_thread")]
async fn long_random_runs_come_back_bit_for_bit() {
    let types = "CREATE TYPE mood AS ENUM ('sad', 'very happy'); CREATE DOMAIN short AS varchar(9) CHECK (value <> '');
        CREATE TYPE pair AS (a int, b text);";
    let mut sql = types.to_owned();
    let mut made = Vec::new();
    for seed in 0..repetitions(25, 100) as u64 {
        let (text, table) = table(&mut Dice::new(seed), made.len());
        sql.push_str(&text);
        made.push(table);
    }
    let mut base = Base::new(&sql).await;
    let (mut writes, mut undone) = (0, 0);
    for (seed, table) in made.iter().enumerate() {
        let dice = &mut Dice::new(1000 + seed as u64);
        let mut steps = Vec::new();
        let mut before = base.dump(&table.name).await;
        for _ in 0..5 {
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
    assert!(writes >= repetitions(45, 200), "only {writes} writes worked");
}
