#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::{LowerError, lower::lower};
use serde_json::{Value, json};
use steward_core::tables::{
    Aggregate, Column as SchemaColumn, Condition, ForeignKey, Op, Order, Query, QueryColumn, Schema, Select, Table,
};

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
                &[("id", "INTEGER"), ("title", "TEXT"), ("author_id", "INTEGER"), ("price", "REAL")],
                &[("author_id", "author")],
            ),
            table("loan", &[("id", "INTEGER"), ("book_id", "INTEGER"), ("due", "TEXT")], &[]),
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
        select: vec![Select { aggregate: Some(Aggregate::Count), ..Select::default() }],
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
        select: vec![Select { aggregate: Some(Aggregate::Avg), column: Some("price".into()), ..Select::default() }],
        group_by: vec![QueryColumn { column: "name".into(), table: Some("author".into()) }],
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
        select: vec![Select { column: Some("A%B".into()), ..Select::default() }],
        ..Query::default()
    };
    check(&query, "SELECT \"odd\"\"name\".\"a%b\" FROM \"odd\"\"name\" LIMIT 100", &[]);
}

#[test]
fn names_what_is_wrong() {
    let error = |value: Value| lower(&serde_json::from_value::<Query>(value).unwrap(), &schema()).unwrap_err();
    assert!(matches!(error(json!({"from": "books"})), LowerError::Table { .. }));
    assert!(error(json!({"from": "book", "select": [{"column": "isbn"}]})).to_string().contains("title"));
    assert!(matches!(error(json!({"from": "book", "join": ["odd\"name"]})), LowerError::Apart { .. }));
    assert!(matches!(
        error(json!({"from": "book", "where": [{"column": "title", "op": "eq"}]})),
        LowerError::Value { .. }
    ));
    assert!(matches!(error(json!({"from": "book", "select": [{"aggregate": "sum"}]})), LowerError::Aggregate { .. }));
}
