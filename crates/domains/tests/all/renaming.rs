//! New names.

use crate::support::{SHOP, cursor};
use steward_domains::assist::{Edit, RenameError, rename};
use steward_domains::lower::lower;
use steward_domains::parser::parse;

fn changed(text: &str, edits: &[Edit]) -> String {
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.range.0..edit.range.1, &edit.insert);
    }
    text
}

#[test]
fn all_places_of_a_name_change() {
    let check = |text: &str, new: &str, expect: &str| {
        let (text, offset) = cursor(text);
        let edits = rename(&text, offset, new).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(changed(&text, &edits), expect, "{text}");
    };
    for (text, new, expect) in [
        (
            "domain a| from t@d { }\nview v \"V\" over a { table -> a.rows { } }",
            "b",
            "domain b from t@d { }\nview v \"V\" over b { table -> b.rows { } }",
        ),
        (
            "domain a from t@d { }\nview v \"V\" over |a { }",
            "b c",
            "domain \"b c\" from t@d { }\nview v \"V\" over \"b c\" { }",
        ),
        ("domain a from a@a { field a| : int }", "x", "domain a from a@a { field x : int }"),
        ("domain a from t@d { field \"x| y\" : int }", "z", "domain a from t@d { field z : int }"),
        (
            "domain a from t@d { field x| : int; relation r : has_many b bind=x -> x }\ndomain b from t@d { field x : int }\nview v \"V\" over a { section \"S\" { row { widget text bind=x } } table -> b.rows { column x \"X\" } }",
            "y",
            "domain a from t@d { field y : int; relation r : has_many b bind=y -> x }\ndomain b from t@d { field x : int }\nview v \"V\" over a { section \"S\" { row { widget text bind=y } } table -> b.rows { column x \"X\" } }",
        ),
        (
            "domain a from t@d { relation r : has_many b bind=x -> k }\ndomain b from t@d { field k : int }\nview v \"V\" over a { table -> b.rows { on_select -> v bind=k|; column k \"K\" } }",
            "key",
            "domain a from t@d { relation r : has_many b bind=x -> key }\ndomain b from t@d { field key : int }\nview v \"V\" over a { table -> b.rows { on_select -> v bind=key; column key \"K\" } }",
        ),
        (
            "domain a from t@d { field x : int options=m|; meta m from t k l }\ndomain b from t@d { meta m from t k l }",
            "n",
            "domain a from t@d { field x : int options=n; meta n from t k l }\ndomain b from t@d { meta m from t k l }",
        ),
        (
            "domain a from t@d { relation r| : has_many a bind=x -> y }",
            "s",
            "domain a from t@d { relation s : has_many a bind=x -> y }",
        ),
        (
            "view v| \"V\" over a { toolbar { new \"N\" -> v as tab } table -> a.rows { on_select -> v } }",
            "w",
            "view w \"V\" over a { toolbar { new \"N\" -> w as tab } table -> a.rows { on_select -> w } }",
        ),
        ("domain a from t@d { field x| : int }", "x", "domain a from t@d { field x : int }"),
    ] {
        check(text, new, expect);
    }
}

#[test]
fn what_cannot_be_renamed_is_said() {
    let check = |text: &str, new: &str, expect: RenameError| {
        let (text, offset) = cursor(text);
        assert_eq!(rename(&text, offset, new), Err(expect), "{text}");
    };
    let taken = |what| RenameError::Taken { what, name: "y".to_owned() };
    check("dom|ain a from t@d { }", "y", RenameError::NoName);
    check("domain a from t|@d { }", "y", RenameError::NoName);
    check("|", "y", RenameError::NoName);
    check("domain a| from t@d { }", "  ", RenameError::BadName);
    check("domain a| from t@d { }", "x\ny", RenameError::BadName);
    check("domain a| from t@d { }; domain y from t@d { }", "y", taken("domain"));
    check("domain a from t@d { field x| : int; field y : int }", "y", taken("field"));
    check("domain a from t@d { field x| : int; relation y : has_many a bind=x -> x }", "y", taken("relation"));
    check("domain a from t@d { meta x| from t k l; meta y from t k l }", "y", taken("meta"));
    check("view v \"V\" over a| { }", "y", RenameError::NotDefined { what: "domain", name: "a".to_owned() });
}

#[test]
fn the_meaning_stays_but_for_the_name() {
    let offset = SHOP.find("customer from").expect("the domain");
    let edits = rename(SHOP, offset, "buyer").expect("a new name");
    let text = changed(SHOP, &edits);
    let (before, after) = (lower(&parse(SHOP)), lower(&parse(&text)));
    assert_eq!(after.domains[0].domain.name, "buyer");
    assert_eq!(after.domains[0].domain.fields, before.domains[0].domain.fields);
    assert!(after.views.iter().all(|source| source.view.domain == "buyer"));
    assert_eq!(after.domains[1].domain.relations[0].domain, "buyer");
    assert_eq!(after.domains[1].domain.table, before.domains[1].domain.table);
}
