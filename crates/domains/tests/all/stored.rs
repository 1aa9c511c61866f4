//! What columns of SQLite hold, beside what they are declared to hold.

use crate::base::Base;
use serde_json::json;
use steward_domains::model::FieldKind::{self, Bool, Date, Datetime, Float, Int, String};

fn kind(declared: &str, values: &str) -> FieldKind {
    Base::of(&format!("create table t(id integer primary key, x {declared}); insert into t(x) values {values};"))
        .kind("t", "x")
}

#[test]
fn numbers_and_other_texts_are_no_dates() {
    for (declared, values, expect) in [
        ("timestamp", "(1704103200), (1711965600)", Int),
        ("datetime", "(1704103200000), (null)", Int),
        ("date", "(1704103200.5), (1)", Float),
        ("date", "(2460310.5), (2460311.25)", Float),
        ("date", "('03/02/2024'), ('04/05/2024')", String),
        ("date", "('2024-02-03'), ('05.03.2024')", String),
        ("date", "('2024-02-30')", String),
        ("date", "('2024-02-03'), ('')", String),
        ("timestamp", "('2024-02-03 10:00:00'), (1704103200)", String),
        ("timestamp", "('2024-02-03T10:00:00+02:00')", String),
        ("timestamp", "('yesterday')", String),
        // What is as declared stays so.
        ("timestamp", "('2024-02-03 10:00:00'), ('2024-02-04T11:30'), (null)", Datetime),
        ("timestamp", "('2024-02-03'), ('2024-02-04')", Datetime),
        ("date", "('2024-02-03'), (null)", Date),
        ("date", "('2024-02-03'), ('2024-02-03 10:00')", Datetime),
        ("date", "(null)", Date),
        ("text", "('2024-02-03'), ('2024-02-04')", Date),
        ("text", "('2024-02-03'), ('unknown')", String),
    ] {
        assert_eq!(kind(declared, values), expect, "{declared} {values}");
    }
}

#[test]
fn texts_among_numbers_make_texts_of_them() {
    for (declared, values, expect) in [
        ("integer", "(1), ('n/a')", String),
        ("real", "(1.5), ('12 kg')", String),
        ("numeric", "(1), ('')", String),
        ("integer", "(1), (2.5)", Float),
        ("boolean", "(0), (1)", Bool),
        ("boolean", "('true'), ('false')", String),
        ("boolean", "(0), (2)", Int),
        ("", "(1), (2)", Int),
        ("", "('0010'), ('0011')", String),
        ("", "(1), ('x')", String),
        ("integer", "(1), ('2')", Int),
        ("text", "(1), (2)", String),
    ] {
        assert_eq!(kind(declared, values), expect, "{declared} {values}");
    }
}

/// The values that a sample would show are all right; one far behind is not.
#[test]
fn all_values_are_looked_at() {
    let values: Vec<std::string::String> = (0..500).map(|n| format!("({n})")).chain(["('none')".to_owned()]).collect();
    assert_eq!(kind("integer", &values.join(", ")), String);
}

#[test]
fn a_question_about_a_year_is_not_answered_by_seconds() {
    let base = Base::of(include_str!("../data/problems/lab.sql"));
    assert_eq!(base.kind("finding", "reported_at"), Int);
    assert_eq!(base.kind("finding", "closed_ms"), Int);
    assert_eq!(base.kind("finding", "checked"), String);
    for text in [
        "findings reported in 2024",
        "how many findings were reported in 2024?",
        "findings closed since March 2024",
        "findings closed since 2024",
    ] {
        let asked = base.ask(text);
        assert!(!asked.sure && !asked.unread.is_empty(), "{text}: {asked:?}");
    }
    let domain = base.domains.get("finding").unwrap();
    let told: Vec<&str> = domain.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(
        told.iter().any(|text| text.contains("`reported_at` is declared as timestamp") && text.contains("1970")),
        "{told:?}"
    );
    let by_year =
        json!({"domain": "finding", "group": [{"field": "reported_at", "by": "year"}], "aggregate": ["count"]});
    assert!(base.query(&by_year).unwrap_err().contains("not dates"));
}
