//! What a query gets told, sentence by sentence.

use serde_json::{Value, json};
use steward_domains::query::{Query, QueryError, validate};

use crate::music::{Music, roles};

fn errors(music: &Music, query: &Value) -> Vec<QueryError> {
    match Query::parse(query) {
        Err(errors) => errors,
        Ok(query) => validate(&query, &music.domains, &roles(&["viewer"])).err().unwrap_or_default(),
    }
}

fn check(query: Value, expect: &[&str]) {
    let music = Music::open();
    let found: Vec<String> = errors(&music, &query).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expect.len(), "{query}: {found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.contains(expect), "{query}\n  says    {found}\n  not     {expect}");
        assert!(!found.contains('\n'), "{found}");
    }
}

#[test]
fn names() {
    check(
        json!({"domain": "albun"}),
        &["domain: there is no domain `albun`; did you mean `album`? known are artist, album"],
    );
    check(
        json!({"domain": "album", "fields": ["titel"]}),
        &["fields[0]: `album` has no field `titel`; did you mean `title`?"],
    );
    check(json!({"domain": "album", "fields": ["title", "name"]}), &["did you mean `artist.name`?"]);
    check(
        json!({"domain": "album", "fields": ["artits.name"]}),
        &["`album` has no relation `artits`; did you mean `artist`?"],
    );
    check(json!({"domain": "album", "fields": ["artist"]}), &["`artist` is a relation; name a field of it"]);
    check(
        json!({"domain": "album", "fields": ["artist.albums.title"]}),
        &["`artist.albums.title` is in a list of rows; ask the domain `album` itself"],
    );
    check(
        json!({"domain": "customer", "fields": ["referrer.referrer.referrer.referrer.referrer.referrer.referrer.name"]}),
        &["leads over more than 6 relations"],
    );
    let number = |field: &str| json!({"domain": "line", "aggregate": [{"fn": "sum", "field": field, "as": "n"}]});
    check(number("price * quantty"), &["`line` has no field `quantty`; did you mean `quantity`?"]);
    check(number("price *"), &["`price *` can't be read as a formula: it breaks off"]);
    check(number("2 * 3"), &["a formula needs a field"]);
    check(number("price * track.name"), &["a formula needs numbers; `track.name` holds text"]);
    check(number("price * track"), &["`track` is a relation; name a field of it"]);
    check(
        json!({"domain": "invoice", "aggregate": [{"fn": "sum", "field": "total * lines.price", "as": "n"}]}),
        &["the fields of a formula should be of the same rows; ask the domain `line` itself"],
    );
    let compared = |op: &str, other: &str| json!({"domain": "line", "where": [{"field": "price", "op": op, "value": {"field": other}}]});
    check(compared("gt", "prise"), &["`line` has no field `prise`; did you mean `price`?"]);
    check(compared("gt", "track.name"), &["`price` holds number and `track.name` text; they can't be compared by gt"]);
    check(compared("gt", "track"), &["`track` is a relation; name a field of it"]);
    check(compared("gt", "shipments.sent"), &["are not of the same row, so they can't be compared"]);
    check(json!({"domain": "line", "where": [{"not": []}]}), &["where[0]: `not` needs a condition at least"]);
    check(
        json!({"domain": "invoice", "aggregate": [{"fn": "sum", "field": "lines.quantity", "as": "n"}],
            "where": [{"field": "lines.price", "op": "gt", "value": {"field": "total"}}]}),
        &["`lines.price` can't be compared with a field outside of its list where the list is summed up"],
    );
    check(compared("in", "quantity"), &["`in` can't compare two fields"]);
    check(
        json!({"domain": "customer", "where": [{"field": "name", "op": "eq", "value": {"field": "email"}}]}),
        &["email"],
    );
    check(
        json!({"domain": "album", "order": "pric"}),
        &["order[0]: `album` has no field `pric`; did you mean `price`?"],
    );
    check(json!({"domain": "album", "order": "tracks.seconds"}), &["rows can't be ordered by `tracks.seconds`"]);
    check(
        json!({"domain": "artist", "group": "albums.title", "aggregate": "count"}),
        &["ask the domain `album` itself"],
    );
    check(json!({"domain": "album", "with": "songs"}), &["with[0]: `album` has no relation `songs`"]);
    check(json!({"domain": "album", "with": ["tracks", "tracks"]}), &["`tracks` is embedded twice"]);
    check(
        json!({"domain": "album", "group": "title", "aggregate": "count", "order": "price"}),
        &["order[0]: there is no `price` here"],
    );
    check(json!({"domain": "album", "fields": ["x"], "order": "y"}), &["fields[0]", "order[0]"]);
}

#[test]
fn what_may_not_be_read_does_not_exist() {
    check(json!({"domain": "salary"}), &["there is no domain `salary`"]);
    check(json!({"domain": "nothing"}), &["there is no domain `nothing`"]);
    check(
        json!({"domain": "customer", "fields": ["salaries.amount"]}),
        &["`customer` has no relation `salaries`; known are"],
    );
    check(
        json!({"domain": "customer", "where": {"salaries.amount": {"gt": 1}}}),
        &["`customer` has no relation `salaries`"],
    );
    check(json!({"domain": "customer", "with": "salaries"}), &["`customer` has no relation `salaries`"]);
    check(
        json!({"domain": "customer", "aggregate": {"sum": "salaries.amount"}}),
        &["`customer` has no relation `salaries`"],
    );
    let music = Music::open();
    for query in
        [json!({"domain": "salary"}), json!({"domain": "salarx"}), json!({"domain": "customer", "fields": ["x"]})]
    {
        let said: Vec<String> = errors(&music, &query).iter().map(ToString::to_string).collect();
        let said = said.join("\n").replace("`salary`", "").replace("`salarx`", "");
        assert!(!said.contains("salar"), "{said}");
    }
    let query =
        Query::parse(&json!({"domain": "customer", "fields": ["name"], "where": {"salaries.amount": {"gt": 15}}}))
            .expect("a query");
    assert!(validate(&query, &music.domains, &roles(&["hr"])).is_ok());
    assert!(validate(&query, &music.domains, &roles(&["HR"])).is_err());
    assert!(validate(&query, &music.domains, &roles(&["admin"])).is_err());
}

#[test]
fn comparisons_and_values() {
    let compare = |field: &str, op: &str, value: Value| json!({"domain": "album", "where": [{"field": field, "op": op, "value": value}]});
    check(
        compare("title", "gt", json!("a")),
        &["where[0]: `gt` does not fit `title`, which holds text; use eq, ne, contains, starts, in, is_null, not_null"],
    );
    check(compare("price", "contains", json!("9")), &["`contains` does not fit `price`, which holds number"]);
    check(compare("rating", "eq", json!("many")), &["\"many\" is no whole number for `rating`; write it as 12"]);
    check(compare("rating", "eq", json!(2.5)), &["2.5 is no whole number for `rating`"]);
    check(compare("rating", "eq", json!(1e300)), &["is no whole number for `rating`"]);
    check(compare("price", "gt", json!("cheap")), &["\"cheap\" is no number for `price`; write it as 1.5"]);
    check(compare("price", "gt", json!("inf")), &["\"inf\" is no number"]);
    check(
        compare("released", "gt", json!("last year")),
        &["\"last year\" is no date for `released`; write it as \"2024-01-31\""],
    );
    check(compare("released", "gt", json!("31.12.2020")), &["is no date for `released`"]);
    check(compare("released", "eq", json!("2023-02-29")), &["is no date for `released`"]);
    check(compare("title", "eq", json!({"a": 1})), &["an object is no text for `title`"]);
    check(compare("title", "contains", json!(["a"])), &["a list is no text for `title`"]);
    check(compare("title", "gt", Value::Null), &["does not fit"]);
    check(compare("price", "gt", Value::Null), &["`price` needs a value, such as 1.5"]);
    check(compare("price", "in", json!([])), &["`price` needs a value, such as [1.5]"]);
    check(compare("price", "between", json!([1])), &["`price` needs a value, such as [1.5, 1.5]"]);
    check(compare("title", "eq", json!("a\0b")), &["has a NUL character"]);
    check(compare("title", "eq", json!("x".repeat(501))), &["longer than 500 characters"]);
    check(compare("title", "in", json!(vec!["x"; 101])), &["more than 100 values"]);
    check(
        compare("title", "resembles", json!("x")),
        &["where[0].op: there is no comparison `resembles`; use eq, ne, gt"],
    );
    check(
        compare("artist", "eq", json!("x")),
        &["`artist` is a relation: compare one of its fields (id, name, country, founded, active)"],
    );
    check(
        json!({"domain": "artist", "where": {"active": "perhaps"}}),
        &["\"perhaps\" is no true or false for `active`; write it as true"],
    );
    check(json!({"domain": "artist", "where": {"active": {"gt": true}}}), &["use eq, ne, is_null, not_null"]);
    check(
        json!({"domain": "customer", "where": {"email": "x"}}),
        &["conditions may not stand on `email`; filterable are id, name, city"],
    );
    check(
        json!({"domain": "invoice", "where": {"customer.email": "x"}}),
        &["filterable are customer.id, customer.name"],
    );
    check(json!({"domain": "artist", "where": {"albums.tracks": null}}), &["leads over a list of rows"]);
    check(json!({"domain": "album", "where": {"any": []}}), &["`any` needs a condition at least"]);
    check(
        json!({"domain": "album", "where": {"any": [{"price": {"gt": "x"}}, {"titl": "y"}]}}),
        &["where[0].any[0]: \"x\" is no number", "where[0].any[1]: `album` has no field `titl`"],
    );
}

#[test]
fn numbers() {
    let aggregate = |aggregate: Value| json!({"domain": "album", "aggregate": aggregate});
    check(aggregate(json!("sum")), &["aggregate[0]: `sum` needs a field"]);
    check(aggregate(json!("sum(title)")), &["`sum` needs numbers; `title` holds text"]);
    check(
        aggregate(json!("median(price)")),
        &["aggregate.fn: there is no function `median`; use count, sum, avg, min, max"],
    );
    check(aggregate(json!(["count", "count"])), &["two columns are named `count`; give another name with `as`"]);
    check(aggregate(json!([{"fn": "count", "as": ""}])), &["`as` should be a name of 1 to 60 characters"]);
    check(aggregate(json!([{"fn": "count", "as": "a\nb"}])), &["`as` should be a name"]);
    check(aggregate(json!({"fn": "sum", "field": "artist"})), &["`artist` is a relation; name a field of it"]);
    check(aggregate(json!({"fn": "count", "field": "artist"})), &["each row has one `artist` at most"]);
    check(aggregate(json!({"fn": "count", "field": "tracks.name", "distinct": true})), &["ask `track`"]);
    check(json!({"domain": "artist", "aggregate": "max(active)"}), &["`active` has no order"]);
    check(
        json!({"domain": "album", "group": {"field": "title", "by": "month"}}),
        &["`title` holds text, not dates; leave `by` out"],
    );
    check(
        json!({"domain": "album", "group": {"field": "released", "by": "week"}}),
        &["group.by: there is no part of a date `week`; use year, month, day"],
    );
    check(
        json!({"domain": "album", "aggregate": "count", "with": "tracks"}),
        &["with: a query with numbers has no rows"],
    );
    check(
        json!({"domain": "album", "aggregate": "count", "where": {"any": [{"count": {"gt": 1}}, {"price": {"gt": 1}}]}}),
        &["can't stand beside one on a field"],
    );
}

#[test]
fn forms() {
    check(json!([]), &["query: it should be an object such as"]);
    check(json!({}), &["domain: name the domain that is asked"]);
    check(json!({"domain": 7}), &["domain: it should be a text, not 7"]);
    check(json!({"domain": "album", "fileds": ["x"]}), &["query: there is no `fileds` here; did you mean `fields`?"]);
    check(json!({"domain": "album", "from": "album"}), &["`domain` is given twice"]);
    check(json!({"domain": "album", "limit": 0}), &["limit: it should be a whole number from 1, not 0"]);
    check(json!({"domain": "album", "limit": -3}), &["a whole number from 1"]);
    check(json!({"domain": "album", "limit": "ten"}), &["a whole number from 1, not \"ten\""]);
    check(json!({"domain": "album", "where": "price > 3"}), &["where: it should be a condition such as"]);
    check(
        json!({"domain": "album", "where": [{"field": "price", "op": "gt", "val": 3}]}),
        &["there is no `val` here; did you mean `value`?"],
    );
    check(
        json!({"domain": "album", "order": [{"field": "price", "direction": "up"}]}),
        &["order[0].direction: it should be \"asc\" or \"desc\""],
    );
    check(json!({"domain": "album", "order": 3}), &["order: it should be a field"]);
    check(json!({"domain": "album", "fields": [1]}), &["fields[0]: it should be a text, not 1"]);
    check(json!({"domain": "album", "after": "xyz"}), &["after: it is no cursor"]);
    check(json!({"domain": "entry", "after": "xyz"}), &["after: `entry` has no known key to page by"]);
    check(json!({"domain": "album", "group": "title", "after": "xyz"}), &["after: groups have no pages"]);
    check(json!({"domain": "album", "fields": vec!["id"; 101]}), &["fields: there are 101 of them; at most 100"]);
    let deep = (0..7).fold(json!({"price": {"gt": 1}}), |inner, _| json!({"any": [inner]}));
    let music = Music::open();
    let said = errors(&music, &json!({"domain": "album", "where": deep}));
    assert!(said.iter().any(|error| error.to_string().contains("nested more than 4 levels")), "{said:?}");
}

#[test]
fn cursors_belong_to_their_query() {
    use steward_domains::query::lower::{Dialect, lower};
    let music = Music::open();
    let query = json!({"domain": "track", "fields": ["id"], "order": "seconds", "limit": 3});
    let plan = validate(&Query::parse(&query).expect("a query"), &music.domains, &[]).expect("a plan");
    let lowered = lower(&plan, Dialect::Sqlite);
    let after = lowered.next_page(&music.run(&lowered.sql, &lowered.values)).expect("a cursor");
    check(json!({"domain": "track", "order": "seconds", "after": after, "limit": 9}), &[]);
    check(
        json!({"domain": "track", "order": "-seconds", "after": after}),
        &["after: it belongs to a query with other conditions"],
    );
    check(
        json!({"domain": "track", "order": "seconds", "where": {"id": 1}, "after": after}),
        &["after: it belongs to a query"],
    );
    check(json!({"domain": "album", "after": after}), &["after: it belongs to a query"]);
    check(json!({"domain": "track", "order": "seconds", "after": after[..10]}), &["after: it is no cursor"]);
    check(json!({"domain": "track", "order": "seconds", "after": "x".repeat(9000)}), &["after: it is no cursor"]);
}
