//! What texts say, and what is wrong with them without a database.

use crate::support::{SHOP, shown};
use steward_domains::lower::{Lowered, lower};
use steward_domains::parser::parse;

fn lowered(text: &str) -> Lowered {
    lower(&parse(text))
}

#[test]
fn a_text_becomes_domains_and_views() {
    let lowered = lowered(SHOP);
    assert_eq!(shown(SHOP, &lowered.diagnostics), Vec::<String>::new());
    let domains: Vec<_> = lowered.domains.iter().map(|source| &source.domain).collect();
    let views: Vec<_> = lowered.views.iter().map(|source| &source.view).collect();
    insta::assert_yaml_snapshot!("shop_domains", domains);
    insta::assert_yaml_snapshot!("shop_views", views);
}

#[test]
fn names_and_values_are_read_without_quotes() {
    let field = |inner: &str| {
        let text = format!("domain a from t@d {{ {inner}\n}}");
        let lowered = lowered(&text);
        assert!(lowered.diagnostics.is_empty(), "{text}: {:?}", lowered.diagnostics);
        lowered.domains[0].domain.fields[0].clone()
    };
    for (inner, name) in [
        ("field x : int", "x"),
        ("field \"x y\" : int", "x y"),
        ("field \"x \\\"y\\\"\" : int", "x \"y\""),
        ("field \"x\\\\y\" : int", "x\\y"),
        ("field \"x\\ny\" : int", "x\ny"),
        ("field été_2 : int", "été_2"),
    ] {
        assert_eq!(field(inner).name, name, "{inner}");
    }
    for (words, trusted) in
        [("", None), ("trusted", Some(true)), ("untrusted filterable", Some(false)), ("readonly trusted", Some(true))]
    {
        assert_eq!(field(&format!("field x : text {words}")).trusted, trusted, "{words}");
    }
    let both = lowered("domain a from t@d { field x : text trusted untrusted\n}").diagnostics;
    assert!(both.iter().any(|one| one.message.contains("either `trusted` or `untrusted`")), "{both:?}");
    for (kind, example, op, value) in [
        ("string", "contains USA", "contains", "USA"),
        ("string", "like \"a b\"", "contains", "a b"),
        ("text", "neq \"\"", "ne", ""),
        ("int", "gte -5", "gte", "-5"),
        ("float", "lte 1.5", "lte", "1.5"),
        ("float", "eq 1e3", "eq", "1e3"),
        ("bool", "eq false", "eq", "false"),
        ("date", "gt 2024-02-29", "gt", "2024-02-29"),
        ("datetime", "lt 2024-01-01T10:30:00Z", "lt", "2024-01-01T10:30:00Z"),
        ("datetime", "eq \"2024-01-01 10:30\"", "eq", "2024-01-01 10:30"),
        ("datetime", "eq 2024-01-01", "eq", "2024-01-01"),
    ] {
        let field = field(&format!("field x : {kind} {{ example {example} \"words\" }}"));
        let found = &field.examples[0];
        assert_eq!((found.op.as_str(), found.value.as_str(), found.text.as_str()), (op, value, "words"), "{example}");
    }
    for (source, table) in
        [("t@d", "t"), ("s.t@d", "s.t"), ("\"s t\"@d", "s t"), ("s.\"t u\"@d", "s.t u"), ("\"a.b\"@d", "a.b")]
    {
        assert_eq!(lowered(&format!("domain a from {source} {{}}")).domains[0].domain.table, table, "{source}");
    }
}

#[test]
fn what_a_text_says_wrong_is_reported() {
    let check = |text: &str, expect: &[&str]| {
        assert!(parse(text).diagnostics.is_empty(), "{text}: {:?}", parse(text).diagnostics);
        assert_eq!(shown(text, &lowered(text).diagnostics), expect, "{text}");
    };
    for (inner, expect) in [
        ("field x : integer", &["unknown-kind integer"] as &[_]),
        ("field x : Int", &["unknown-kind Int"]),
        ("field x : int; field x : int", &["duplicate-name x"]),
        ("field x : int; field \"x\" : int", &["duplicate-name \"x\""]),
        ("field \"\" : int", &["empty-name \"\""]),
        ("field x : int readonly readonly", &["duplicate-word readonly"]),
        ("field x : int options=m; meta m from t k l", &[]),
        ("field x : int options=n; meta m from t k l", &["unknown-meta n"]),
        ("field x : int options=m options=m; meta m from t k l", &["duplicate-word m"]),
        ("meta m from t k l; meta m from t k l", &["duplicate-name m"]),
        ("relation r : has_some b bind=x -> y", &["unknown-kind has_some"]),
        ("relation r : has_many b bind=x -> y; relation r : has_one b bind=x -> y", &["duplicate-name r"]),
        ("field r : int; relation r : has_many b bind=x -> y", &["duplicate-name r"]),
        ("permission admin read, reed", &["unknown-right reed"]),
        ("permission admin read, read", &["duplicate-right read"]),
        ("permission admin read; permission admin write", &["duplicate-name admin"]),
        ("field x : int { example contains 5 \"t\" }", &["operator-not-allowed contains"]),
        ("field x : int { example equals 5 \"t\" }", &["unknown-operator equals"]),
        ("field x : int { example eq five \"t\" }", &["value-does-not-fit five"]),
        ("field x : int { example eq 5.5 \"t\" }", &["value-does-not-fit 5.5"]),
        ("field x : float { example like 5 \"t\" }", &["operator-not-allowed like"]),
        ("field x : float { example gt inf \"t\" }", &["value-does-not-fit inf"]),
        ("field x : string { example gt a \"t\" }", &["operator-not-allowed gt"]),
        ("field x : text { example lte a \"t\" }", &["operator-not-allowed lte"]),
        ("field x : bool { example ne true \"t\" }", &["operator-not-allowed ne"]),
        ("field x : bool { example eq 1 \"t\" }", &["value-does-not-fit 1"]),
        ("field x : date { example gte 2024-01-01 \"t\" }", &["operator-not-allowed gte"]),
        ("field x : date { example gt 2023-02-29 \"t\" }", &["value-does-not-fit 2023-02-29"]),
        ("field x : date { example gt yesterday \"t\" }", &["value-does-not-fit yesterday"]),
        ("field x : datetime { example gt 2024-01-01T25:00 \"t\" }", &["value-does-not-fit 2024-01-01T25:00"]),
        ("field x : whatever { example foo 5 \"t\" }", &["unknown-kind whatever", "unknown-operator foo"]),
    ] {
        check(&format!("domain a from t@d {{ {inner} }}"), expect);
    }
    for (inner, expect) in [
        ("toolbar { save \"S\" -> v }", &["target-not-allowed -> v"] as &[_]),
        ("toolbar { save \"S\" }; toolbar { delete \"D\" }", &["duplicate-toolbar toolbar"]),
        ("table -> a.rows { on_select -> v; on_select -> v }", &["duplicate-word on_select -> v"]),
        ("table -> a.rows { column x \"X\"; column x \"X\" }", &["duplicate-column x"]),
        ("table -> a.rows { column x \"X\" width=0 }", &["bad-width 0"]),
        ("table -> a.rows { column x \"X\" width=1.5 }", &["bad-width 1.5"]),
        ("table -> a.rows { column x \"X\" width=99999 }", &["bad-width 99999"]),
        ("section \"S\" { row { widget slider bind=x } }", &["unknown-widget slider"]),
    ] {
        check(&format!("view v \"V\" over a {{ {inner} }}"), expect);
    }
    check("domain a from t@d {}; domain a from u@d {}", &["duplicate-name a"]);
    check("view v \"V\" over a {}; view v \"W\" over a {}", &["duplicate-name v"]);
    check("view a \"V\" over a {}; domain a from t@d {}", &[]);
}

#[test]
fn hints_propose_what_was_meant() {
    for (inner, hint) in [
        ("field x : strin", "Did you mean `string`?"),
        ("field x : INT", "Did you mean `int`?"),
        ("field x : varchar", "Use one of `int`, `float`, `string`, `text`, `bool`, `date`, `datetime`."),
        ("field x : int { example contains 5 \"t\" }", "Use `eq`, `ne`, `gt`, `gte`, `lt`, `lte`."),
        ("field x : bool { example eq yes \"t\" }", "Write `true` or `false`."),
        ("field x : int options=m", "Add `meta m from <table> <key> <label>` to the domain."),
        ("field x : int options=colors; meta colours from t k l", "Did you mean `colours`?"),
        ("relation r : hasmany b bind=x -> y", "Did you mean `has_many`?"),
        ("permission admin wirte", "Did you mean `write`?"),
        (
            "permission hr read",
            "Write `group:hr` for the group, or a role: `admin`, `operator`, `developer` or `viewer`.",
        ),
        (
            "permission \"sales team\" read",
            "Write `group:\"sales team\"` for the group, or a role: `admin`, `operator`, `developer` or `viewer`.",
        ),
    ] {
        let text = format!("domain a from t@d {{ {inner} }}");
        let found = lowered(&text).diagnostics;
        assert_eq!(found[0].hint.as_deref(), Some(hint), "{text}: {found:?}");
    }
}

#[test]
fn broken_texts_keep_what_they_say() {
    let text = "domain a from t@d {\n field x :\n field y : int\n oops\n field z : string {\n relation r : has_many\n}
        junk }\nview v \"V\" over a { section \"S\" { row { widget text bind=x; widget } }";
    let lowered = lowered(text);
    let fields: Vec<&str> = lowered.domains[0].domain.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(fields, ["x", "y", "z"]);
    assert_eq!(lowered.views[0].view.sections[0].rows[0].len(), 1);
}
