//! A small database with its domains, and queries over them, from the data files.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Connection, params_from_iter};
use serde_json::{Value, json};
use steward_domains::model::{Domain, Grantee};
use steward_domains::query::lower::Dialect;
use steward_domains::registry::{Domains, Facts};

pub struct Music {
    pub domains: Domains,
    pub conn: Connection,
}

/// What somebody is: roles by their names, all else are groups.
pub fn roles(names: &[&str]) -> Vec<Grantee> {
    names.iter().map(|name| name.parse().unwrap_or_else(|_| Grantee::Group((*name).to_owned()))).collect()
}

fn declared(kind: &str) -> &'static str {
    match kind {
        "int" | "bool" => "INTEGER",
        "float" => "REAL",
        _ => "TEXT",
    }
}

pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Music {
    pub fn open() -> Self {
        let data: Value = serde_json::from_str(include_str!("../data/music.json")).expect("JSON");
        let list: Vec<Domain> = serde_json::from_value(data["domains"].clone()).expect("domains");
        let mut domains = Domains::new(list);
        for (name, facts) in data["facts"].as_object().expect("facts") {
            let facts: Facts = serde_json::from_value(facts.clone()).expect("facts of a domain");
            domains = domains.with_facts(name, facts);
        }
        let conn = Connection::open_in_memory().expect("a database");
        for table in data["tables"].as_array().expect("tables") {
            let name = quoted(table["name"].as_str().expect("a name"));
            let columns: Vec<String> = table["columns"]
                .as_array()
                .expect("columns")
                .iter()
                .map(|c| {
                    format!(
                        "{} {}",
                        quoted(c["name"].as_str().expect("a name")),
                        declared(c["kind"].as_str().expect("a kind"))
                    )
                })
                .collect();
            let key: Vec<String> =
                table["key"].as_array().expect("a key").iter().map(|k| quoted(k.as_str().expect("a name"))).collect();
            let key = if key.is_empty() { String::new() } else { format!(", PRIMARY KEY ({})", key.join(", ")) };
            conn.execute_batch(&format!("CREATE TABLE {name} ({}{key})", columns.join(", "))).expect("a table");
            for row in table["rows"].as_array().expect("rows") {
                let values: Vec<SqlValue> = row.as_array().expect("a row").iter().map(bound).collect();
                let holes = vec!["?"; values.len()].join(", ");
                conn.execute(&format!("INSERT INTO {name} VALUES ({holes})"), params_from_iter(values)).expect("a row");
            }
        }
        add_functions(&conn);
        Self { domains, conn }
    }

    pub fn run(&self, sql: &str, values: &[Value]) -> Vec<Vec<Value>> {
        read_all(&self.conn, sql, values)
    }
}

/// What guarded connections know besides SQLite's own functions.
pub fn add_functions(conn: &Connection) {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let lower = |context: &Context<'_>| Ok(context.get::<Option<String>>(0)?.map(|text| text.to_lowercase()));
    conn.create_scalar_function("unicode_lower", 1, flags, lower).expect("a function");
}

/// Runs a statement as a guard would: every value is bound.
pub fn read_all(conn: &Connection, sql: &str, values: &[Value]) -> Vec<Vec<Value>> {
    let mut statement = conn.prepare(sql).unwrap_or_else(|e| panic!("{e}: {sql}"));
    assert_eq!(statement.parameter_count(), values.len(), "{sql}");
    let width = statement.column_count();
    let mut rows = statement.query(params_from_iter(values.iter().map(bound))).expect("rows");
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap_or_else(|e| panic!("{e}: {sql}")) {
        found.push((0..width).map(|at| read(row.get_ref(at).expect("a value"))).collect());
    }
    found
}

fn bound(value: &Value) -> SqlValue {
    match value {
        Value::Null => SqlValue::Null,
        Value::Bool(flag) => SqlValue::Integer(i64::from(*flag)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => SqlValue::Integer(number),
            None => SqlValue::Real(number.as_f64().expect("a number")),
        },
        Value::String(text) => SqlValue::Text(text.clone()),
        other => panic!("{other} can't be bound"),
    }
}

fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!({"bytes": bytes.len()}),
    }
}

pub struct Case {
    pub topic: String,
    pub query: Value,
    /// A statement that returns the same rows, written by hand.
    pub sql: Option<String>,
    /// Whether it is read page by page.
    pub pages: bool,
}

pub fn cases() -> Vec<Case> {
    let lines = include_str!("../data/queries.jsonl").lines();
    let case = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        Case {
            topic: value["topic"].as_str().expect("a topic").to_owned(),
            query: value["query"].clone(),
            sql: value["sql"].as_str().map(str::to_owned),
            pages: value["pages"] == json!(true),
        }
    };
    lines.map(case).collect()
}

pub const DIALECTS: [Dialect; 3] = [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql];
