//! The canonical layout.

use crate::support::SHOP;
use steward_domains::format::format;
use steward_domains::lower::lower;
use steward_domains::parser::parse;
use steward_domains::render::{render, render_view};

fn check(text: &str, expect: &str) {
    let formatted = format(text);
    assert_eq!(formatted, expect, "{text}");
    assert_eq!(format(&formatted), formatted, "a second time changes nothing");
}

#[test]
fn the_canonical_text_stays_as_it_is() {
    check(SHOP, SHOP);
}

#[test]
fn statements_get_their_layout() {
    for (inner, expect) in [
        ("field   x:int", "field x : int"),
        ("field \"x\" : int", "field x : int"),
        (
            "field \"x y\":int readonly   filterable options = \"m\"",
            "field \"x y\" : int readonly filterable options=m",
        ),
        ("field x:text   untrusted readonly", "field x : text untrusted readonly"),
        ("permission admin read,write ,delete", "permission admin read, write, delete"),
        ("permission group : \"a b\" read", "permission group:\"a b\" read"),
        ("permission role:\"admin\" read", "permission role:admin read"),
        ("permission \"viewer\" read", "permission viewer read"),
        ("relation r:has_many b bind = x->y,z->w", "relation r : has_many b bind=x -> y, z -> w"),
        ("meta m from s . t k l order_by o", "meta m from s.t k l order_by o"),
        ("ai \"scope\"   \"t\"", "ai \"scope\" \"t\""),
        ("ai \"scope\" \"a\tb\"", "ai \"scope\" \"a\\tb\""),
        ("aliases [\n\"a\"\n,\"b\",\n]", "aliases [\"a\", \"b\"]"),
        ("aliases [ ]", "aliases []"),
        ("field x : string { example eq USA \"t\" }", "field x : string { example eq \"USA\" \"t\" }"),
        ("field x : int {example eq \"5\" \"t\"}", "field x : int { example eq 5 \"t\" }"),
        ("field x : int { }", "field x : int {}"),
        ("field x : int; field y : int", "field x : int\n  field y : int"),
        ("field x : int\n\n\n\nfield y : int", "field x : int\n\n  field y : int"),
        ("\n\nfield x : int\n\n", "field x : int"),
        (
            "field x : int {\nexample eq 5 \"t\"; example eq 6 \"u\" }",
            "field x : int {\n    example eq 5 \"t\"\n    example eq 6 \"u\"\n  }",
        ),
        ("field x : int#c", "field x : int #c"),
        ("# a\n\n# b\nfield x : int", "# a\n\n  # b\n  field x : int"),
        ("aliases [ # why\n \"a\" ]", "# why\n  aliases [\"a\"]"),
        ("field x : int { # why\n example eq 5 \"t\" }", "field x : int { # why\n    example eq 5 \"t\"\n  }"),
    ] {
        check(&format!("domain a from t@d {{\n{inner}\n}}"), &format!("domain a from t@d {{\n  {expect}\n}}\n"));
    }
    for (inner, expect) in [
        ("toolbar{save \"S\";delete \"D\"}", "toolbar {\n    save \"S\"\n    delete \"D\"\n  }"),
        ("table->a . rows", "table -> a.rows"),
        (
            "table -> a.rows { column x \"X\" format = number : 0 }",
            "table -> a.rows {\n    column x \"X\" format=number:0\n  }",
        ),
        (
            "table -> a.rows { column x \"X\" format=\"number:0\" }",
            "table -> a.rows {\n    column x \"X\" format=number:0\n  }",
        ),
        ("section \"S\" { row {\n widget text bind = x\n } }", "section \"S\" {\n    row { widget text bind=x }\n  }"),
        ("section \"S\" { row { } }", "section \"S\" {\n    row {}\n  }"),
    ] {
        check(&format!("view v \"V\" over a {{ {inner} }}"), &format!("view v \"V\" over a {{\n  {expect}\n}}\n"));
    }
}

#[test]
fn a_row_that_is_too_long_goes_over_lines() {
    let fields = ["a_rather_long_name", "another_rather_long_name", "a_third_rather_long_name"];
    let widgets: Vec<String> = fields.iter().map(|field| format!("widget text bind={field}")).collect();
    let text = format!("view v \"V\" over a {{ section \"S\" {{ row {{ {} }} }} }}", widgets.join(";"));
    let expect = widgets.join("\n      ");
    check(
        &text,
        &format!("view v \"V\" over a {{\n  section \"S\" {{\n    row {{\n      {expect}\n    }}\n  }}\n}}\n"),
    );
}

#[test]
fn items_are_parted_by_an_empty_line() {
    for (text, expect) in [
        ("", ""),
        ("\n\n", ""),
        ("# only", "# only\n"),
        ("domain a from t@d{};domain b from t@d{}", "domain a from t@d {}\n\ndomain b from t@d {}\n"),
        (
            "domain a from t@d{} # one\n# two\ndomain b from t@d{}",
            "domain a from t@d {} # one\n\n# two\ndomain b from t@d {}\n",
        ),
        ("# head\n\ndomain a from t@d\n# in it\n{\n}", "# head\n\n# in it\ndomain a from t@d {}\n"),
        ("domain a from \"s\".\"t\"@\"d\" {}", "domain a from s.t@d {}\n"),
    ] {
        check(text, expect);
    }
}

#[test]
fn broken_items_stay_as_they_are() {
    for (text, expect) in [
        ("domain a from t@d {field   x int}", "domain a from t@d {field   x int}\n"),
        (
            "domain a from t@d {feild x}   domain   b from t@d {field x:int}",
            "domain a from t@d {feild x}\n\ndomain b from t@d {\n  field x : int\n}\n",
        ),
        ("oops   oops\n\n\ndomain a from t@d{}", "oops   oops\n\ndomain a from t@d {}\n"),
        ("domain a from t@d { }oops", "domain a from t@d {}\n\noops\n"),
        ("}domain a from t@d { }", "}\n\ndomain a from t@d {}\n"),
        ("domain   a}", "domain   a\n\n}\n"),
        ("domain a from t@d {  \n", "domain a from t@d {\n"),
    ] {
        check(text, expect);
    }
}

#[test]
fn models_are_written_as_canonical_text() {
    let lowered = lower(&parse(SHOP));
    for source in &lowered.domains {
        let text = render(&source.domain);
        assert_eq!(format(&text), text);
        assert_eq!(lower(&parse(&text)).domains[0].domain, source.domain);
    }
    for source in &lowered.views {
        let text = render_view(&source.view);
        assert_eq!(format(&text), text);
        assert_eq!(lower(&parse(&text)).views[0].view, source.view);
    }
    insta::assert_snapshot!("rendered_domain", render(&lowered.domains[0].domain));
    insta::assert_snapshot!("rendered_view", render_view(&lowered.views[0].view));
}
