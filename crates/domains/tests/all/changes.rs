//! Proposed changes: who may make them, what they say, and that the second of two people is told.

use serde_json::{Map, Value, json};
use steward_domains::change::{Change, ChangeError, Options, validate};
use steward_domains::query::lower::Dialect;

use crate::music::{DIALECTS, Music, roles};

fn options() -> Options {
    let mut options = Options::default();
    options.add("track", "genre_id", vec![json!(1), json!(2), json!(3), json!(4)]);
    options
}

fn check(change: Value, roles_of: &[&str], expect: &[&str]) {
    let music = Music::open();
    let change: Change = serde_json::from_value(change).expect("a change");
    let errors = validate(&change, &music.domains, &roles(roles_of), &options()).err().unwrap_or_default();
    let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expect.len(), "{change:?}: {found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.contains(expect), "{found}\n not {expect}");
    }
}

#[test]
fn who_may_change_what() {
    let update = |domain: &str, set: Value| json!({"change": "update", "domain": domain, "key": 1, "set": set});
    check(update("album", json!({"title": "x"})), &["operator"], &[]);
    check(update("album", json!({"title": "x"})), &["viewer"], &["change: your roles may not change rows of `album`"]);
    check(json!({"change": "delete", "domain": "album", "key": 1}), &[], &["may not delete rows of `album`"]);
    check(json!({"change": "insert", "domain": "genre", "set": {"name": "x"}}), &[], &["may not add rows to `genre`"]);
    check(update("salary", json!({"amount": 1})), &["operator"], &["domain: there is no domain `salary`"]);
    check(update("salary", json!({"amount": 1})), &["hr"], &[]);
    check(update("album", json!({"id": 7})), &["operator"], &["set.id: `id` can't be set"]);
    check(
        update("album", json!({"titel": "x"})),
        &["operator"],
        &["set.titel: `album` has no field `titel`; did you mean `title`?"],
    );
    check(update("album", json!({"artist.name": "x"})), &["operator"], &["has no field `artist.name`"]);
    check(update("album", json!({"price": "dear"})), &["operator"], &["\"dear\" is no number for `price`"]);
    check(update("album", json!({"released": "2024"})), &["operator"], &["is no date for `released`"]);
    check(update("album", json!({"released": "2024-02-30"})), &["operator"], &["is no date for `released`"]);
    check(update("invoice", json!({"issued": "soon"})), &["operator"], &["is no time for `issued`"]);
    check(update("album", json!({"title": null})), &["operator"], &["`title` needs a value"]);
    check(update("album", json!({"price": null})), &["operator"], &[]);
    check(update("album", json!({"title": "a\0"})), &["operator"], &["NUL character"]);
    check(update("album", json!({"title": "x".repeat(100_001)})), &["operator"], &["longer than 100000 bytes"]);
    check(update("album", json!({})), &["operator"], &["set: no field is set"]);
    check(update("album", json!({"title": "a", "Title": "b"})), &["operator"], &["`title` is given twice"]);
    check(update("track", json!({"genre_id": 9})), &["operator"], &["9 is no choice for `genre_id`; use 1, 2, 3, 4"]);
    check(update("track", json!({"genre_id": "2"})), &["operator"], &[]);
    check(
        update("line", json!({"quantity": 2})),
        &["operator"],
        &["key: it should be an object with invoice_id, number"],
    );
    check(
        json!({"change": "update", "domain": "line", "key": {"invoice_id": 1}, "set": {"quantity": 2}}),
        &["operator"],
        &["key.number: `number` needs a value"],
    );
    check(
        json!({"change": "update", "domain": "line", "key": {"invoice_id": 1, "number": 1, "x": 1}, "set": {"quantity": 2}}),
        &["operator"],
        &["there is no `x` here; the key is invoice_id, number"],
    );
    check(
        json!({"change": "update", "domain": "line", "key": {"invoice_id": 1, "number": 1}, "set": {"number": 2}}),
        &["operator"],
        &["`number` can't be set"],
    );
    check(update("entry", json!({"level": "x"})), &["operator"], &["no key of `entry` is known"]);
    assert!(
        serde_json::from_value::<Change>(
            json!({"change": "update", "domain": "a", "key": 1, "set": {}, "roles": ["hr"]})
        )
        .is_err()
    );
}

fn current(
    music: &Music,
    change: &Value,
) -> (steward_domains::change::CheckedChange, Option<steward_domains::change::CurrentRow>) {
    let change: Change = serde_json::from_value(change.clone()).expect("a change");
    let checked = validate(&change, &music.domains, &roles(&["operator"]), &options()).expect("a valid change");
    let read = checked.read(Dialect::Sqlite);
    let row = read.and_then(|read| music.run(&read.sql, &read.values).first().map(|row| read.row(row)));
    (checked, row)
}

fn apply(music: &Music, change: &Value) -> usize {
    let (checked, row) = current(music, change);
    let (sql, values) = checked.lower(row.as_ref(), Dialect::Sqlite).expect("a statement");
    write(music, &sql, &values)
}

fn write(music: &Music, sql: &str, values: &[Value]) -> usize {
    let before = music.run("SELECT total_changes()", &[])[0][0].as_u64().expect("a number");
    music.run(sql, values);
    let after = music.run("SELECT total_changes()", &[])[0][0].as_u64().expect("a number");
    usize::try_from(after - before).expect("few")
}

fn changes() -> Vec<Value> {
    vec![
        json!({"change": "update", "domain": "album", "key": 2, "set": {"title": "back in black", "price": 0.1, "released": null}}),
        json!({"change": "update", "domain": "invoice", "key": {"id": 3}, "set": {"issued": "2024-01-31T10:30", "state": "paid"}}),
        json!({"change": "update", "domain": "account", "key": 3, "set": {"points": 251}}),
        json!({"change": "update", "domain": "line", "key": {"invoice_id": 2, "number": 1}, "set": {"quantity": "9"}}),
        json!({"change": "update", "domain": "shipment", "key": "S01", "set": {"sent": "2024-01-31"}}),
        json!({"change": "update", "domain": "artist", "key": 1, "set": {"active": "false", "country": "'; DROP TABLE artists; --"}}),
        json!({"change": "update", "domain": "odd", "key": 1, "set": {"select": "\"; --", "c;d -- e'f": 5}}),
        json!({"change": "delete", "domain": "customer", "key": 4}),
        json!({"change": "delete", "domain": "account", "key": 2}),
        json!({"change": "insert", "domain": "shipment", "set": {"code": "X1", "invoice_id": 1, "line_number": 1, "sent": null}}),
        json!({"change": "insert", "domain": "odd", "set": {"the \"key\"": 9, "a.b": "v"}}),
    ]
}

#[test]
fn statements_change_one_row() {
    let music = Music::open();
    let mut text = String::new();
    for change in changes() {
        let (checked, row) = current(&music, &change);
        text.push_str(&format!("{change}\n"));
        for difference in checked.difference(row.as_ref()) {
            text.push_str(&format!("  {}: {} -> {}\n", difference.field, difference.before, difference.after));
        }
        for dialect in DIALECTS {
            let read = checked
                .read(dialect)
                .map(|read| format!("  {}: {} {}\n", dialect.name(), read.sql, json!(read.values)));
            text.push_str(&read.unwrap_or_default());
            let (sql, values) = checked.lower(row.as_ref(), dialect).expect("a statement");
            text.push_str(&format!("  {}: {sql} {}\n", dialect.name(), json!(values)));
        }
        assert_eq!(apply(&music, &change), 1, "{change}");
    }
    assert_eq!(
        music.run("SELECT title, price, released FROM albums WHERE id = 2", &[]),
        vec![vec![json!("back in black"), json!(0.1), Value::Null]]
    );
    assert_eq!(music.run("SELECT issued FROM invoices WHERE id = 3", &[])[0][0], json!("2024-01-31 10:30:00"));
    assert_eq!(
        music.run("SELECT points, version FROM accounts WHERE customer_id = 3", &[]),
        vec![vec![json!(251), json!(4)]]
    );
    assert_eq!(music.run("SELECT count(*) FROM artists", &[])[0][0], json!(8));
    insta::assert_snapshot!(text);
}

#[test]
fn the_second_of_two_changes_nothing() {
    for (change, other) in [
        (
            json!({"change": "update", "domain": "album", "key": 2, "set": {"title": "Mine"}}),
            "UPDATE albums SET title = 'back in black' WHERE id = 2",
        ),
        (
            json!({"change": "update", "domain": "album", "key": 1, "set": {"price": 5}}),
            "UPDATE albums SET price = 4 WHERE id = 1",
        ),
        (
            json!({"change": "update", "domain": "album", "key": 2, "set": {"price": 5}}),
            "UPDATE albums SET price = NULL WHERE id = 2",
        ),
        (
            json!({"change": "update", "domain": "album", "key": 2, "set": {"price": 5}}),
            "DELETE FROM albums WHERE id = 2",
        ),
        (json!({"change": "delete", "domain": "album", "key": 2}), "UPDATE albums SET rating = 1 WHERE id = 2"),
        (
            json!({"change": "update", "domain": "account", "key": 1, "set": {"points": 5}}),
            "UPDATE accounts SET login = 'x', version = 2 WHERE customer_id = 1",
        ),
    ] {
        let music = Music::open();
        let (checked, row) = current(&music, &change);
        let (sql, values) = checked.lower(row.as_ref(), Dialect::Sqlite).expect("a statement");
        assert_eq!(write(&music, other, &[]), 1);
        assert_eq!(write(&music, &sql, &values), 0, "{change} after {other}");
    }
    // A change of another field is no conflict.
    let music = Music::open();
    let (checked, row) =
        current(&music, &json!({"change": "update", "domain": "album", "key": 2, "set": {"price": 5}}));
    let (sql, values) = checked.lower(row.as_ref(), Dialect::Sqlite).expect("a statement");
    write(&music, "UPDATE albums SET rating = 1 WHERE id = 2", &[]);
    assert_eq!(write(&music, &sql, &values), 1);
}

#[test]
fn a_row_must_have_been_shown() {
    let music = Music::open();
    let (checked, row) =
        current(&music, &json!({"change": "update", "domain": "album", "key": 2, "set": {"price": 5}}));
    assert_eq!(checked.lower(None, Dialect::Sqlite), Err(ChangeError::NoCurrentRow));
    assert!(checked.lower(row.as_ref(), Dialect::Sqlite).is_ok_and(|(sql, _)| sql.starts_with("UPDATE ")));
    let (other, _) = current(&music, &json!({"change": "update", "domain": "album", "key": 2, "set": {"title": "x"}}));
    assert_eq!(other.lower(row.as_ref(), Dialect::Sqlite), Err(ChangeError::OtherRow));
    let (_, missing) = current(&music, &json!({"change": "delete", "domain": "album", "key": 999}));
    assert_eq!(missing, None);
}

#[test]
fn only_what_differs_is_shown() {
    let music = Music::open();
    for (set, expect) in [
        (json!({"price": 9.99}), json!([])),
        (json!({"price": "9.99", "rating": 5.0}), json!([])),
        (json!({"price": 10, "title": "Back in Black"}), json!([["price", 9.99, 10]])),
        (json!({"rating": null}), json!([["rating", 5, null]])),
    ] {
        let (checked, row) = current(&music, &json!({"change": "update", "domain": "album", "key": 2, "set": set}));
        let found: Vec<Value> =
            checked.difference(row.as_ref()).iter().map(|d| json!([d.field, d.before, d.after])).collect();
        assert_eq!(json!(found), expect, "{set}");
    }
    let (checked, row) = current(&music, &json!({"change": "delete", "domain": "genre", "key": 2}));
    let found: Vec<Value> =
        checked.difference(row.as_ref()).iter().map(|d| json!([d.field, d.before, d.after])).collect();
    assert_eq!(json!(found), json!([["id", 2, null], ["name", "Metal", null]]));
    let (checked, _) = current(&music, &json!({"change": "insert", "domain": "genre", "set": {"name": "Folk"}}));
    assert_eq!(checked.difference(None).len(), 1);
    assert!(steward_domains::change::difference(&[], &Map::new(), &Map::new()).is_empty());
}
