//! Queries over domains as the servers run them: every case of the room `domains`, with the rows that SQLite returns for it.

use crate::mariadb_support::MariaDb;

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, PgConnection};
use steward_core::tables::Schema;
use steward_domains::model::Domain;
use steward_domains::query::lower::lower;
use steward_domains::query::{Dialect, Query, validate};
use steward_domains::registry::{Domains, Facts};
use steward_domains::result::tidy;
use steward_sandbox::sql::remote::{Answer, Remote, RemoteOptions};
use steward_sandbox::sql::{Guard, Limits, Policy};
use steward_testkit::postgres::TestPostgres;

const MUSIC: &str = include_str!("../../domains/tests/data/music.json");
const QUERIES: &str = include_str!("../../domains/tests/data/queries.jsonl");

struct Music {
    data: Value,
    domains: Domains,
}

impl Music {
    fn read() -> Self {
        let data: Value = serde_json::from_str(MUSIC).unwrap();
        let list: Vec<Domain> = serde_json::from_value(data["domains"].clone()).unwrap();
        let mut domains = Domains::new(list);
        for (name, facts) in data["facts"].as_object().unwrap() {
            let facts: Facts = serde_json::from_value(facts.clone()).unwrap();
            domains = domains.with_facts(name, facts);
        }
        Self { data, domains }
    }

    /// The statements that make the tables with their rows.
    fn tables(&self, dialect: Dialect) -> Vec<String> {
        let mut all = Vec::new();
        for table in self.data["tables"].as_array().unwrap() {
            let key: Vec<&str> = table["key"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            let columns = table["columns"].as_array().unwrap();
            let mut parts: Vec<String> = columns
                .iter()
                .map(|column| {
                    let name = column["name"].as_str().unwrap();
                    let needed = if column["required"] == true { " NOT NULL" } else { "" };
                    let kind = declared(dialect, column["kind"].as_str().unwrap(), key.contains(&name));
                    format!("{} {kind}{needed}", quoted(dialect, name))
                })
                .collect();
            if !key.is_empty() {
                let key: Vec<String> = key.iter().map(|name| quoted(dialect, name)).collect();
                parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
            }
            let name = quoted(dialect, table["name"].as_str().unwrap());
            all.push(format!("CREATE TABLE {name} ({})", parts.join(", ")));
            for row in table["rows"].as_array().unwrap() {
                let values: Vec<String> = row
                    .as_array()
                    .unwrap()
                    .iter()
                    .zip(columns)
                    .map(|(value, column)| literal(dialect, value, column))
                    .collect();
                all.push(format!("INSERT INTO {name} VALUES ({})", values.join(", ")));
            }
        }
        all
    }
}

fn declared(dialect: Dialect, kind: &str, key: bool) -> &'static str {
    match (dialect, kind) {
        (Dialect::Sqlite, "int" | "bool") => "INTEGER",
        (Dialect::Sqlite, "float") => "REAL",
        (Dialect::Sqlite, _) => "TEXT",
        (_, "int") => "bigint",
        (Dialect::Postgres, "float") => "double precision",
        (Dialect::MySql, "float") => "double",
        (_, "bool") => "boolean",
        (_, "date") => "date",
        (Dialect::Postgres, "datetime") => "timestamp",
        (Dialect::MySql, "datetime") => "datetime",
        (Dialect::MySql, _) if key => "varchar(100)",
        _ => "text",
    }
}

fn quoted(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::MySql => format!("`{}`", name.replace('`', "``")),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

fn literal(dialect: Dialect, value: &Value, column: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(flag) if dialect == Dialect::Sqlite => i64::from(*flag).to_string(),
        Value::Number(number) if column["kind"] == "bool" && dialect == Dialect::Postgres => {
            (number.as_i64() != Some(0)).to_string()
        }
        Value::String(text) if dialect == Dialect::MySql => {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
        }
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    }
}

/// Sums of fractions depend on the order in which they are added, and servers return some numbers as texts.
fn rounded(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) => json!((number * 1e6).round() / 1e6),
        None => value.clone(),
    }
}

async fn same_rows(remote: &mut Remote, dialect: Dialect) {
    let music = Music::read();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("music.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    for statement in music.tables(Dialect::Sqlite) {
        file.execute(&statement, ()).unwrap();
    }
    drop(file);
    let guard = Guard::open(&path, Policy::careful()).unwrap();
    let roles = ["viewer".parse().unwrap()];
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for line in QUERIES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let query = Query::parse(&case["query"]).unwrap();
        let checked = validate(&query, &music.domains, &roles).unwrap();
        let here = lower(&checked, Dialect::Sqlite);
        let there = lower(&checked, dialect);
        let mut expected = guard.query_with(&here.sql, &here.values).unwrap().rows;
        tidy(&here.columns, &mut expected);
        let answer = remote.run(&there.sql, &there.values).await;
        let mut found = match answer {
            Ok(Answer::Rows(rows)) => rows.rows,
            other => {
                wrong.push(format!("{}: {}: {other:?}", case["query"], there.sql));
                continue;
            }
        };
        tidy(&there.columns, &mut found);
        let plain = |rows: &[Vec<Value>]| -> Vec<Vec<Value>> {
            let shown = |row: &Vec<Value>| {
                let columns = there.columns.iter().zip(row).filter(|(column, _)| !column.is_hidden());
                columns.map(|(_, value)| rounded(value)).collect()
            };
            rows.iter().map(shown).collect()
        };
        if plain(&found) != plain(&expected) {
            wrong.push(format!(
                "{}: {}\n  expected {}\n  found    {}",
                case["query"],
                there.sql,
                json!(plain(&expected)),
                json!(plain(&found))
            ));
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= 300, "only {compared} cases");
}

/// What the server says of its tables is what the file with the same tables says, but for how types are called.
fn has_same_tables(found: &Schema) {
    let music = Music::read();
    for table in music.data["tables"].as_array().unwrap() {
        let name = table["name"].as_str().unwrap();
        let known = found.tables.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no table {name}"));
        let columns: Vec<Value> = known.columns.iter().map(|one| json!([one.name, one.pk, one.not_null])).collect();
        let key = table["key"].as_array().unwrap();
        let expected: Vec<Value> = table["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| {
                let pk = key.contains(&column["name"]);
                json!([column["name"], pk, pk || column["required"] == true])
            })
            .collect();
        assert_eq!(columns, expected, "{name}");
    }
}

fn options() -> RemoteOptions {
    RemoteOptions { limits: Limits { wall: Duration::from_secs(10), ..Limits::default() }, write: false }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let server = TestPostgres::shared().await.unwrap();
    let url = server.fresh_database().await.unwrap();
    let mut admin = PgConnection::connect(&url).await.unwrap();
    for statement in Music::read().tables(Dialect::Postgres) {
        admin.execute(AssertSqlSafe(statement)).await.unwrap();
    }
    admin
        .execute(
            "CREATE TABLE here (id int PRIMARY KEY, artist bigint REFERENCES artists (id), hidden int); \
             CREATE SCHEMA apart; CREATE TABLE apart.parts (id int PRIMARY KEY); \
             CREATE ROLE domains_reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO domains_reader; \
             REVOKE ALL ON here FROM domains_reader; GRANT SELECT (id, artist) ON here TO domains_reader; \
             GRANT USAGE ON SCHEMA apart TO domains_reader; GRANT SELECT ON apart.parts TO domains_reader; \
             CREATE TABLE secrets (id int)",
        )
        .await
        .unwrap();
    let mut remote = Remote::connect(&TestPostgres::as_user(&url, "domains_reader"), options()).await.unwrap();
    let schema = remote.schema().await.unwrap();
    has_same_tables(&schema);
    let here = schema.tables.iter().find(|one| one.name == "here").unwrap();
    assert_eq!(here.columns.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["id", "artist"]);
    assert_eq!((here.foreign_keys[0].column.as_str(), here.foreign_keys[0].references.as_str()), ("artist", "id"));
    assert!(schema.tables.iter().any(|one| one.name == "apart.parts"));
    assert!(!schema.tables.iter().any(|one| one.name == "secrets"));
    same_rows(&mut remote, Dialect::Postgres).await;
    remote.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb() {
    let server = MariaDb::start().await;
    let mut admin = MySqlConnection::connect(&server.url("root", "mysql")).await.unwrap();
    admin.execute("CREATE DATABASE music CHARACTER SET utf8mb4").await.unwrap();
    admin.execute("USE music").await.unwrap();
    for statement in Music::read().tables(Dialect::MySql) {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut admin).await.unwrap();
    }
    for statement in [
        "CREATE TABLE here (id int PRIMARY KEY, artist bigint, FOREIGN KEY (artist) REFERENCES artists (id))",
        "CREATE USER reader@'%'",
        "GRANT SELECT ON music.* TO reader@'%'",
    ] {
        admin.execute(statement).await.unwrap();
    }
    let mut remote = Remote::connect(&server.url("reader", "music"), options()).await.unwrap();
    let schema = remote.schema().await.unwrap();
    has_same_tables(&schema);
    let here = schema.tables.iter().find(|one| one.name == "here").unwrap();
    assert_eq!((here.foreign_keys[0].table.as_str(), here.foreign_keys[0].references.as_str()), ("artists", "id"));
    same_rows(&mut remote, Dialect::MySql).await;
    remote.close().await;
}
