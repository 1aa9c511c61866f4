//! JSON asked in SQL.

use serde_json::{Value, json};
use steward_sandbox::sql::{Guard, Policy, SqlError, TableContent, TableFile, begins_as_json_rows};

fn guard(text: &str) -> Result<Guard, SqlError> {
    let file = TableFile { source: "t.json", name: "t", content: TableContent::Json(text) };
    Guard::of_tables(&[file], Policy::default())
}

fn ask(text: &str, sql: &str) -> Value {
    json!(guard(text).unwrap().query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows)
}

#[test]
fn objects_are_rows_whatever_their_form() {
    let list = r#"[
        {"id": 1, "name": "Oslo", "at": {"lat": 59.91, "lon": 10.75}, "open": true, "tags": ["a", {"b": 1}]},
        {"id": 2, "name": null, "more": "007", "at": {"lat": 60}},
        {}
    ]"#;
    let rows = json!([
        [1, "Oslo", 59.91, 10.75, 1, "[\"a\", {\"b\": 1}]", null],
        [2, null, 60.0, null, null, null, "007"],
        [null, null, null, null, null, null, null],
    ]);
    assert_eq!(ask(list, "SELECT id, name, at_lat, at_lon, open, tags, more FROM t"), rows);
    assert_eq!(ask(list, "SELECT * FROM t"), rows, "in the order in which fields come");
    let lines = "\u{feff}{\"id\": 1, \"n\": \"ä\\nö\"}\r\n\n{\"id\": 2}\n";
    assert_eq!(ask(lines, "SELECT id, n FROM t"), json!([[1, "ä\nö"], [2, null]]));
}

#[test]
fn no_digit_of_a_number_is_lost() {
    for (values, kind, expect) in [
        ("1, -20, 9223372036854775807", "INTEGER", json!([[1], [-20], [9_223_372_036_854_775_807_i64]])),
        ("1, 2.50, 1e-7", "REAL", json!([[1.0], [2.5], [1e-7]])),
        ("9223372036854775808, 1", "TEXT", json!([["9223372036854775808"], ["1"]])),
        ("0.1234567890123456789, 1", "TEXT", json!([["0.1234567890123456789"], ["1"]])),
        ("1, \"n. a.\"", "TEXT", json!([["1"], ["n. a."]])),
        ("\"0012\", \"\"", "TEXT", json!([["0012"], [""]])),
        ("true, false", "BOOLEAN", json!([[1], [0]])),
        ("true, 1", "TEXT", json!([["true"], ["1"]])),
    ] {
        let rows: Vec<String> = values.split(", ").map(|value| format!("{{\"v\": {value}}}")).collect();
        let text = format!("[{}]", rows.join(","));
        assert_eq!(ask(&text, "SELECT v FROM t"), expect, "{values}");
        let schema = guard(&text).unwrap().schema().unwrap();
        assert_eq!(json!(schema)["tables"][0]["columns"][0]["type"], kind, "{values}: {schema:?}");
    }
}

#[test]
fn names_that_are_alike_stay_apart() {
    let text = r#"[{"a_b": 1, "a": {"b": 2}, "A_B": 3, "": 4}]"#;
    assert_eq!(ask(text, "SELECT a_b, a_b_2, a_b_3, column_4 FROM t"), json!([[1, 2, 3, 4]]));
    let deep = format!("[{}1{}]", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert!(
        ask(&deep, "SELECT substr(a_a_a_a_a_a_a_a, 1, 5) FROM t").to_string().contains('{'),
        "what is too deep stays JSON"
    );
}

#[test]
fn what_is_no_table_says_why() {
    for (text, part) in [
        ("[1, 2]", "row 1: invalid type"),
        ("[{\"a\": 1}, [2]]", "row 2: invalid type"),
        ("[{\"a\": 1}", "EOF while parsing"),
        ("{\"a\": 1}\n{\"a\": }\n", "line 2: expected value"),
        ("[{}]", "no fields"),
        ("[]", "no fields"),
        ("", "no fields"),
    ] {
        let error = guard(text).unwrap_err().to_string();
        assert!(error.contains("t.json") && error.contains(part), "{text}: {error}");
    }
    let wide: Vec<String> = (0..201).map(|n| format!("\"c{n}\": {n}")).collect();
    assert!(guard(&format!("[{{{}}}]", wide.join(","))).unwrap_err().to_string().contains("200 columns"));
    for (text, expect) in
        [("[ {", true), ("\u{feff}\n{\"a\"", true), ("[1", false), ("[]", false), ("", false), ("\"x\"", false)]
    {
        assert_eq!(begins_as_json_rows(text), expect, "{text}");
    }
}
