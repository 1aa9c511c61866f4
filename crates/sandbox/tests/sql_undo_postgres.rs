//! Writes on PostgreSQL: what is told before, what comes back, and what is said where nothing does.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod undo_support;

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _};
use steward_sandbox::sql::change::{Answer, Changes, Snapshot};
use steward_sandbox::sql::remote::{Remote, RemoteOptions};
use steward_sandbox::sql::{Limits, SqlError};
use steward_testkit::postgres::TestPostgres;
use undo_support::Dice;

fn options() -> RemoteOptions {
    RemoteOptions {
        limits: Limits {
            wall: Duration::from_secs(20),
            changes: Some(200),
            ..Limits::default()
        },
        write: true,
    }
}

struct Base {
    admin: PgConnection,
    remote: Remote,
}

impl Base {
    async fn new(set_up: &str) -> Self {
        let server = TestPostgres::shared().await.unwrap();
        let url = server.fresh_database().await.unwrap();
        let mut admin = PgConnection::connect(&url).await.unwrap();
        let (_, rest) = url.split_once('@').unwrap();
        let user = format!("u{}", rest.rsplit('/').next().unwrap());
        admin
            .execute(AssertSqlSafe(set_up.to_owned()))
            .await
            .unwrap();
        let grants = format!(
            "DROP ROLE IF EXISTS {user}; CREATE ROLE {user} LOGIN; GRANT USAGE ON SCHEMA public TO {user}; \
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user}; \
             GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {user}"
        );
        admin.execute(AssertSqlSafe(grants)).await.unwrap();
        let remote = Remote::connect(&format!("postgres://{user}@{rest}"), options())
            .await
            .unwrap();
        Self { admin, remote }
    }

    async fn sql(&mut self, sql: &str) {
        self.admin
            .execute(AssertSqlSafe(sql.to_owned()))
            .await
            .unwrap();
    }

    async fn run(&mut self, sql: &str, values: &[Value]) -> Result<Changes, SqlError> {
        changes(self.remote.run(sql, values).await)
    }

    async fn look(&mut self, sql: &str) -> Result<Changes, SqlError> {
        changes(self.remote.look(sql, &[]).await)
    }

    async fn put_back(&mut self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        let text = serde_json::to_string(snapshot).unwrap();
        self.remote
            .put_back(&serde_json::from_str(&text).unwrap())
            .await
    }

    /// The bytes that the server itself sends for each value of each row.
    async fn dump(&mut self, table: &str) -> Vec<String> {
        let sql = "SELECT a.attname::text, t.typsend::text FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
            WHERE a.attrelid = $1::regclass AND a.attnum > 0 ORDER BY a.attnum";
        let columns: Vec<(String, String)> = sqlx::query_as(sql)
            .bind(table)
            .fetch_all(&mut self.admin)
            .await
            .unwrap();
        let parts: Vec<String> = columns
            .iter()
            .map(|(name, send)| format!("coalesce(encode({send}(\"{name}\"), 'hex'), 'null')"))
            .collect();
        let sql = format!(
            "SELECT concat_ws(' ', {}) AS r FROM {table} ORDER BY 1",
            parts.join(", ")
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .fetch_all(&mut self.admin)
            .await
            .unwrap();
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
    let told = base
        .look("UPDATE orders SET total = total * 2 WHERE customer_id = 1")
        .await
        .unwrap();
    assert_eq!(told.count, 2);
    assert_eq!(
        told.lines,
        [
            "orders id=1: total 10.00 → 20.00",
            "orders id=2: total 20.50 → 41.00"
        ]
    );
    assert!(told.undo.is_ok());
    assert_eq!(base.dump("orders").await, before, "only tried");
    for (table, sql) in [
        (
            "orders",
            "UPDATE orders AS o SET total = o.total + c.id FROM customers c WHERE c.id = o.customer_id",
        ),
        (
            "orders",
            "DELETE FROM orders USING customers c WHERE c.id = customer_id AND c.name = 'Ann'",
        ),
        (
            "orders",
            "INSERT INTO orders(customer_id, total) SELECT id, 1 FROM customers RETURNING id",
        ),
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
                base.put_back(&snapshot)
                    .await
                    .unwrap_or_else(|error| panic!("{sql}: {error}"));
                assert_eq!(base.dump(table).await, before, "{sql}");
            }
            Err(why) => assert!(why.contains("go along: children"), "{sql}: {why}"),
        }
    }
    let done = base
        .run(
            "UPDATE orders SET total = $1::numeric WHERE id = $2::int",
            &[json!("7.5"), json!(3)],
        )
        .await;
    assert_eq!(done.unwrap().count, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_told_or_undone_is_said() {
    let mut base = Base::new(SHOP).await;
    for (sql, why) in [
        ("UPDATE watched SET v = 'y'", "triggers would run"),
        ("UPDATE names SET name = 'y'", "not a table"),
    ] {
        let error = base.look(sql).await.unwrap_err();
        assert!(
            matches!(&error, SqlError::Untold(told) if told.contains(why)),
            "{sql}: {error}"
        );
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
        let told = base.look(sql).await.unwrap();
        assert_eq!(told.count, count, "{sql}");
        assert!(told.undo.unwrap_err().contains(why), "{sql}");
    }
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM children")
        .fetch_one(&mut base.admin)
        .await
        .unwrap();
    assert_eq!(rows, 2, "only tried");
    let before = base.dump("orders").await;
    base.sql(
        "INSERT INTO orders(customer_id, total) SELECT 1, i FROM generate_series(1, 300) AS i",
    )
    .await;
    let error = base.run("DELETE FROM orders", &[]).await.unwrap_err();
    assert!(
        matches!(&error, SqlError::Limit { what } if what.contains("303 rows")),
        "{error}"
    );
    base.sql("DELETE FROM orders WHERE id > 3").await;
    assert_eq!(base.dump("orders").await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_others_changed_since_are_named() {
    let mut base = Base::new(SHOP).await;
    let done = base.run("UPDATE orders SET total = 0", &[]).await.unwrap();
    let snapshot = done.undo.unwrap();
    base.sql("UPDATE orders SET customer_id = 2 WHERE id = 1")
        .await;
    let error = base.put_back(&snapshot).await.unwrap_err();
    assert!(
        matches!(&error, SqlError::Conflict { rows } if rows == "orders id=1"),
        "{error}"
    );
    base.sql("UPDATE orders SET customer_id = 1 WHERE id = 1")
        .await;
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 3);
    assert!(matches!(
        base.put_back(&snapshot).await,
        Err(SqlError::Conflict { .. })
    ));
    // What was made since would go along with a row that came.
    let came = base
        .run("INSERT INTO parents VALUES (7, 'z')", &[])
        .await
        .unwrap();
    base.sql("INSERT INTO children VALUES (7, 7)").await;
    let snapshot = came.undo.unwrap();
    let error = base.put_back(&snapshot).await.unwrap_err();
    assert!(
        error.to_string().contains("refer to what would go"),
        "{error}"
    );
    base.sql("DELETE FROM children WHERE id = 7").await;
    assert_eq!(base.put_back(&snapshot).await.unwrap(), 1);
    // A lock of others is not waited for without end.
    let done = base
        .run("UPDATE orders SET total = 1 WHERE id = 1", &[])
        .await
        .unwrap();
    base.sql("BEGIN; UPDATE orders SET total = 2 WHERE id = 1")
        .await;
    assert!(matches!(
        base.put_back(&done.undo.unwrap()).await,
        Err(SqlError::Busy)
    ));
    base.sql("ROLLBACK; ALTER TABLE customers ADD COLUMN extra int")
        .await;
}

/// A type with values of it, as SQL text.
fn value(dice: &mut Dice, kind: &str) -> String {
    if dice.once_in(8) {
        return "NULL".to_owned();
    }
    let n = dice.number();
    let small = dice.below(5);
    match kind {
        "int" => dice.below(5).to_string(),
        "bigint" => format!("{}", n.cast_signed() >> 1),
        "numeric" => (*dice.one(&[
            "'NaN'",
            "1e-30",
            "12345678901234567890.123456789012345678901234567890",
            "1.500",
            "0",
        ]))
        .to_owned(),
        "numeric(10,2)" => format!("{}.{small}", n % 1_000_000),
        "double precision" | "real" => match dice.below(6) {
            0 => "'NaN'".to_owned(),
            1 => "'-Infinity'".to_owned(),
            2 => "'-0'".to_owned(),
            3 => "0.1".to_owned(),
            _ if kind == "real" => format!(
                "'{:e}'",
                Some(f32::from_bits(n as u32))
                    .filter(|f| f.is_finite())
                    .unwrap_or(0.3)
            ),
            _ => format!(
                "'{:e}'",
                Some(f64::from_bits(n))
                    .filter(|f| f.is_finite())
                    .unwrap_or(0.3)
            ),
        },
        "text" | "varchar(20)" => format!(
            "'{}{small}'",
            dice.one(&[
                "",
                "grüße 🦀",
                "it''s \\ ",
                "NULL",
                "{\"a\"}",
                "line\nbreak",
                " x "
            ])
        ),
        "char(5)" => format!("'{small} '"),
        "bytea" => format!("'\\x{n:016x}00ff'"),
        "boolean" => format!("{}", small > 2),
        "date" => (*dice.one(&[
            "'infinity'",
            "'0044-03-15 BC'",
            "'2024-02-29'",
            "'9999-12-31'",
        ]))
        .to_owned(),
        "timestamp" => (*dice.one(&[
            "'2024-10-27 02:30:00.123456'",
            "'-infinity'",
            "'1890-01-01 00:00:00'",
        ]))
        .to_owned(),
        "timestamptz" => (*dice.one(&[
            "'2024-10-27 02:30:00.000001+02'",
            "'2024-10-27 02:30:00+01'",
            "'1880-01-01 00:00:00+00:53:28'",
            "'infinity'",
        ]))
        .to_owned(),
        "time" => format!("'0{small}:00:00.00000{small}'"),
        "timetz" => format!("'0{small}:00:00-03:30'"),
        "interval" => (*dice.one(&[
            "'1 mon -1 day 00:00:00.000001'",
            "'-3 years 2 mons -4 days -05:06:07.89'",
            "'0'",
            "'178000000 years'",
            "'-0.000001 s'",
        ]))
        .to_owned(),
        "json" => format!("'{{\"b\": 1.50,  \"a\": [null, {small}]}}'"),
        "jsonb" => format!("'{{\"b\": 1.50, \"a\": \"\\u00fc{small}\"}}'"),
        "uuid" => format!("'{n:016x}{:016x}'", n ^ 7),
        "int[]" => {
            (*dice.one(&["'{}'", "'{1,NULL,3}'", "'[0:1]={1,2}'", "'{{1,2},{3,4}}'"])).to_owned()
        }
        "text[]" => (*dice.one(&[
            "ARRAY['a,b', NULL, 'NULL', '', '\"q\"', 'back\\slash']",
            "'{}'",
        ]))
        .to_owned(),
        "inet" => (*dice.one(&["'10.0.0.1/8'", "'::1'", "'192.168.0.1'"])).to_owned(),
        "cidr" => "'10.1.0.0/16'".to_owned(),
        "macaddr" => "'08:00:2b:01:02:03'".to_owned(),
        "bit(5)" => "B'10101'".to_owned(),
        "varbit" => (*dice.one(&["B''", "B'1011001110'"])).to_owned(),
        "mood" => (*dice.one(&["'sad'", "'very happy'"])).to_owned(),
        "numrange" => (*dice.one(&["'empty'", "'[1.5,)'", "'(,3]'"])).to_owned(),
        "tsvector" => "'a:1A fat:2,4B'".to_owned(),
        "xml" => "'<a b=\"1\">x</a>'".to_owned(),
        "money" => format!("'{small}.50'"),
        "point" => format!("'(0.1,{small})'"),
        "short" => format!("'s{small}'"),
        "pair" => (*dice.one(&["ROW(1, 'a,\"b\"')", "ROW(NULL, '')"])).to_owned(),
        "\"char\"" => "'x'".to_owned(),
        other => panic!("{other}"),
    }
}

const KINDS: &[&str] = &[
    "int",
    "bigint",
    "numeric",
    "numeric(10,2)",
    "double precision",
    "real",
    "text",
    "varchar(20)",
    "char(5)",
    "bytea",
    "boolean",
    "date",
    "timestamp",
    "timestamptz",
    "time",
    "timetz",
    "interval",
    "json",
    "jsonb",
    "uuid",
    "int[]",
    "text[]",
    "inet",
    "cidr",
    "macaddr",
    "bit(5)",
    "varbit",
    "mood",
    "numrange",
    "tsvector",
    "money",
    "point",
    "short",
    "pair",
    "\"char\"",
];

struct Made {
    name: String,
    columns: Vec<(String, &'static str)>,
}

fn table(dice: &mut Dice, number: usize) -> (String, Made) {
    let name = format!("\"T {number}\"");
    let mut columns = Vec::new();
    let key = dice.below(4);
    let first = *dice.one(&["int", "bigint", "text", "uuid", "varchar(20)"]);
    columns.push(("k".to_owned(), first));
    let second = *dice.one(&["int", "char(5)", "numeric(10,2)"]);
    columns.push(("Key 2".to_owned(), second));
    for at in 0..2 + dice.below(6) {
        columns.push((format!("c{at}"), *dice.one(KINDS)));
    }
    let mut parts: Vec<String> = columns
        .iter()
        .map(|(name, kind)| format!("\"{name}\" {kind}"))
        .collect();
    match key {
        0 => parts[0] = format!("k {first} NOT NULL UNIQUE"),
        1 => parts.push("PRIMARY KEY (\"Key 2\", k)".to_owned()),
        2 => parts.push("i int GENERATED ALWAYS AS IDENTITY PRIMARY KEY".to_owned()),
        _ => parts[0] = format!("k {first} PRIMARY KEY"),
    }
    if dice.once_in(3) {
        parts.push("g text GENERATED ALWAYS AS (upper(k::text)) STORED".to_owned());
    }
    let mut sql = format!("CREATE TABLE {name}({});\n", parts.join(", "));
    for _ in 0..12 {
        let _ = writeln!(
            sql,
            "{} ON CONFLICT DO NOTHING;",
            insert(dice, &name, &columns, false)
        );
    }
    (sql, Made { name, columns })
}

fn insert(
    dice: &mut Dice,
    name: &str,
    columns: &[(String, &'static str)],
    null_keys: bool,
) -> String {
    let values: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(at, (_, kind))| {
            loop {
                let value = value(dice, kind);
                if at > 1 || null_keys || value != "NULL" {
                    break value;
                }
            }
        })
        .collect();
    let names: Vec<String> = columns
        .iter()
        .map(|(name, _)| format!("\"{name}\""))
        .collect();
    format!(
        "INSERT INTO {name}({}) VALUES ({})",
        names.join(", "),
        values.join(", ")
    )
}

fn statement(dice: &mut Dice, table: &Made) -> String {
    let name = &table.name;
    let any = dice.below(table.columns.len());
    let (column, _) = &table.columns[any];
    let condition = match dice.below(4) {
        0 => String::new(),
        1 => format!(" WHERE \"{column}\" IS NOT NULL"),
        2 => format!(" WHERE length(k::text) % {} = 0", 1 + dice.below(3)),
        _ => format!(" WHERE k = {}", value(dice, table.columns[0].1)),
    };
    match dice.below(6) {
        0 => format!("DELETE FROM {name}{condition}"),
        1..=3 => {
            let target = 2 + dice.below(table.columns.len() - 2);
            let (target, kind) = &table.columns[target];
            let other = 2 + dice.below(table.columns.len() - 2);
            let (other, other_kind) = &table.columns[other];
            let mut sql = format!("UPDATE {name} SET \"{target}\" = {}", value(dice, kind));
            if other != target {
                let _ = write!(sql, ", \"{other}\" = {}", value(dice, other_kind));
            }
            sql + &condition
        }
        4 => insert(dice, name, &table.columns, true),
        _ => {
            let (target, kind) = &table.columns[2];
            let made = insert(dice, name, &table.columns, false);
            format!(
                "{made} ON CONFLICT (k) DO UPDATE SET \"{target}\" = {}",
                value(dice, kind)
            )
        }
    }
}

/// Random writes on random tables, undone in the reverse order: after each step back every byte is as it was.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_random_runs_come_back_bit_for_bit() {
    let types = "CREATE TYPE mood AS ENUM ('sad', 'very happy'); CREATE DOMAIN short AS varchar(9) CHECK (value <> '');
        CREATE TYPE pair AS (a int, b text);";
    let mut sql = types.to_owned();
    let mut made = Vec::new();
    for seed in 0..100 {
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
            let told = base.look(&sql).await;
            assert_eq!(
                base.dump(&table.name).await,
                before,
                "{seed}: the preview of {sql} left something"
            );
            let Ok(told) = told else { continue };
            writes += 1;
            let done = base.run(&sql, &[]).await.unwrap();
            assert_eq!(told.count, done.count, "{seed}: {sql}");
            let snapshot = done
                .undo
                .unwrap_or_else(|why| panic!("{seed}: {sql}: {why}"));
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
    assert!(writes >= 200, "only {writes} writes worked");
}
