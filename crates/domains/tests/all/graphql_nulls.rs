//! Null in a request is as if it were left out, and what can't be read is told in plain words.

use crate::graphql::planned;
use crate::music::Music;
use serde_json::{Value, json};
use steward_domains::graphql::GraphQlRequest;

fn request(text: &str, variables: &Value) -> GraphQlRequest {
    let variables = variables.as_object().cloned().unwrap_or_default();
    GraphQlRequest { variables, ..GraphQlRequest::new(text) }
}

/// Two requests that ask the same.
fn same(one: &str, variables: &Value, other: &str) {
    let music = Music::open();
    let query = |text: &str, variables: &Value| {
        let plan = planned(&music.domains, &["viewer"], &request(text, variables));
        let plan = plan.unwrap_or_else(|errors| panic!("{text}: {errors}"));
        serde_json::to_value(&plan.roots()[0].query).expect("JSON")
    };
    assert_eq!(query(one, variables), query(other, &json!({})), "{one} {variables}");
}

#[test]
fn null_is_as_if_it_were_left_out() {
    let none = json!({});
    for (given, bare) in [
        ("{ album(where: {id: {eq: null}}) { id } }", "{ album(where: {}) { id } }"),
        ("{ album(where: {id: null, title: {eq: \"x\"}}) { id } }", "{ album(where: {title: {eq: \"x\"}}) { id } }"),
        ("{ album(where: {id: {gt: null, lt: 5}}) { id } }", "{ album(where: {id: {lt: 5}}) { id } }"),
        ("{ album(where: {artist: null}) { id } }", "{ album { id } }"),
        ("{ album(where: {artist: {name: null}}) { id } }", "{ album { id } }"),
        ("{ album(where: {artist: {exists: null}}) { id } }", "{ album { id } }"),
        ("{ album(where: {rating: {is_null: null}}) { id } }", "{ album { id } }"),
        ("{ album(where: {rating: {in: null}}) { id } }", "{ album { id } }"),
        ("{ album(where: {any: null, all: null}) { id } }", "{ album { id } }"),
        ("{ album(order: [{id: null}]) { id } }", "{ album(order: []) { id } }"),
        ("{ album(order: [{artist: null}, {title: ASC}]) { id } }", "{ album(order: [{title: ASC}]) { id } }"),
        ("{ album(order: [{artist: {name: null}}]) { id } }", "{ album { id } }"),
        ("{ album(limit: null, after: null, where: null, order: null) { id } }", "{ album { id } }"),
        ("{ album { tracks(limit: null, where: null, order: null) { id } } }", "{ album { tracks { id } } }"),
        ("{ album_aggregate(groupBy: [{artist: null}]) { count } }", "{ album_aggregate { count } }"),
        ("{ album_aggregate(groupBy: [{released: null}]) { count } }", "{ album_aggregate { count } }"),
        ("{ album_aggregate(having: {count: null}) { count } }", "{ album_aggregate { count } }"),
        (
            "{ album_aggregate(having: {sum: {price: {gt: null}}}) { count sum { price } } }",
            "{ album_aggregate { count sum { price } } }",
        ),
        ("{ album_aggregate(order: [{count: null}, {group: null}]) { count } }", "{ album_aggregate { count } }"),
    ] {
        same(given, &none, bare);
    }
}

#[test]
fn so_are_variables_that_nobody_set() {
    for variables in [json!({}), json!({"t": null, "n": null, "w": null})] {
        same("query($t: String) { album(where: {title: {eq: $t}}) { id } }", &variables, "{ album { id } }");
        same("query($n: Int) { album(limit: $n) { id } }", &variables, "{ album { id } }");
        same("query($w: album_filter) { album(where: $w) { id } }", &variables, "{ album { id } }");
    }
    let music = Music::open();
    let required = request("query($t: String!) { album(where: {title: {eq: $t}}) { id } }", &json!({"t": null}));
    assert!(planned(&music.domains, &["viewer"], &required).is_err(), "it may not be null");
}

#[test]
fn what_can_t_be_read_is_told_by_line_and_column() {
    let music = Music::open();
    for (text, expect) in [
        ("{", "line 1, column 2: the text breaks off; expected"),
        ("{ album { title }", "line 1, column 18: the text breaks off; expected"),
        ("{\n  album {\n    %\n  }\n}", "line 3, column 5: `%` can't be read; expected"),
        ("{ album(where: {title: {eq: \"x}}) { id } }", "line 1, column 29: `\"` can't be read; expected value"),
        ("query {}", "line 1, column 8: `}` can't be read; expected"),
        ("hello", "line 1, column 1: `h` can't be read; expected"),
    ] {
        let errors = planned(&music.domains, &["viewer"], &GraphQlRequest::new(text)).expect_err(text);
        let message = &errors.0[0].message;
        assert!(message.starts_with(expect), "{text}: {message}");
        assert!(!message.contains(['\n', '|']) && !message.contains("-->"), "{message}");
        let body = errors.response();
        assert!(body.get("data").is_none() && body["errors"][0]["locations"][0]["line"].is_u64(), "{body}");
    }
}
