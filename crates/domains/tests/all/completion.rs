//! What is proposed where.

use crate::support::{catalog, cursor};
use steward_domains::assist::{Completion, complete};

fn at(text: &str) -> (String, Vec<Completion>) {
    let (text, offset) = cursor(text);
    let found = complete(&text, offset, &catalog());
    (text, found)
}

/// The labels that are proposed; `expect` ends with `…` where only the first ones matter.
fn check(text: &str, expect: &[&str]) {
    let (_, found) = at(text);
    let labels: Vec<&str> = found.iter().map(|completion| completion.label.as_str()).collect();
    match expect.split_last() {
        Some((&"…", first)) => assert!(labels.starts_with(first), "{text}: {labels:?}"),
        _ => assert_eq!(labels, expect, "{text}"),
    }
}

/// The text after the first proposal is taken.
fn taken(text: &str, expect: &str) {
    let (mut changed, found) = at(text);
    let first = found.first().unwrap_or_else(|| panic!("nothing is proposed in {text}"));
    changed.replace_range(first.range.0..first.range.1, &first.insert);
    assert_eq!(changed, expect, "{text}");
}

#[test]
fn words_by_place() {
    for (text, expect) in [
        ("|", &["domain", "view"] as &[_]),
        ("do|", &["domain"]),
        ("domain a from customer@shop { }\n|", &["domain", "view"]),
        ("domain a |", &["from"]),
        ("domain a fr| customer@shop { }", &["from"]),
        ("domain a from customer@shop { | }", &["permission", "field", "relation", "meta", "ai", "aliases"]),
        ("domain a from customer@shop {\n  fi|\n", &["field"]),
        (
            "domain a from customer@shop { field id : int | }",
            &["readonly", "filterable", "trusted", "untrusted", "options"],
        ),
        (
            "domain a from customer@shop { field id : int readonly | }",
            &["filterable", "trusted", "untrusted", "options"],
        ),
        ("domain a from customer@shop { field id : int { | } }", &["example", "aliases"]),
        ("domain a from customer@shop { relation r : has_many country | }", &["bind"]),
        ("domain a from customer@shop { meta m from country id name | }", &["order_by"]),
        ("view v \"V\" |", &["over"]),
        ("view v \"V\" over event { | }", &["toolbar", "table", "section"]),
        ("view v \"V\" over event { toolbar { | } }", &["new", "refresh", "save", "delete"]),
        ("view v \"V\" over event { toolbar { new \"N\" -> v | } }", &["bind", "as"]),
        ("view v \"V\" over event { toolbar { new \"N\" -> v as | } }", &["tab"]),
        ("view v \"V\" over event { table -> event.| }", &["rows"]),
        ("view v \"V\" over event { table -> event.rows { | } }", &["on_select", "column"]),
        ("view v \"V\" over event { table -> event.rows { column id \"I\" width=5 | } }", &["format"]),
        ("view v \"V\" over event { section \"S\" { | } }", &["row"]),
        ("view v \"V\" over event { section \"S\" { row { | } } }", &["widget"]),
        ("view v \"V\" over event { section \"S\" { row { widget text | } } }", &["bind"]),
        ("domain a from customer@shop { field id : int # comm|ent\n }", &[]),
        ("domain a from customer@shop { ai \"scope\" \"any te|xt\" }", &[]),
    ] {
        check(text, expect);
    }
}

#[test]
fn names_by_place() {
    for (text, expect) in [
        ("domain a from |", &["event", "customer", "order", "order line", "country", "sales.region"] as &[_]),
        ("domain a from |@shop { }", &["customer", "order", "order line", "country", "sales.region"]),
        ("domain a from ord|@shop { }", &["order", "order line"]),
        ("domain a from sales.|@shop { }", &["region"]),
        ("domain a from \"order l|\"@shop { }", &["order line"]),
        ("domain a from customer@| { }", &["shop", "archive"]),
        (
            "domain a from customer@shop { field |",
            &["id", "name", "email", "bio", "active", "born", "seen", "credit", "country_id"],
        ),
        ("domain a from country@shop { field id : int; field | }", &["name"]),
        ("domain a from country@shop { field id : int; field n|\n permission viewer read }", &["name"]),
        ("domain a from order@shop { field \"Tot| }", &["Total Price"]),
        (
            "domain a from customer@shop { field born : | }",
            &["date", "datetime", "int", "float", "string", "text", "bool"],
        ),
        ("domain a from customer@shop { field name : | }", &["string", "text", "date", "datetime", "…"]),
        (
            "domain a from customer@shop { field id : int options=| ; meta m from country id name; meta n from country id name }",
            &["m", "n"],
        ),
        ("domain a from customer@shop { relation r : | }", &["has_many", "belongs_to", "has_one"]),
        ("domain a from customer@shop { relation r : has_many | }", &["a", "country"]),
        ("domain a from customer@shop { relation r : belongs_to country bind=| }", &["id", "country_id", "name", "…"]),
        ("domain a from customer@shop { relation r : belongs_to country bind=country_id -> | }", &["id", "name"]),
        ("domain a from customer@shop { meta m from | }", &["customer", "order", "…"]),
        ("domain a from customer@shop { meta m from country | }", &["id", "name"]),
        ("domain a from customer@shop { meta m from country id name order_by | }", &["id", "name"]),
        ("domain a from customer@shop { field name : string { example | } }", &["eq", "ne", "contains"]),
        ("domain a from customer@shop { field id : int { example | } }", &["eq", "ne", "gt", "gte", "lt", "lte"]),
        ("domain a from customer@shop { field born : date { example | } }", &["eq", "gt", "lt"]),
        ("domain a from customer@shop { field active : bool { example eq | } }", &["true", "false"]),
        (
            "domain a from customer@shop { permission | }",
            &["admin", "operator", "developer", "viewer", "*", "sales team"],
        ),
        ("domain a from customer@shop { permission admin read; permission o| }", &["operator", "developer"]),
        ("domain a from customer@shop { permission role:| }", &["admin", "operator", "developer", "viewer"]),
        ("domain a from customer@shop { permission group:| }", &["sales team"]),
        ("domain a from customer@shop { permission admin | }", &["read", "write", "delete"]),
        ("domain a from customer@shop { permission admin read, | }", &["write", "delete"]),
        (
            "domain a from customer@shop { ai | }",
            &["scope", "edit_behavior", "format_hint", "list_behavior", "navigation"],
        ),
        ("domain a from customer@shop { ai \"na| }", &["navigation"]),
        ("view v \"V\" over | { }", &["event", "country"]),
        ("view v \"V\" over event { table -> | }", &["event"]),
        ("view v \"V\" over event { table -> event.rows { column | } }", &["id", "note"]),
        ("view v \"V\" over event { table -> event.rows { column n| \"Note\" } }", &["note"]),
        ("view v \"V\" over event { table -> event.rows { on_select -> | } }", &["v", "event_list"]),
        ("view v \"V\" over event { table -> event.rows { on_select -> v bind=| } }", &["id", "note"]),
        ("view v \"V\" over event { table -> event.rows { column id \"I\" format=| } }", &["number:0", "…"]),
        (
            "view v \"V\" over event { section \"S\" { row { widget | } } }",
            &["text", "textarea", "select", "checkbox", "number", "date"],
        ),
        ("view v \"V\" over event { section \"S\" { row { widget text bind=| } } }", &["id", "note"]),
    ] {
        check(text, expect);
    }
}

#[test]
fn what_is_taken_fits_the_text() {
    for (text, expect) in [
        ("dom|", "domain"),
        ("domain a from cust|", "domain a from customer@shop"),
        ("domain a from \"order l|\"@shop { }", "domain a from \"order line\"@shop { }"),
        ("domain a from customer@shop { field bor| }", "domain a from customer@shop { field born : date }"),
        ("domain a from customer@shop { field bor| : date }", "domain a from customer@shop { field born : date }"),
        ("domain a from order@shop { field Total| }", "domain a from order@shop { field \"Total Price\" : float }"),
        (
            "domain a from customer@shop { field id : int opt| }",
            "domain a from customer@shop { field id : int options= }",
        ),
        ("domain a from customer@shop { ai sco| }", "domain a from customer@shop { ai \"scope\" }"),
        (
            "domain a from customer@shop { ai \"sco|\" \"text\" }",
            "domain a from customer@shop { ai \"scope\" \"text\" }",
        ),
        (
            "domain a from customer@shop { permission sal| read }",
            "domain a from customer@shop { permission group:\"sales team\" read }",
        ),
        (
            "domain a from customer@shop { permission group:sal| read }",
            "domain a from customer@shop { permission group:\"sales team\" read }",
        ),
        ("domain a from customer@shop { permission v| }", "domain a from customer@shop { permission role:viewer }"),
        ("view v \"V\" over |event { }", "view v \"V\" over event { }"),
    ] {
        taken(text, expect);
    }
}

#[test]
fn any_offset_is_safe() {
    let text = "domain größe from customer@shop { field \"näme\" : string }";
    for offset in 0..text.len() + 5 {
        for completion in complete(text, offset, &catalog()) {
            assert!(text.get(completion.range.0..completion.range.1).is_some(), "{completion:?}");
        }
    }
}
