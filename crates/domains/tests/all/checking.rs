//! Texts against databases and saved domains.

use crate::support::{SHOP, catalog, shown};
use steward_domains::{Severity, analyze};

fn check(text: &str, expect: &[&str]) {
    let analysis = analyze(text, &catalog());
    assert_eq!(shown(text, &analysis.diagnostics), expect, "{text}\n{:#?}", analysis.diagnostics);
}

fn hint(text: &str) -> String {
    let analysis = analyze(text, &catalog());
    let errors_first = analysis.diagnostics.iter().min_by_key(|diagnostic| diagnostic.severity);
    errors_first.and_then(|diagnostic| diagnostic.hint.clone()).unwrap_or_default()
}

#[test]
fn a_text_that_fits_is_not_complained_about() {
    check(SHOP, &[]);
}

#[test]
fn domains_are_checked_against_their_table() {
    for (source, inner, expect) in [
        ("customer@shop", "field id : int", &[] as &[_]),
        ("customer@shp", "field id : int", &["unknown-datasource shp"]),
        ("customers@shop", "field id : int", &["unknown-table customers"]),
        ("Customer@shop", "", &["unknown-table Customer"]),
        ("event@shop", "field id : int", &["unknown-table event"]),
        ("sales.region@shop", "field name : string", &[]),
        ("region@shop", "field name : string", &["unknown-table region"]),
        ("\"order line\"@shop", "field text : text", &[]),
        ("order@shop", "field \"Total Price\" : float", &[]),
        ("order@shop", "field total_price : float", &["unknown-column total_price"]),
        ("customer@shop", "field nam : string", &["unknown-column nam"]),
        ("customer@shop", "field name : int", &["kind-does-not-fit int"]),
        ("customer@shop", "field name : date", &[]),
        ("customer@shop", "field born : string", &["kind-does-not-fit string"]),
        ("customer@shop", "field born : datetime", &[]),
        ("customer@shop", "field active : int", &["kind-does-not-fit int"]),
        ("customer@shop", "field credit : int", &["kind-does-not-fit int"]),
        ("customer@shop", "field id : bool", &[]),
        ("customer@shop", "field photo : string", &["kind-does-not-fit string"]),
        ("customer@shop", "meta m from country id name order_by name", &[]),
        ("customer@shop", "meta m from countri id name", &["unknown-table countri"]),
        ("customer@shop", "meta m from country ident name", &["unknown-column ident"]),
        (
            "customer@shop",
            "meta m from country id label order_by rank",
            &["unknown-column label", "unknown-column rank"],
        ),
        ("customer@shop", "relation r : belongs_to country bind=country_id -> id", &[]),
        ("customer@shop", "relation r : belongs_to countri bind=country_id -> id", &["unknown-domain countri"]),
        ("customer@shop", "relation r : belongs_to country bind=country -> id", &["unknown-column country"]),
        ("customer@shop", "relation r : belongs_to country bind=country_id -> ident", &["unknown-column ident"]),
        ("customer@shop", "relation r : has_many event bind=id -> id", &["other-datasource event"]),
        ("customer@shop", "relation r : belongs_to country bind=name -> id", &["keys-differ name -> id"]),
        ("customer@shop", "ai \"skope\" \"text\"", &["unknown-tag \"skope\""]),
        ("customer@shop", "permission admin write", &[]),
    ] {
        check(&format!("domain a from {source} {{ permission viewer read; {inner} }}"), expect);
    }
    check("domain a from customer@shop { permission admin write }", &["no-reader a"]);
    // A group named like a role is none of it, and a name alone is never a group.
    check("domain a from customer@shop { permission group:\"sales team\" read }", &[]);
    check("domain a from customer@shop { permission group:admin read }", &["unknown-group group:admin"]);
    check(
        "domain a from customer@shop { permission \"sales team\" read }",
        &["no-reader a", "unknown-role \"sales team\""],
    );
    check("domain a from customer@shop { permission role:boss read }", &["no-reader a", "unknown-role role:boss"]);
    check("domain a from customer@shop { }", &["no-reader a"]);
}

#[test]
fn views_are_checked_against_their_domain() {
    for (over, inner, expect) in [
        ("event", "table -> event.rows { column id \"I\"; column note \"N\" }", &[] as &[_]),
        ("evnt", "", &["unknown-domain evnt"]),
        ("event", "table -> event.rows { column nite \"N\" }", &["unknown-field nite"]),
        ("event", "table -> evnt.rows { column id \"I\" }", &["unknown-domain evnt"]),
        ("event", "table -> country.rows { column id \"I\" }", &["no-relation country"]),
        ("event", "table -> event.rows { on_select -> event_list bind=id as tab }", &[]),
        ("event", "table -> event.rows { on_select -> event_lst bind=id }", &["unknown-view event_lst"]),
        ("event", "table -> event.rows { on_select -> v bind=key }", &["unknown-field key"]),
        ("event", "toolbar { new \"N\" -> w as tab }", &["unknown-view w"]),
        ("event", "toolbar { new \"N\" -> v bind=zzz }", &["unknown-field zzz"]),
        ("event", "section \"S\" { row { widget text bind=note; widget number bind=id } }", &[]),
        ("event", "section \"S\" { row { widget text bind=notes } }", &["unknown-field notes"]),
        ("event", "section \"S\" { row { widget date bind=id } }", &["widget-does-not-fit date"]),
        ("event", "section \"S\" { row { widget number bind=note } }", &["widget-does-not-fit number"]),
        ("event", "section \"S\" { row { widget textarea bind=id } }", &["widget-does-not-fit textarea"]),
        ("event", "section \"S\" { row { widget checkbox bind=id } }", &["widget-does-not-fit checkbox"]),
        ("event", "section \"S\" { row { widget select bind=id } }", &["no-options select"]),
    ] {
        check(&format!("view v \"V\" over {over} {{ {inner} }}"), expect);
    }
}

#[test]
fn what_the_text_says_counts_before_what_was_saved() {
    let text = "domain event from event@archive { permission viewer read; field id : int; field at : datetime }
        view v \"V\" over event { table -> event.rows { column at \"At\"; column note \"N\" } }";
    check(text, &["unknown-field note"]);
}

#[test]
fn broken_parts_are_reported_once() {
    check("domain a from @shop { permission viewer read; field zzz : int }", &["expected @"]);
    check("domain a from customer@ { permission viewer read; field zzz : int }", &["expected {"]);
    check("domain a from customer@shop { permission viewer read; field name : }", &["expected }"]);
    check("domain a from customer@shop { permission viewer read; relation r : has_many }", &["expected }"]);
    check("view v \"V\" over { }", &["expected {"]);
}

#[test]
fn hints_propose_what_is_there() {
    for (text, expect) in [
        ("domain a from customer@shp { }", "Did you mean `shop`?"),
        ("domain a from custmer@shop { permission viewer read }", "Did you mean `customer`?"),
        ("domain a from region@shop { permission viewer read }", "Did you mean `sales.region`?"),
        ("domain a from CUSTOMER@shop { permission viewer read }", "Did you mean `customer`?"),
        ("domain a from customer@shop { permission viewer read; field emial : string }", "Did you mean `email`?"),
        ("domain a from customer@shop { permission viewer read; field born : string }", "Use `date` or `datetime`."),
        (
            "domain a from customer@shop { permission viewer read; field photo : string }",
            "Remove the field: bytes can't be shown.",
        ),
        ("domain a from country@shop { permission viewer read; field total : int }", "Use one of `id`, `name`."),
        ("view v \"V\" over evnt { }", "Did you mean `event`?"),
        ("domain a from customer@shop { field id : int }", "Add a permission such as `permission role:viewer read`."),
    ] {
        assert_eq!(hint(text), expect, "{text}");
    }
}

#[test]
fn warnings_are_no_errors() {
    let analysis = analyze("domain a from customer@shop { ai \"mood\" \"glad\" }", &catalog());
    assert!(!analysis.has_errors());
    assert!(analysis.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Warning));
    assert_eq!(analysis.diagnostics.len(), 2);
}
