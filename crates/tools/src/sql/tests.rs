#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::query::{Aggregate, Column, Condition, Op, Order, Query, Select};
use super::{LowerError, lower::lower};
use serde_json::{Value, json};
use steward_sandbox::sql::{Column as SchemaColumn, ForeignKey, Schema, Table};

fn table(name: &str, columns: &[(&str, &str)], keys: &[(&str, &str)]) -> Table {
    Table {
        name: name.into(),
        view: false,
        columns: columns
            .iter()
            .map(|(name, kind)| SchemaColumn {
                name: (*name).into(),
                kind: (*kind).into(),
                pk: *name == "id",
                not_null: false,
            })
            .collect(),
        foreign_keys: keys
            .iter()
            .map(|(column, table)| ForeignKey {
                column: (*column).into(),
                table: (*table).into(),
                references: String::new(),
            })
            .collect(),
        row_estimate: None,
    }
}

fn schema() -> Schema {
    Schema {
        tables: vec![
            table("author", &[("id", "INTEGER"), ("name", "TEXT")], &[]),
            table(
                "book",
                &[
                    ("id", "INTEGER"),
                    ("title", "TEXT"),
                    ("author_id", "INTEGER"),
                    ("price", "REAL"),
                ],
                &[("author_id", "author")],
            ),
            table(
                "loan",
                &[("id", "INTEGER"), ("book_id", "INTEGER"), ("due", "TEXT")],
                &[],
            ),
            table("odd\"name", &[("id", "INTEGER"), ("a%b", "TEXT")], &[]),
        ],
    }
}

fn check(query: &Query, expect: &str, values: &[Value]) {
    let lowered = lower(query, &schema()).unwrap();
    assert_eq!(lowered.sql, expect);
    assert_eq!(lowered.values, values);
}

#[test]
fn lowers_joins_and_binds_values() {
    let query: Query = serde_json::from_value(json!({
        "from": "book", "select": [{"aggregate": "count"}],
        "where": [{"column": "name", "table": "author", "op": "eq", "value": "O'Brien\" --"}],
    }))
    .unwrap();
    check(
        &query,
        "SELECT count(*) AS \"count\" FROM \"book\" JOIN \"author\" ON \"author\".\"id\" = \"book\".\"author_id\" WHERE \"author\".\"name\" = ?1 COLLATE NOCASE LIMIT 100",
        &[json!("O'Brien\" --")],
    );
    // Implied by the name of the column, two steps, towards many: counted once each.
    let query = Query {
        from: "author".into(),
        select: vec![Select {
            aggregate: Some(Aggregate::Count),
            ..Select::default()
        }],
        conditions: vec![Condition {
            column: "due".into(),
            table: Some("loan".into()),
            op: Op::Starts,
            value: json!("20_6%"),
        }],
        ..Query::default()
    };
    check(
        &query,
        "SELECT count(DISTINCT \"author\".\"id\") AS \"count\" FROM \"author\" JOIN \"book\" ON \"book\".\"author_id\" = \"author\".\"id\" JOIN \"loan\" ON \"loan\".\"book_id\" = \"book\".\"id\" WHERE \"loan\".\"due\" LIKE ?1 ESCAPE '\\' LIMIT 100",
        &[json!("20\\_6\\%%")],
    );
}

#[test]
fn lowers_groups_orders_and_odd_names() {
    let query = Query {
        from: "book".into(),
        select: vec![Select {
            aggregate: Some(Aggregate::Avg),
            column: Some("price".into()),
            ..Select::default()
        }],
        group_by: vec![Column {
            column: "name".into(),
            table: Some("author".into()),
        }],
        order_by: Some(Order {
            column: Some("price".into()),
            aggregate: Some(Aggregate::Avg),
            desc: true,
            ..Order::default()
        }),
        limit: Some(3),
        ..Query::default()
    };
    check(
        &query,
        "SELECT \"author\".\"name\", avg(\"book\".\"price\") AS \"avg_price\" FROM \"book\" JOIN \"author\" ON \"author\".\"id\" = \"book\".\"author_id\" GROUP BY \"author\".\"name\" ORDER BY avg(\"book\".\"price\") DESC LIMIT 3",
        &[],
    );
    let query = Query {
        from: "odd\"name".into(),
        select: vec![Select {
            column: Some("A%B".into()),
            ..Select::default()
        }],
        ..Query::default()
    };
    check(
        &query,
        "SELECT \"odd\"\"name\".\"a%b\" FROM \"odd\"\"name\" LIMIT 100",
        &[],
    );
}

#[test]
fn names_what_is_wrong() {
    let error = |value: Value| {
        lower(&serde_json::from_value::<Query>(value).unwrap(), &schema()).unwrap_err()
    };
    assert!(matches!(
        error(json!({"from": "books"})),
        LowerError::Table { .. }
    ));
    assert!(
        error(json!({"from": "book", "select": [{"column": "isbn"}]}))
            .to_string()
            .contains("title")
    );
    assert!(matches!(
        error(json!({"from": "book", "join": ["odd\"name"]})),
        LowerError::Apart { .. }
    ));
    assert!(matches!(
        error(json!({"from": "book", "where": [{"column": "title", "op": "eq"}]})),
        LowerError::Value { .. }
    ));
    assert!(matches!(
        error(json!({"from": "book", "select": [{"aggregate": "sum"}]})),
        LowerError::Aggregate { .. }
    ));
}

mod proposals {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use crate::sql::propose;
    use serde_json::Value;
    use std::path::PathBuf;
    use std::sync::Arc;
    use steward_core::Timestamp;
    use steward_core::ports::ToolScope;
    use steward_sandbox::sql::{Guard, Policy};

    /// The held-out requests of the repository that databases answer: the best proposal of each,
    /// run, shows what is looked for.
    #[test]
    fn answer_requests_over_an_unknown_database() {
        let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../steward/tests/data/heldout");
        let nil = || serde_json::from_str("\"00000000-0000-0000-0000-000000000000\"").unwrap();
        let scope = ToolScope {
            tenant: serde_json::from_str("\"00000000-0000-0000-0000-000000000000\"").unwrap(),
            run: None,
            agent: nil(),
            conversation: None,
            workspace: data.join("workspace"),
            folder: String::new(),
            now: Timestamp(0),
            utc_offset_minutes: 0,
            timeout_ms: 1000,
            stop: Arc::default(),
            skill: None,
            user: None,
        };
        let (mut asked, mut wrong) = (0, Vec::new());
        for line in std::fs::read_to_string(data.join("asks.jsonl"))
            .unwrap()
            .lines()
        {
            let case: Value = serde_json::from_str(line).unwrap();
            if case["tools"][0] != "sql" {
                continue;
            }
            asked += 1;
            let ask = case["ask"].as_str().unwrap();
            let best = propose::suggest(ask, &scope, &Policy::default())
                .into_iter()
                .next();
            let shown = best.map_or_else(String::new, |best| run(&best.arguments, &scope));
            if !shown.contains(case["observe"].as_str().unwrap()) {
                wrong.push(format!("{ask}\n  -> {shown}"));
            }
        }
        assert!(asked >= 20, "only {asked} requests found");
        assert!(
            wrong.is_empty(),
            "{} of {asked}:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }

    fn run(arguments: &Value, scope: &ToolScope) -> String {
        let path = scope
            .workspace
            .join(arguments["database"].as_str().unwrap());
        let guard = Guard::open(path, Policy::default()).unwrap();
        let schema = guard.schema().unwrap();
        match serde_json::from_value(arguments["query"].clone()).unwrap() {
            crate::sql::Ask::Schema { schema: name } => {
                crate::sql::show::schema(&schema, (name != "*").then_some(name.as_str()))
            }
            crate::sql::Ask::Sql { sql } => {
                crate::sql::show::rows(&guard.query(&sql).unwrap(), None)
            }
            crate::sql::Ask::Query(query) => {
                let lowered = super::lower(&query, &schema).unwrap();
                crate::sql::show::rows(
                    &guard.query_with(&lowered.sql, &lowered.values).unwrap(),
                    None,
                )
            }
        }
    }
}
