//! Every query of the data file as SQL of three dialects, and its rows on SQLite against a statement written by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use steward_domains::query::lower::{Lowered, lower};
use steward_domains::query::plan::Checked;
use steward_domains::query::{Query, embed, validate};
use steward_domains::result;

use crate::music::{Case, DIALECTS, Music, cases, roles};

fn checked(music: &Music, query: &Value) -> Checked {
    let parsed = Query::parse(query).unwrap_or_else(|e| panic!("{query}: {e:?}"));
    let again: Query = serde_json::from_value(serde_json::to_value(&parsed).expect("JSON")).expect("its own form");
    assert_eq!(again, parsed, "{query}");
    validate(&parsed, &music.domains, &roles(&["viewer"])).unwrap_or_else(|e| panic!("{query}: {e:?}"))
}

fn shown(lowered: &Lowered, row: &[Value]) -> Vec<Value> {
    let columns = lowered.columns.iter().zip(row).filter(|(column, _)| !column.is_hidden());
    columns.map(|(_, value)| rounded(value)).collect()
}

/// Sums of fractions depend on the order in which they are added.
fn rounded(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) => json!((number * 1e6).round() / 1e6),
        None => value.clone(),
    }
}

fn written(music: &Music, case: &Case, text: &mut String) {
    let _ = writeln!(text, "{}", case.query);
    let mut plan = checked(music, &case.query);
    if case.pages {
        let first = lower(&plan, DIALECTS[0]);
        let rows = music.run(&first.sql, &first.values);
        let after = first.next_page(&rows).unwrap_or_else(|| panic!("{} has one page only", case.query));
        let mut query = case.query.clone();
        query["after"] = json!(after);
        plan = checked(music, &query);
    }
    for dialect in DIALECTS {
        let lowered = lower(&plan, dialect);
        let _ = writeln!(text, "  {}: {}", dialect.name(), lowered.sql);
        for relation in &lowered.relations {
            let parents: Vec<Vec<Value>> = (1..=2).map(|n| vec![json!(n); lowered.columns.len()]).collect();
            let (sql, values) = relation.lower(&parents).expect("a statement");
            let _ = writeln!(text, "    {}: {sql} {}", relation.name, json!(values));
        }
        if dialect == DIALECTS[2] {
            let _ = writeln!(text, "  values: {}", json!(lowered.values));
        }
        // After a page, and in the order of formulas, MySQL names values more than once.
        assert!(
            case.pages || case.topic == "formulas" || lowered.values == lower(&plan, DIALECTS[0]).values,
            "{}",
            case.query
        );
    }
}

#[test]
fn statements_in_three_dialects() {
    let music = Music::open();
    let mut topics: BTreeMap<String, String> = BTreeMap::new();
    let all = cases();
    assert!(all.len() >= 300, "only {} cases", all.len());
    for case in &all {
        written(&music, case, topics.entry(case.topic.clone()).or_default());
    }
    for (topic, text) in topics {
        insta::assert_snapshot!(topic, text);
    }
}

#[test]
fn rows_are_those_of_statements_written_by_hand() {
    let music = Music::open();
    let mut compared = 0;
    for case in cases() {
        let lowered = lower(&checked(&music, &case.query), DIALECTS[0]);
        let rows = music.run(&lowered.sql, &lowered.values);
        let found: Vec<Vec<Value>> = rows.iter().map(|row| shown(&lowered, row)).collect();
        if let Some(sql) = &case.sql {
            let expect: Vec<Vec<Value>> =
                music.run(sql, &[]).iter().map(|row| row.iter().map(rounded).collect()).collect();
            assert_eq!(found, expect, "{}\n{}\n{sql}", case.query, lowered.sql);
            compared += 1;
        }
        for relation in &lowered.relations {
            if let Some((sql, values)) = relation.lower(&rows) {
                music.run(&sql, &values);
            }
        }
    }
    assert!(compared >= 300, "only {compared} were compared");
}

#[test]
fn pages_together_are_all_rows_once() {
    let music = Music::open();
    for case in cases().iter().filter(|case| case.pages) {
        let mut whole = case.query.clone();
        whole["limit"] = json!(1000);
        let all = lower(&checked(&music, &whole), DIALECTS[0]);
        let all = music.run(&all.sql, &all.values);
        let (mut query, mut found, mut pages) = (case.query.clone(), Vec::new(), 0);
        loop {
            let lowered = lower(&checked(&music, &query), DIALECTS[0]);
            let rows = music.run(&lowered.sql, &lowered.values);
            let next = lowered.next_page(&rows);
            found.extend(rows);
            pages += 1;
            assert!(pages < 50, "{} never ends", case.query);
            match next {
                Some(after) => query["after"] = json!(after),
                None => break,
            }
        }
        assert_eq!(found, all, "{}", case.query);
        assert!(pages > 1, "{}", case.query);
    }
}

fn embedded(query: &Value) -> Value {
    let music = Music::open();
    let lowered = lower(&checked(&music, query), DIALECTS[0]);
    let mut rows = music.run(&lowered.sql, &lowered.values);
    result::tidy(&lowered.columns, &mut rows);
    let mut objects = embed::objects(&lowered.columns, &rows);
    for relation in &lowered.relations {
        let found = relation.lower(&rows).map(|(sql, values)| music.run(&sql, &values)).unwrap_or_default();
        embed::attach(&mut objects, &rows, relation, &found);
    }
    json!(objects)
}

#[test]
fn relations_are_embedded() {
    for (query, expect) in [
        (
            json!({"domain": "artist", "fields": ["name", "albums.title"], "limit": 2}),
            json!([
                {"name": "The Beatles", "albums": [{"title": "Help!"}, {"title": "Abbey Road"}]},
                {"name": "AC/DC", "albums": [
                    {"title": "Back in Black"}, {"title": "Black Ice"}, {"title": "Best of"}]},
            ]),
        ),
        (
            json!({"domain": "artist", "fields": "name", "where": {"id": [2, 8]},
                "with": {"relation": "albums", "fields": ["title"], "order": "-price", "limit": 1}}),
            json!([
                {"name": "AC/DC", "albums": [{"title": "Black Ice"}]},
                {"name": "O'Brien \"X\"", "albums": []},
            ]),
        ),
        (
            json!({"domain": "customer", "fields": "name", "limit": 4, "with": [{"relation": "account", "fields": "login"}]}),
            json!([
                {"name": "Ann", "account": {"login": "ann"}},
                {"name": "bob", "account": {"login": "bob"}},
                {"name": "Carla", "account": {"login": "carla"}},
                {"name": "Dave", "account": null},
            ]),
        ),
        (
            json!({"domain": "line", "fields": ["number"], "where": {"invoice_id": 2},
                "with": {"relation": "shipments", "fields": ["code", "sent"]}}),
            json!([
                {"number": 1, "shipments": [{"code": "S01", "sent": "2023-02-11"}, {"code": "S11", "sent": "2023-03-12"}]},
                {"number": 2, "shipments": []},
            ]),
        ),
    ] {
        assert_eq!(embedded(&query), expect, "{query}");
    }
}

#[test]
fn shapes() {
    let music = Music::open();
    for (query, expect) in [
        (json!({"domain": "album", "aggregate": "count"}), json!({"shape": "number", "column": 0})),
        (json!({"domain": "album", "where": {"id": 999}}), json!({"shape": "empty"})),
        (json!({"domain": "album", "where": {"id": 1}}), json!({"shape": "row"})),
        (json!({"domain": "album"}), json!({"shape": "table"})),
        (
            json!({"domain": "album", "group": "rating", "aggregate": "count"}),
            json!({"shape": "series", "x": 0, "y": 1}),
        ),
        (
            json!({"domain": "album", "group": "rating", "aggregate": ["max(title)", "sum(price)"]}),
            json!({"shape": "series", "x": 0, "y": 2}),
        ),
        (json!({"domain": "album", "group": "rating"}), json!({"shape": "table"})),
        (json!({"domain": "customer", "group": ["country", "vip"], "aggregate": "count"}), json!({"shape": "table"})),
        (
            json!({"domain": "invoice", "group": {"field": "issued", "by": "year"}, "aggregate": "sum(total)"}),
            json!({"shape": "series", "x": 0, "y": 1}),
        ),
        (json!({"domain": "album", "aggregate": ["count", "sum(price)"]}), json!({"shape": "row"})),
    ] {
        let lowered = lower(&checked(&music, &query), DIALECTS[0]);
        let rows = music.run(&lowered.sql, &lowered.values);
        assert_eq!(json!(result::shape(&lowered.columns, rows.len())), expect, "{query}");
    }
}

#[test]
fn values_have_one_form_for_all_databases() {
    let music = Music::open();
    let columns = |domain: &str, field: &str| {
        lower(&checked(&music, &json!({"domain": domain, "fields": [field]})), DIALECTS[0]).columns
    };
    for (domain, field, value, expect) in [
        ("artist", "active", json!(1), json!(true)),
        ("artist", "active", json!(false), json!(false)),
        ("album", "price", json!("9.990"), json!(9.99)),
        ("album", "price", json!("0.12345678901234567890123"), json!("0.12345678901234567890123")),
        ("album", "price", json!("100"), json!(100.0)),
        ("album", "price", json!(100), json!(100.0)),
        ("album", "rating", json!(5.0), json!(5)),
        ("album", "rating", json!("5"), json!(5)),
        ("album", "released", json!("2024-01-31T00:00:00"), json!("2024-01-31")),
        ("album", "released", json!("2024-01-31 10:00:00"), json!("2024-01-31 10:00:00")),
        ("invoice", "issued", json!("2024-01-31 10:00:00"), json!("2024-01-31T10:00:00")),
        ("album", "title", json!("1"), json!("1")),
        ("album", "price", Value::Null, Value::Null),
    ] {
        let mut rows = vec![vec![value.clone(), json!(1)]];
        result::tidy(&columns(domain, field), &mut rows);
        assert_eq!(rows[0][0], expect, "{field} {value}");
    }
}

#[test]
fn many_rows_share_what_can_be_embedded() {
    let music = Music::open();
    let query = json!({"domain": "artist", "fields": ["id"], "with": {"relation": "albums", "limit": 50}});
    let lowered = lower(&checked(&music, &query), DIALECTS[0]);
    for (parents, keys, each) in [(1, 1, 51), (20, 20, 50), (200, 200, 5)] {
        let rows: Vec<Vec<Value>> = (0..parents).map(|n| vec![json!(n)]).collect();
        let (_, values) = lowered.relations[0].lower(&rows).expect("a statement");
        assert_eq!(values.len(), keys + 2);
        assert_eq!(values[keys..], [json!(each), json!(1000)], "{parents} parents");
    }
    let same = vec![vec![json!(1)], vec![json!(1)], vec![Value::Null]];
    assert_eq!(lowered.relations[0].lower(&same).expect("a statement").1.len(), 3, "each key once, no nulls");
    assert_eq!(lowered.relations[0].lower(&[vec![Value::Null]]), None);
}

#[test]
fn a_formula_is_counted_where_it_has_a_value() {
    let music = Music::open();
    let count = |domain: &str, field: &str| {
        let query = json!({"domain": domain, "aggregate": [{"fn": "count", "field": field, "as": "n"}]});
        let lowered = lower(&checked(&music, &query), DIALECTS[0]);
        let rows = music.run(&lowered.sql, &lowered.values);
        shown(&lowered, &rows[0])
    };
    assert_eq!(count("line", "price / (quantity - quantity)"), [json!(0.0)]);
    let lines = count("line", "price * quantity");
    assert_ne!(lines, [json!(0.0)]);
    assert_eq!(count("invoice", "lines.price * lines.quantity"), lines, "rows of the list, not of the invoices");
}
