//! Trees and what the parser reports.

use crate::support::{SHOP, shown};
use steward_domains::parser::parse;

fn domain(inner: &str) -> String {
    format!("domain a from t@d {{ {inner} }}")
}

fn view(inner: &str) -> String {
    format!("view v \"V\" over a {{ {inner} }}")
}

fn check(text: &str, expect: &[&str]) {
    let parse = parse(text);
    assert_eq!(parse.tree().text().to_string(), text, "the tree holds the text");
    assert_eq!(shown(text, &parse.diagnostics), expect, "{text}\n{:#?}", parse.diagnostics);
}

#[test]
fn right_texts_have_no_diagnostics() {
    check(SHOP, &[]);
    for text in [
        "",
        "  \n# only a comment",
        "\u{feff}domain a from t@d {}",
        "domain a from t@d\n{\n}",
        "domain a from s.t@d {}; view v \"V\" over a {}",
        "domain \"a b\" from \"s\".\"t 1\"@\"d-1\" {}",
        "domain größe from 表@données {}",
        "domain हिन्दी from t@d {}",
        "domain domain from from@view {}",
        "view view \"over\" over over {}",
        "domain a from t@d {}\r\ndomain b from t@d {}",
    ] {
        check(text, &[]);
    }
    for inner in [
        "permission * read",
        "permission read read, write, delete",
        "field field : int readonly filterable options=options",
        "field a : int { }",
        "field a : int\n{ example eq -5 \"t\" }",
        "field a : datetime { example gt 2024-01-01T10:00:00+02:00 \"t\"; example lt 5.5 \"u\" }",
        "relation bind : belongs_to bind bind=bind -> bind, a->b",
        "meta from from from from order_by order_by order_by",
        "ai \"scope\" \"a \\\"b\\\" \\\\ \\n\"",
        "aliases []",
        "aliases [ \"a\",\n \"b\",\n ]",
        "; ; field a : int;;",
        "field a : int # {",
    ] {
        check(&format!("domain a from t@d {{ {inner}\n}}"), &[]);
    }
    for inner in [
        "toolbar { new \"N\" -> v as tab bind=a; refresh \"R\"; save \"S\"; delete \"D\" }",
        "table -> a.rows",
        "table -> \"a b\".rows { on_select -> v; column a \"A\" format=number:0 width=5 }",
        "table -> a.rows { column a \"A\" format=\"0.0\"; column b \"B\" format=money:EUR:x }",
        "section \"S\" { row { } row_separator: }",
    ] {
        let expect: &[&str] = if inner.contains("row_separator") { &["unexpected row_separator"] } else { &[] };
        check(&view(inner), expect);
    }
}

#[test]
fn mistakes_in_domains_are_reported_where_they_are() {
    // Where something is missing, the next token on the line is what stands in its place.
    for (inner, expect) in [
        ("permission", &["expected }"] as &[_]),
        ("permission admin", &["expected }"]),
        ("permission admin read write", &["unexpected write"]),
        ("permission admin read,", &["expected }"]),
        ("permission read, write", &["expected ,"]),
        ("field", &["expected }"]),
        ("field a", &["expected }"]),
        ("field a int", &["expected int"]),
        ("field a :", &["expected }"]),
        ("field a : int readonli", &["unknown-word readonli"]),
        ("field a : int nullable=yes filterable", &["unknown-word nullable"]),
        ("field a : int field b : int", &["missing-separator field"]),
        ("field 2024 : int", &["unquoted-name 2024"]),
        ("field a-b : int", &["expected -"]),
        ("field unit price : int", &["expected price"]),
        ("field a : int options", &["expected }"]),
        ("field a : int options=", &["expected }"]),
        ("field a : int { examples eq 5 \"t\" }", &["unknown-statement examples"]),
        ("field a : int { example 5 \"t\" }", &["expected 5"]),
        ("field a : int { example eq \"t\" }", &["expected }"]),
        ("field a : int { example eq 5 words }", &["expected words"]),
        ("relation r belongs_to b bind=x -> y", &["expected belongs_to"]),
        ("relation r : belongs_to b", &["expected }"]),
        ("relation r : belongs_to b bind x -> y", &["expected x"]),
        ("relation r : belongs_to b bind=x = y", &["expected ="]),
        ("relation r : belongs_to b bind=x -> y,", &["expected }"]),
        ("meta m t k l", &["expected t"]),
        ("meta m from t k", &["expected }"]),
        ("meta m from t k l order_by", &["expected }"]),
        ("meta m from s. k l", &["expected }"]),
        ("ai scope \"t\"", &["expected scope"]),
        ("ai \"scope\"", &["expected }"]),
        ("ai \"scope\" \"a \\q b\"", &["unknown-escape \\q"]),
        ("ai \"scope\" \"open", &["unclosed-block {", "unterminated-string \"open }"]),
        ("aliases \"a\"", &["expected \"a\""]),
        ("aliases [ \"a\" \"b\" ]", &["expected \"b\""]),
        ("aliases [ a, \"b\" ]", &["unexpected a"]),
        ("aliases [ \"a\"\n field b : int", &["expected"]),
        ("colum a : int", &["unknown-statement colum"]),
        ("feild a : int { example eq 5 \"t\" }; field b : int", &["unknown-statement feild"]),
        ("{ field a : int }", &["unknown-statement {"]),
        ("§", &["unknown-statement §"]),
    ] {
        check(&domain(inner), expect);
    }
}

#[test]
fn mistakes_in_views_are_reported_where_they_are() {
    for (inner, expect) in [
        ("toolbar new \"N\"", &["expected new"] as &[_]),
        ("toolbar { new }", &["expected }"]),
        ("toolbar { new \"N\" refresh \"R\" }", &["missing-separator refresh"]),
        ("toolbar { new \"N\" -> }", &["expected }"]),
        ("toolbar { new \"N\" -> v as window }", &["expected window"]),
        ("toolbar { new \"N\" -> v in tab }", &["unknown-word in", "unknown-word tab"]),
        ("toolbar { reload \"R\" }", &["unknown-statement reload"]),
        ("table a.rows { column a \"A\" }", &["expected a"]),
        ("table -> a { column a \"A\" }", &["expected {"]),
        ("table -> a.row { column a \"A\" }", &["expected row"]),
        ("table -> a.rows { on_select v }", &["expected v"]),
        ("table -> a.rows { column a }", &["expected }"]),
        ("table -> a.rows { column a \"A\" width=x }", &["expected x"]),
        ("table -> a.rows { column a \"A\" format=number: }", &["expected }"]),
        ("table -> a.rows { column a \"A\" colour=red width=3 }", &["unknown-word colour"]),
        ("section { row { } }", &["expected {"]),
        ("section \"S\"", &["expected }"]),
        ("section \"S\" { widget text bind=a }", &["unknown-statement widget"]),
        ("section \"S\" { row { widget text } }", &["expected }"]),
        ("section \"S\" { row { widget bind=a } }", &["expected ="]),
        ("section \"S\" { row { widget text bind=a\n section \"T\" { }", &["unclosed-block {", "unclosed-block {"]),
    ] {
        check(&view(inner), expect);
    }
}

#[test]
fn mistakes_outside_and_around_items_are_reported_where_they_are() {
    for (text, expect) in [
        ("}", &["unexpected }"] as &[_]),
        ("hello", &["unexpected hello"]),
        ("domian a from t@d { field a : int }\ndomain b from t@d { }", &["unexpected domian"]),
        ("field a : int", &["unexpected field"]),
        ("toolbar { }", &["unexpected toolbar"]),
        ("domain", &["expected"]),
        ("domain a", &["expected"]),
        ("domain a form t@d { }", &["expected form"]),
        ("domain a from t { }", &["expected {"]),
        ("domain a from @d { }", &["expected @"]),
        ("domain a from t@d", &["expected"]),
        ("domain a from t@d extra { field a : int }", &["expected extra"]),
        ("domain a from t@d {", &["unclosed-block {"]),
        ("domain a from t@d { field a : int\ndomain b from t@d { }", &["unclosed-block {"]),
        ("domain a from t@d { field a : int { example eq 5 \"t\"\nfield b : int }", &["unclosed-block {"]),
        ("domain a from t@d { } }", &["unexpected }"]),
        ("view v over a { }", &["expected over"]),
        ("view v \"V\" a { }", &["expected a"]),
        ("view v \"V over a {\n}", &["unterminated-string \"V over a {", "expected", "unexpected }"]),
    ] {
        check(text, expect);
    }
}

#[test]
fn messages_say_what_to_do() {
    for (text, message, hint) in [
        (domain("feild a : int"), "`feild` begins no statement of a domain.", "Did you mean `field`?"),
        (domain("field a : int readonli"), "`readonli` means nothing here.", "Did you mean `readonly`?"),
        (domain("field 2024 : int"), "`2024` begins with a digit.", "Put the name into quotes: `\"2024\"`."),
        (
            domain("field a : int x"),
            "`x` means nothing here.",
            "A field can be `readonly`, `filterable`, `trusted`, `untrusted` or `options`.",
        ),
        (domain("aliases [ a ]"), "An alias stands between quotes.", "Write `\"a\"`."),
        (
            "veiw v \"V\" over a { }".to_owned(),
            "A text consists of domains and views, and this begins neither.",
            "Did you mean `view`?",
        ),
        ("domain a from t@d {".to_owned(), "This `{` of a domain is not closed.", "Add `}` after its last statement."),
        (
            domain("field a$b : int"),
            "Here `:` is expected, not `$`.",
            "Put names with other characters than letters, digits and `_` into quotes.",
        ),
    ] {
        let found = &parse(&text).diagnostics[0];
        assert_eq!((found.message.as_str(), found.hint.as_deref()), (message, Some(hint)), "{text}");
    }
}

#[test]
fn trees_have_a_shape() {
    let tree = |text: &str| format!("{:#?}", parse(text).tree());
    insta::assert_snapshot!(
        "domain",
        tree(
            "domain a from s.t@d { # note\n  field \"x y\" : int readonly options=m { example eq 5 \"five\" }\n  relation r : has_many b bind=x -> y, z -> w\n}"
        )
    );
    insta::assert_snapshot!(
        "view",
        tree(
            "view v \"V\" over a { toolbar { new \"N\" -> w bind=x as tab }\n table -> a.rows { column x \"X\" width=5 format=number:0 } }"
        )
    );
    insta::assert_snapshot!("broken", tree("domain a from t@d { feild x : int { }\n field y :\n}\n}\nview v"));
}
