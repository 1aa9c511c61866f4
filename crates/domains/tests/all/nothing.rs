//! Rows without a value, letters of every script, lists that are cut, and tables with many columns.

use crate::base::Base;
use crate::music::read_all;
use serde_json::{Value, json};
use std::fmt::Write as _;
use steward_domains::model::FieldKind;
use steward_domains::query::lower::{Dialect, lower};
use steward_domains::query::{Query, embed, validate};

const PEOPLE: &str = "
create table person(id integer primary key, name text, city text, points integer);
insert into person values (1,'ÉMILE','Århus',1),(2,'Zoë','ÅRHUS',null),(3,'Ann',null,2);
create table visit(id integer primary key, person_id integer references person(id));
insert into visit (person_id) values (1),(1),(1),(2),(2),(3);
";

fn ids(base: &Base, condition: &Value) -> Vec<Value> {
    let query = json!({"domain": "person", "fields": ["id"], "where": [condition], "order": ["id"]});
    base.query(&query).expect("rows").into_iter().map(|row| row[0].clone()).collect()
}

#[test]
fn what_is_negated_holds_where_there_is_no_value() {
    let base = Base::of(PEOPLE);
    for (condition, expect) in [
        (json!({"field": "points", "op": "ne", "value": 1}), json!([2, 3])),
        (json!({"not": [{"field": "points", "op": "eq", "value": 1}]}), json!([2, 3])),
        (json!({"not": [{"field": "points", "op": "gt", "value": 1}]}), json!([1, 2])),
        (json!({"field": "city", "op": "ne", "value": "Oslo"}), json!([1, 2, 3])),
        (json!({"not": [{"not": [{"field": "points", "op": "eq", "value": 1}]}]}), json!([1])),
        (json!({"field": "points", "op": "ne", "value": {"field": "id"}}), json!([2, 3])),
    ] {
        assert_eq!(json!(ids(&base, &condition)), expect, "{condition}");
    }
}

#[test]
fn case_does_not_count_in_any_script() {
    let base = Base::of(PEOPLE);
    for (condition, expect) in [
        (json!({"field": "name", "op": "eq", "value": "émile"}), json!([1])),
        (json!({"field": "name", "op": "ne", "value": "émile"}), json!([2, 3])),
        (json!({"field": "name", "op": "in", "value": ["zoË", "ann"]}), json!([2, 3])),
        (json!({"field": "city", "op": "eq", "value": "århus"}), json!([1, 2])),
        (json!({"field": "city", "op": "contains", "value": "åR"}), json!([1, 2])),
        (json!({"field": "city", "op": "starts", "value": "å"}), json!([1, 2])),
    ] {
        assert_eq!(json!(ids(&base, &condition)), expect, "{condition}");
    }
    let asked = base.ask("How many people live in århus?");
    assert!(!asked.sure || asked.rows == [[json!(2)]], "{asked:?}");
}

#[test]
fn a_list_that_is_cut_says_so() {
    let base = Base::of(PEOPLE);
    for (limit, expect, lengths) in [(2, (1, 2), [2, 2, 1]), (3, (0, 3), [3, 2, 1]), (1, (2, 1), [1, 1, 1])] {
        let query = json!({"domain": "person", "fields": ["id"], "with": [{"relation": "visit", "limit": limit}]});
        let query = Query::parse(&query).expect("a query");
        let checked = validate(&query, &base.domains, &crate::music::roles(&["viewer"])).expect("it fits");
        let lowered = lower(&checked, Dialect::Sqlite);
        let rows = read_all(&base.conn, &lowered.sql, &lowered.values);
        let (sql, values) = lowered.relations[0].lower(&rows).expect("a statement");
        let children = read_all(&base.conn, &sql, &values);
        let mut objects = embed::objects(&lowered.columns, &rows);
        assert_eq!(embed::attach(&mut objects, &rows, &lowered.relations[0], &children), expect, "{limit}");
        let found: Vec<usize> = objects.iter().map(|one| one["visit"].as_array().map_or(0, Vec::len)).collect();
        assert_eq!(found, lengths, "{limit}");
    }
}

#[test]
fn all_columns_of_a_wide_table_are_looked_at() {
    let mut columns = String::from("id integer primary key");
    for at in 1..=80 {
        let _ = write!(columns, ", made_{at} timestamp");
    }
    let values = vec!["1704067200"; 80].join(", ");
    let base = Base::of(&format!("create table wide({columns}); insert into wide values (1, {values});"));
    for at in [1, 33, 34, 60, 80] {
        assert_eq!(base.kind("wide", &format!("made_{at}")), FieldKind::Int, "made_{at}");
    }
    let table = steward_core::tables::Table {
        name: "wide".to_owned(),
        columns: (0..80)
            .map(|at| steward_core::tables::Column {
                name: format!("c{at}"),
                kind: String::new(),
                not_null: false,
                pk: false,
            })
            .collect(),
        foreign_keys: Vec::new(),
        view: false,
        row_estimate: None,
    };
    for (sql, columns) in steward_domains::init::form_counts(&table) {
        // A result may have 200 columns.
        assert!(sql.matches("count(").count() <= 200 && !columns.is_empty(), "{sql}");
    }
}

#[test]
fn numbers_with_unclear_commas_are_told() {
    let base = Base::of(
        "create table sale(id integer primary key, worth text); insert into sale values (1,'1,250'),(2,'999');",
    );
    assert_eq!(base.kind("sale", "worth"), FieldKind::String);
    let notes = &base.domains.get("sale").expect("a domain").notes;
    assert!(notes.iter().any(|note| note.text.contains("the comma may stand")), "{notes:?}");
}
