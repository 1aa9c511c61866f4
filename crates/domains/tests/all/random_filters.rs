//! A random query returns the same rows as the same filter in plain Rust over the table.

use std::cmp::Ordering;

use proptest::prelude::*;
use serde_json::{Value, json};
use steward_domains::query::lower::{Dialect, lower};
use steward_domains::query::{Query, validate};

use crate::music::{Music, roles};

/// Columns of `albums`: id, title, artist_id, released, price, rating.
const FIELDS: [&str; 6] = ["id", "title", "artist_id", "released", "price", "rating"];

#[derive(Debug, Clone)]
enum Filter {
    Compare(usize, &'static str, Value),
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Vec<Filter>),
}

fn as_json(filter: &Filter) -> Value {
    match filter {
        Filter::Compare(field, op, value) => json!({"field": FIELDS[*field], "op": op, "value": value}),
        Filter::Any(list) => json!({"any": list.iter().map(as_json).collect::<Vec<_>>()}),
        Filter::All(list) => json!({"all": list.iter().map(as_json).collect::<Vec<_>>()}),
        Filter::Not(list) => json!({"not": list.iter().map(as_json).collect::<Vec<_>>()}),
    }
}

/// Three-valued, as SQL has it; what is negated is not.
fn holds(filter: &Filter, row: &[Value]) -> Option<bool> {
    match filter {
        Filter::All(list) => fold(list, row, true),
        Filter::Any(list) => fold(list, row, false),
        Filter::Not(list) => Some(fold(list, row, true) != Some(true)),
        Filter::Compare(field, op, value) => compared(&row[*field], op, value, *field == 3),
    }
}

fn fold(list: &[Filter], row: &[Value], neutral: bool) -> Option<bool> {
    let all: Vec<Option<bool>> = list.iter().map(|filter| holds(filter, row)).collect();
    if all.contains(&Some(!neutral)) {
        return Some(!neutral);
    }
    (!all.contains(&None)).then_some(neutral)
}

fn compared(stored: &Value, op: &str, value: &Value, date: bool) -> Option<bool> {
    match op {
        "is_null" => return Some(stored.is_null()),
        "not_null" => return Some(!stored.is_null()),
        // What is not there is not equal to anything.
        "ne" if stored.is_null() => return Some(true),
        _ if stored.is_null() => return None,
        "in" => return Some(value.as_array()?.iter().any(|one| compared(stored, "eq", one, date) == Some(true))),
        "between" => {
            let low = compared(stored, "gte", &value[0], date)?;
            return Some(low && compared(stored, "lte", &value[1], date)?);
        }
        _ => {}
    }
    let order = if let (Some(stored), Some(value)) = (stored.as_f64(), value.as_f64()) {
        stored.partial_cmp(&value)?
    } else {
        let (mut stored, value) = (stored.as_str()?.to_ascii_lowercase(), value.as_str()?.to_ascii_lowercase());
        match op {
            "contains" => return Some(stored.contains(&value)),
            "starts" => return Some(stored.starts_with(&value)),
            _ => {}
        }
        if date {
            // A month stands for its days.
            stored.truncate(value.len());
        }
        stored.cmp(&value)
    };
    Some(match op {
        "eq" => order == Ordering::Equal,
        "ne" => order != Ordering::Equal,
        "gt" => order == Ordering::Greater,
        "gte" => order != Ordering::Less,
        "lt" => order == Ordering::Less,
        "lte" => order != Ordering::Greater,
        other => panic!("{other} is not known"),
    })
}

fn compare() -> impl Strategy<Value = Filter> {
    let number = prop_oneof![
        (-1i64..12).prop_map(|n| json!(n)),
        prop::sample::select(vec![9.99, 5.0, 0.3, 0.1, 7.25]).prop_map(|n| json!(n)),
    ];
    let whole = (-1i64..12).prop_map(|n| json!(n));
    let text = prop_oneof![
        "[a-zA-Z0-9%_!' ]{0,3}",
        prop::sample::select(vec!["Best of", "help!", "100%", "Black"]).prop_map(str::to_owned)
    ]
    .prop_map(|text| json!(text));
    let date = prop::sample::select(vec!["1985", "1985-02", "1973-11-15", "1965-01-01", "2005", "1999-12-31"])
        .prop_map(|d| json!(d));
    let ordered = prop::sample::select(vec!["eq", "ne", "gt", "gte", "lt", "lte"]);
    let lists = prop::sample::select(vec!["in", "between"]);
    prop_oneof![
        (prop::sample::select(vec![0usize, 2, 5]), ordered.clone(), whole)
            .prop_map(|(f, op, v)| Filter::Compare(f, op, v)),
        (Just(4usize), ordered.clone(), number.clone()).prop_map(|(f, op, v)| Filter::Compare(f, op, v)),
        (Just(3usize), ordered, date.clone()).prop_map(|(f, op, v)| Filter::Compare(f, op, v)),
        (prop::sample::select(vec!["eq", "ne", "contains", "starts"]), text)
            .prop_map(|(op, v)| Filter::Compare(1, op, v)),
        (lists.clone(), number.clone(), number).prop_map(|(op, a, b)| Filter::Compare(4, op, json!([a, b]))),
        (lists, date.clone(), date).prop_map(|(op, a, b)| Filter::Compare(3, op, json!([a, b]))),
        (0usize..6, prop::sample::select(vec!["is_null", "not_null"])).prop_map(|(f, op)| Filter::Compare(
            f,
            op,
            Value::Null
        )),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    compare().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Filter::Any),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Filter::Not),
            prop::collection::vec(inner, 1..4).prop_map(Filter::All),
        ]
    })
}

/// Nulls last, texts without regard to case.
fn by(field: usize, desc: bool, a: &[Value], b: &[Value]) -> Ordering {
    let order = match (&a[field], &b[field]) {
        (Value::Null, Value::Null) => return Ordering::Equal,
        (Value::Null, _) => return Ordering::Greater,
        (_, Value::Null) => return Ordering::Less,
        (Value::String(a), Value::String(b)) => a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase()),
        (a, b) => a.as_f64().partial_cmp(&b.as_f64()).expect("numbers"),
    };
    if desc { order.reverse() } else { order }
}

#[test]
fn a_query_returns_what_a_filter_in_rust_does() {
    let music = Music::open();
    let table = music.run("SELECT * FROM albums", &[]);
    let orders = prop::collection::vec((0usize..6, any::<bool>()), 0..3);
    let runner_config = ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(runner_config);
    let strategy = (prop::collection::vec(filter(), 0..4), orders, 1usize..20);
    let result = runner.run(&strategy, |(filters, mut orders, limit)| {
        // A field counts where it stands first.
        let all = orders.clone();
        let mut at = 0;
        orders.retain(|(field, _)| {
            at += 1;
            !all[..at - 1].iter().any(|(other, _)| other == field)
        });
        let order: Vec<Value> = orders.iter().map(|(f, desc)| json!({"field": FIELDS[*f], "desc": desc})).collect();
        let query = json!({
            "domain": "album", "where": filters.iter().map(as_json).collect::<Vec<_>>(), "order": order, "limit": limit,
        });
        let parsed = Query::parse(&query).expect("a query");
        let plan = validate(&parsed, &music.domains, &roles(&[])).expect("a plan");
        let lowered = lower(&plan, Dialect::Sqlite);
        let mut found = music.run(&lowered.sql, &lowered.values);
        for row in &mut found {
            row.truncate(FIELDS.len());
        }
        let mut expect: Vec<Vec<Value>> =
            table.iter().filter(|row| filters.iter().all(|filter| holds(filter, row) == Some(true))).cloned().collect();
        let desc = !orders.is_empty() && orders.iter().all(|(_, desc)| *desc);
        expect.sort_by(|a, b| {
            let order = orders.iter().map(|(field, desc)| by(*field, *desc, a, b)).find(|order| order.is_ne());
            order.unwrap_or_else(|| by(0, desc, a, b))
        });
        expect.truncate(limit);
        prop_assert_eq!(found, expect, "{}\n{}", query, lowered.sql);
        Ok(())
    });
    result.expect("equal rows");
}
