//! What comes back from real servers: every digit, texts as texts, wide rows, and an end to long answers.

use crate::mariadb_support;

use std::time::Duration;

use mariadb_support::MariaDb;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, PgConnection};
use steward_sandbox::sql::remote::{Answer, Remote, RemoteOptions};
use steward_sandbox::sql::{Limits, SqlError, Truncated};
use steward_testkit::postgres::TestPostgres;

fn options() -> RemoteOptions {
    RemoteOptions { limits: Limits { wall: Duration::from_secs(5), ..Limits::default() }, write: false }
}

async fn rows(remote: &mut Remote, sql: &str) -> (Vec<Vec<Value>>, Option<Truncated>) {
    match remote.run(sql, &[]).await {
        Ok(Answer::Rows(rows)) => (rows.rows, rows.truncated),
        other => panic!("{sql}: {other:?}"),
    }
}

async fn one(remote: &mut Remote, sql: &str) -> Value {
    let (rows, truncated) = rows(remote, sql).await;
    assert_eq!(truncated, None, "{sql}");
    json!(rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let server = TestPostgres::shared().await.unwrap();
    let url = server.fresh_database().await.unwrap();
    let mut admin = PgConnection::connect(&url).await.unwrap();
    let columns: Vec<String> = (0..1600).map(|i| format!("n{i} smallint")).collect();
    let places: Vec<String> = (0..1600).map(|i| (i % 100).to_string()).collect();
    let deep = format!("{}7{}", "[".repeat(300), "]".repeat(300));
    let set_up = format!(
        "CREATE ROLE value_reader LOGIN; CREATE TABLE wide({}); INSERT INTO wide VALUES ({}); \
         CREATE TABLE docs(id int, doc json); INSERT INTO docs VALUES (1, '{deep}'), (2, '\"\\ud800\"'), (3, '{{\"a\": [1.5]}}'); \
         CREATE TABLE sums(n numeric, f float8, r real, b bigint); \
         INSERT INTO sums VALUES (12345678901234567890.1234567891, 0.1::float8 + 0.2::float8, 1.1, -9223372036854775808), \
           ('NaN', 'Infinity', 'NaN', 1), (18446744073709551616, 1e300, 1e-30, 0), (1.50, 2.5, 3.5, 4); \
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO value_reader",
        columns.join(", "),
        places.join(", "),
    );
    admin.execute(AssertSqlSafe(set_up)).await.unwrap();
    let reader = TestPostgres::as_user(&url, "value_reader");
    let mut reader = Remote::connect(&reader, options()).await.unwrap();
    assert_eq!(
        one(&mut reader, "SELECT * FROM sums").await,
        json!([
            ["12345678901234567890.1234567891", 0.1 + 0.2, 1.1, i64::MIN],
            ["NaN", "Infinity", "NaN", 1],
            ["18446744073709551616", 1e300, 1e-30, 0],
            [1.5, 2.5, 3.5, 4]
        ])
    );
    let nested = "SELECT ARRAY[1.5, 12345678901234567890.5], json_build_object('n', 0.12345678901234567891)";
    assert_eq!(
        one(&mut reader, nested).await,
        json!([[[1.5, "12345678901234567890.5"], {"n": "0.12345678901234567891"}]])
    );
    let wide = one(&mut reader, "SELECT * FROM wide").await;
    let expected: Vec<i32> = (0..1600).map(|i| i % 100).collect();
    assert_eq!(wide, json!([expected]));
    let twice = "SELECT w.n99, w.*, w.n99 FROM (SELECT n1, n1 + 1 AS n1, n99 FROM wide) AS w";
    assert_eq!(one(&mut reader, twice).await, json!([[99, 1, 2, 99, 99]]));
    assert_eq!(
        one(&mut reader, "SELECT doc FROM docs ORDER BY id").await,
        json!([[deep], ["\"\\ud800\""], [{"a": [1.5]}]])
    );
    // What fits, fits however the row is sent.
    let few = RemoteOptions { limits: Limits { bytes: 6, ..options().limits }, write: false };
    let reader = TestPostgres::as_user(&url, "value_reader");
    let mut small = Remote::connect(&reader, few).await.unwrap();
    assert_eq!(one(&mut small, "SELECT 11, 22, 33").await, json!([[11, 22, 33]]));
    for sql in ["SELECT 11, 22, 333", "SELECT repeat('x', 1000)"] {
        let answer = small.run(sql, &[]).await;
        assert!(matches!(answer, Err(SqlError::Limit { .. })), "{answer:?}");
    }
}

const MARIADB: &str = "CREATE DATABASE shop; USE shop; \
    CREATE TABLE texts(id int, j json, b varchar(20) COLLATE utf8mb4_bin, t text COLLATE utf8mb4_bin, c char(3) COLLATE latin1_bin, \
      u uuid, a inet6, e enum('x', 'y') COLLATE utf8mb4_bin, v varbinary(9), l longblob); \
    INSERT INTO texts VALUES (1, '{\"a\": \"ä\"}', 'Grüße', 'long', 'abc', '123e4567-e89b-12d3-a456-426655440000', \
      '2001:db8::ff00:42:8329', 'x', 'raw', x'ff00'); \
    CREATE TABLE numbers(f float, d double, n decimal(30, 10), t1 tinyint(1) unsigned, b1 bit(1), b64 bit(64), y year, \
      u bigint unsigned, s bigint); \
    INSERT INTO numbers VALUES (1.1, 1.1, 12345678901234567890.1234567891, 255, 1, x'ffffffffffffffff', 2024, \
      18446744073709551615, -9223372036854775808), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL); \
    SET SESSION sql_mode = ''; \
    CREATE TABLE times(t time(6), d date, m datetime, s timestamp NULL); \
    INSERT INTO times VALUES ('-26:03:04.000500', '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00'), \
      ('00:00:00', '2024-05-00', '2024-05-06 07:08:09', NULL), (NULL, NULL, NULL, NULL); \
    CREATE TABLE many(id int PRIMARY KEY); INSERT INTO many SELECT seq FROM seq_1_to_1000; \
    CREATE USER reader@'127.0.0.1'; GRANT SELECT ON shop.* TO reader@'127.0.0.1'";

#[tokio::test(flavor = "multi_thread")]
async fn mariadb() {
    let server = MariaDb::start().await;
    let mut admin = MySqlConnection::connect(&server.url("root", "mysql")).await.unwrap();
    sqlx::raw_sql(MARIADB).execute(&mut admin).await.unwrap();
    let mut reader = Remote::connect(&server.url("reader", "shop"), options()).await.unwrap();
    let texts =
        "SELECT t.*, json_value(j, '$.a'), json_unquote(json_extract(j, '$.a')), concat(b, 'x'), hex(v) FROM texts t";
    assert_eq!(
        one(&mut reader, texts).await,
        json!([[
            1, "{\"a\": \"ä\"}", "Grüße", "long", "abc", "123e4567-e89b-12d3-a456-426655440000",
            "2001:db8::ff00:42:8329", "x", {"blob_bytes": 3, "hex_prefix": "726177"},
            {"blob_bytes": 2, "hex_prefix": "ff00"}, "ä", "ä", "Grüßex", "726177"
        ]])
    );
    assert_eq!(
        one(&mut reader, "SELECT * FROM numbers").await,
        json!([
            [1.1, 1.1, "12345678901234567890.1234567891", 255, 1, u64::MAX, 2024, u64::MAX, i64::MIN],
            [null, null, null, null, null, null, null, null, null]
        ])
    );
    assert_eq!(
        one(&mut reader, "SELECT * FROM times").await,
        json!([
            ["-26:03:04.000500", "0000-00-00", "0000-00-00T00:00:00", "0000-00-00T00:00:00"],
            ["00:00:00", "2024-05-00", "2024-05-06T07:08:09", null],
            [null, null, null, null]
        ])
    );
    // A LIMIT of the statement's own is beyond the session's: what is left is not waited for.
    let long = "SELECT a.id FROM many a, many b, many c LIMIT 500000000";
    let large = "SELECT repeat('x', 600000) FROM many a, many b LIMIT 500000000";
    let huge = "SELECT repeat('x', 1200000) FROM many a, many b LIMIT 500000000";
    for _ in 0..2 {
        let (some, truncated) = rows(&mut reader, long).await;
        assert_eq!((some.len(), truncated), (1000, Some(Truncated::Rows)));
        let (some, truncated) = rows(&mut reader, large).await;
        assert_eq!((some.len(), truncated), (1, Some(Truncated::Bytes)));
        let answer = reader.run(huge, &[]).await;
        assert!(matches!(answer, Err(SqlError::Limit { .. })), "{answer:?}");
        let count = one(&mut reader, "SELECT count(*) FROM many").await;
        assert_eq!(count, json!([[1000]]));
    }
    // The guard is the same on the connection that was made anew.
    let long = rows(&mut reader, "SELECT a.id FROM many a, many b").await;
    assert_eq!(long.1, Some(Truncated::Rows));
}
