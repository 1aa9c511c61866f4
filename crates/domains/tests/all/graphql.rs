//! GraphQL over the domains of the music database: what a request asks for, what is refused, and what comes back.

use serde_json::{Map, Value, json};
use steward_domains::graphql::{Found, GraphQlErrors, GraphQlRequest, GraphQlSchema, Plan, Root};
use steward_domains::model::{Domain, Field, FieldKind, Grantee, Permission};
use steward_domains::query::lower::{Dialect, lower};
use steward_domains::query::{Query, embed, validate};
use steward_domains::registry::Domains;
use steward_domains::result;

use crate::music::{Music, roles};

pub fn planned(domains: &Domains, who: &[&str], request: &GraphQlRequest) -> Result<Plan, GraphQlErrors> {
    let roles = roles(who);
    let visible = domains.seen_by(&roles);
    GraphQlSchema::new(&visible).expect("a schema").plan(request, &visible)
}

fn request(text: &str, variables: Value) -> GraphQlRequest {
    let Value::Object(variables) = variables else { panic!("{variables} is no object") };
    GraphQlRequest { variables, ..GraphQlRequest::new(text) }
}

fn queries(plan: &Plan) -> Value {
    let query = |root: &Root| serde_json::to_value(root.as_table()).expect("JSON");
    Value::Object(plan.roots().iter().map(|root| (root.key.clone(), query(root))).collect())
}

/// The queries of a request by the keys of their answers, and that each is right.
fn check_with(text: &str, variables: Value, expect: &Value) {
    let music = Music::open();
    let plan = planned(&music.domains, &["viewer"], &request(text, variables)).expect(text);
    assert_eq!(queries(&plan), *expect, "{text}");
    for root in plan.roots() {
        let again = Query::parse(&serde_json::to_value(&root.query).expect("JSON")).expect("a query");
        assert_eq!(again, root.query, "{text}");
        validate(&root.query, &music.domains, &roles(&["viewer"])).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    }
}

/// The query of a request for one field.
fn check(text: &str, expect: Value) {
    let key = expect["domain"].as_str().expect("a domain").to_owned();
    let key = if text.contains(&format!("{key}_aggregate")) { format!("{key}_aggregate") } else { key };
    check_with(text, json!({}), &json!({ key: expect }));
}

fn messages(who: &[&str], request: &GraphQlRequest) -> Vec<String> {
    let music = Music::open();
    let errors = planned(&music.domains, who, request).err().map(|errors| errors.0).unwrap_or_default();
    errors.into_iter().map(|error| error.message).collect()
}

fn refuse_with(text: &str, variables: Value, expect: &[&str]) {
    let found = messages(&["viewer"], &request(text, variables));
    let shown: String = text.chars().take(300).collect();
    assert_eq!(found.len(), expect.len(), "{shown}: {found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.contains(expect), "{shown}\n  says    {found}\n  not     {expect}");
    }
}

fn refuse(text: &str, expect: &[&str]) {
    refuse_with(text, json!({}), expect);
}

pub fn run(music: &Music, who: &[&str], query: &Query) -> Result<Found, String> {
    let checked = validate(query, &music.domains, &roles(who)).map_err(|errors| format!("{errors:?}"))?;
    let lowered = lower(&checked, Dialect::Sqlite);
    let mut rows = music.run(&lowered.sql, &lowered.values);
    let next = lowered.next_page(&rows);
    result::tidy(&lowered.columns, &mut rows);
    let mut objects = embed::objects(&lowered.columns, &rows);
    for relation in &lowered.relations {
        let mut children = relation.lower(&rows).map(|(sql, values)| music.run(&sql, &values)).unwrap_or_default();
        result::tidy(&relation.columns, &mut children);
        embed::attach(&mut objects, &rows, relation, &children);
    }
    Ok(Found { rows: objects, next, cut: None })
}

pub fn answer(music: &Music, who: &[&str], request: &GraphQlRequest) -> Value {
    match planned(&music.domains, who, request) {
        Err(errors) => errors.response(),
        Ok(plan) => {
            let found = plan.roots().iter().map(|root| run(music, who, &root.query)).collect();
            plan.answer(found)
        }
    }
}

fn answers(text: &str, variables: Value, expect: &Value) {
    let music = Music::open();
    let found = answer(&music, &["viewer"], &request(text, variables));
    assert_eq!(found["data"], *expect, "{text}");
    assert!(found.get("errors").is_none(), "{found}");
}

/// The first value of a statement.
fn sql(statement: &str) -> Value {
    Music::open().run(statement, &[])[0][0].clone()
}

#[test]
fn fields_and_arguments() {
    check("{ album { title } }", json!({"domain": "album", "fields": ["title"]}));
    check("query { album { title price title } }", json!({"domain": "album", "fields": ["title", "price"]}));
    check("query Named { album { t: title id } }", json!({"domain": "album", "fields": ["title", "id"]}));
    check("{ album(limit: 3) { id } }", json!({"domain": "album", "fields": ["id"], "limit": 3}));
    check("{ album(limit: null, where: null, order: null) { id } }", json!({"domain": "album", "fields": ["id"]}));
    check(
        "{ album(order: {price: DESC}) { id } }",
        json!({"domain": "album", "fields": ["id"], "order": [{"field": "price", "desc": true}]}),
    );
    check(
        "{ album(order: [{artist: {name: ASC}}, {title: DESC}]) { id } }",
        json!({"domain": "album", "fields": ["id"],
            "order": [{"field": "artist.name"}, {"field": "title", "desc": true}]}),
    );
    check("{ album { __typename title } }", json!({"domain": "album", "fields": ["title"]}));
    check("{ album { __typename } }", json!({"domain": "album", "fields": ["id"]}));
    check("{ entry { __typename } }", json!({"domain": "entry", "fields": ["at"]}));
    check_with(
        "{ cheap: album(where: {price: {lt: 5}}) { id } dear: album(where: {price: {gte: 5}}) { id } }",
        json!({}),
        &json!({
            "cheap": {"domain": "album", "fields": ["id"], "where": [{"field": "price", "op": "lt", "value": 5}]},
            "dear": {"domain": "album", "fields": ["id"], "where": [{"field": "price", "op": "gte", "value": 5}]},
        }),
    );
    check_with("{ _domains }", json!({}), &json!({}));
    check_with("{ __typename }", json!({}), &json!({}));
}

#[test]
fn filters() {
    let of = |filter: &str, conditions: Value| {
        check(
            &format!("{{ album(where: {filter}) {{ id }} }}"),
            json!({"domain": "album", "fields": ["id"], "where": conditions}),
        );
    };
    let compare = |field: &str, op: &str, value: Value| json!({"field": field, "op": op, "value": value});
    of("{title: {eq: \"Blue\"}}", json!([compare("title", "eq", json!("Blue"))]));
    of(
        "{title: {contains: \"lu\", ne: \"x\"}}",
        json!([compare("title", "contains", json!("lu")), compare("title", "ne", json!("x"))]),
    );
    of(
        "{title: {starts: \"B\"}, rating: {gt: 2}}",
        json!([compare("title", "starts", json!("B")), compare("rating", "gt", json!(2))]),
    );
    of("{title: {in: [\"a\", \"b\"]}}", json!([compare("title", "in", json!(["a", "b"]))]));
    of("{title: {in: \"a\"}}", json!([compare("title", "in", json!("a"))]));
    of("{price: {between: [1, 2.5]}}", json!([compare("price", "between", json!([1, 2.5]))]));
    of("{rating: {is_null: true}}", json!([{"field": "rating", "op": "is_null"}]));
    of("{rating: {is_null: false}}", json!([{"field": "rating", "op": "not_null"}]));
    of("{rating: {not_null: true}}", json!([{"field": "rating", "op": "not_null"}]));
    of("{rating: {not_null: false}}", json!([{"field": "rating", "op": "is_null"}]));
    of(
        "{released: {gte: \"1990\", lt: 2000}}",
        json!([compare("released", "gte", json!("1990")), compare("released", "lt", json!(2000))]),
    );
    of("{id: {eq: 9007199254740993}}", json!([compare("id", "eq", json!(9_007_199_254_740_993_i64))]));
    of("{artist: {name: {eq: \"x\"}}}", json!([compare("artist.name", "eq", json!("x"))]));
    of(
        "{tracks: {seconds: {gt: 300}, explicit: {eq: true}}}",
        json!([compare("tracks.seconds", "gt", json!(300)), compare("tracks.explicit", "eq", json!(true))]),
    );
    of("{tracks: {genre: {name: {eq: \"Jazz\"}}}}", json!([compare("tracks.genre.name", "eq", json!("Jazz"))]));
    of("{tracks: {exists: false}}", json!([{"field": "tracks", "op": "is_null"}]));
    of("{artist: {exists: true}}", json!([{"field": "artist", "op": "not_null"}]));
    of(
        "{any: [{price: {lt: 5}}, {rating: {eq: 5}, title: {ne: \"x\"}}]}",
        json!([{"any": [
            compare("price", "lt", json!(5)),
            {"all": [compare("rating", "eq", json!(5)), compare("title", "ne", json!("x"))]}
        ]}]),
    );
    of(
        "{all: [{price: {lt: 5}}, {price: {gt: 1}}]}",
        json!([compare("price", "lt", json!(5)), compare("price", "gt", json!(1))]),
    );
    of(
        "{artist: {any: [{name: {eq: \"x\"}}, {active: {eq: false}}]}}",
        json!([{"any": [
            compare("artist.name", "eq", json!("x")),
            compare("artist.active", "eq", json!(false))
        ]}]),
    );
    // An alternative that always holds leaves nothing to compare.
    check("{ album(where: {any: [{}, {id: {eq: 1}}]}) { id } }", json!({"domain": "album", "fields": ["id"]}));
    check("{ album(where: {title: {}, artist: {}}) { id } }", json!({"domain": "album", "fields": ["id"]}));
}

#[test]
fn relations() {
    check("{ album { title artist { name } } }", json!({"domain": "album", "fields": ["title", "artist.name"]}));
    check(
        "{ track { name album { title artist { name } } genre { name } } }",
        json!({"domain": "track", "fields": ["name", "album.title", "album.artist.name", "genre.name"]}),
    );
    check(
        "{ artist { name albums { title } } }",
        json!({"domain": "artist", "fields": ["name"], "with": [{"relation": "albums", "fields": ["title"], "limit": 20}]}),
    );
    check(
        "{ artist { albums(where: {price: {lt: 5}}, order: [{released: DESC}], limit: 2) { title } } }",
        json!({"domain": "artist", "fields": ["id"], "with": [{"relation": "albums", "fields": ["title"],
            "where": [{"field": "price", "op": "lt", "value": 5}], "order": [{"field": "released", "desc": true}],
            "limit": 2}]}),
    );
    check(
        "{ album(limit: 200) { id tracks { name genre { name } } } }",
        json!({"domain": "album", "fields": ["id"], "limit": 200,
            "with": [{"relation": "tracks", "fields": ["name", "genre.name"], "limit": 5}]}),
    );
    check(
        "{ customer { name account { points } invoices { total } referrer { name } } }",
        json!({"domain": "customer", "fields": ["name", "referrer.name"], "with": [
            {"relation": "account", "fields": ["points"]},
            {"relation": "invoices", "fields": ["total"], "limit": 20}
        ]}),
    );
    check(
        "{ album { ...names tracks { id } ...lists } } fragment names on album { title artist { ...who } }
         fragment who on artist { name } fragment lists on album { tracks { name } }",
        json!({"domain": "album", "fields": ["title", "artist.name"],
            "with": [{"relation": "tracks", "fields": ["id", "name"], "limit": 20}]}),
    );
    check(
        "{ album { ... on album { title } ... { price } ... @include(if: false) { rating } id @skip(if: true) } }",
        json!({"domain": "album", "fields": ["title", "price"]}),
    );
    refuse(
        "{ artist { albums { tracks { name } } } }",
        &[
            "artist.albums.tracks: a list can only stand right below the rows that are asked for; ask `track` by a field",
        ],
    );
    refuse("{ track { album { tracks { name } } } }", &["track.album.tracks: a list can only stand right below"]);
    refuse(
        "{ customer { referrer { referrer { referrer { referrer { referrer { referrer { referrer { name } } } } } } } } }",
        &["fields are nested more than 8 levels"],
    );
    refuse(
        "{ artist { new: albums(limit: 1) { title } old: albums(limit: 2) { title } } }",
        &[
            "artist.old: `albums` is asked for twice with different arguments; ask the second time by a field of its own",
        ],
    );
}

#[test]
fn numbers() {
    check("{ album_aggregate { count } }", json!({"domain": "album", "aggregate": [{"fn": "count"}]}));
    check(
        "{ album_aggregate(where: {price: {gt: 3}}) { count sum { price } avg { price rating } min { released } max { title } } }",
        json!({"domain": "album", "where": [{"field": "price", "op": "gt", "value": 3}], "aggregate": [
            {"fn": "count"}, {"fn": "sum", "field": "price"}, {"fn": "avg", "field": "price"},
            {"fn": "avg", "field": "rating"}, {"fn": "min", "field": "released"}, {"fn": "max", "field": "title"}]}),
    );
    check(
        "{ album_aggregate(groupBy: [{artist: {name: VALUE}}], order: {count: DESC}, limit: 3) { group count } }",
        json!({"domain": "album", "group": [{"field": "artist.name"}], "aggregate": [{"fn": "count"}],
            "order": [{"field": "count", "desc": true}], "limit": 3}),
    );
    check(
        "{ album_aggregate(groupBy: {released: YEAR}, order: {group: {released: ASC}}) { group sum { price } } }",
        json!({"domain": "album", "group": [{"field": "released", "by": "year"}],
            "aggregate": [{"fn": "sum", "field": "price"}], "order": [{"field": "released"}]}),
    );
    check(
        "{ album_aggregate(groupBy: {artist_id: VALUE}, having: {count: {gt: 1}, sum: {price: {gte: 10.5}}}) { group } }",
        json!({"domain": "album", "group": [{"field": "artist_id"}],
            "aggregate": [{"fn": "count"}, {"fn": "sum", "field": "price"}],
            "where": [{"field": "count", "op": "gt", "value": 1}, {"field": "sum_price", "op": "gte", "value": 10.5}]}),
    );
    check(
        "{ album_aggregate(groupBy: {artist_id: VALUE}, order: [{max: {price: DESC}}]) { group } }",
        json!({"domain": "album", "group": [{"field": "artist_id"}], "aggregate": [{"fn": "max", "field": "price"}],
            "order": [{"field": "max_price", "desc": true}]}),
    );
    check(
        "{ album_aggregate { distinct { artist_id } } }",
        json!({"domain": "album",
            "aggregate": [{"fn": "count", "field": "artist_id", "as": "distinct_artist_id", "distinct": true}]}),
    );
    check("{ album_aggregate { __typename } }", json!({"domain": "album", "aggregate": [{"fn": "count"}]}));
    refuse(
        "{ album_aggregate { sum { title } } }",
        &["there is no `title` of `album_sums`; known are id, artist_id, price, rating"],
    );
    refuse(
        "{ album_aggregate(groupBy: {title: MONTH}) { count } }",
        &["enumeration type \"Group\" does not contain the value \"MONTH\""],
    );
    refuse(
        "{ album_aggregate(groupBy: [{released: MONTH}, {released: YEAR}]) { count } }",
        &["album_aggregate.groupBy[1].released: rows are grouped by it twice"],
    );
    refuse(
        "{ album_aggregate(groupBy: {title: VALUE}, order: {group: {price: ASC}}) { count } }",
        &["album_aggregate: there is no `price` here"],
    );
    refuse(
        "{ album_aggregate(order: {sum: {title: ASC}}) { count } }",
        &["album_aggregate: `sum` needs numbers; `title` holds text", "there is no `sum_title` here"],
    );
    refuse(
        "{ artist_aggregate(groupBy: {albums: {title: VALUE}}) { count } }",
        &["there is no `albums` in `artist_group`"],
    );
}

#[test]
fn numbers_never_mean_a_field() {
    let field = |name: &str, kind| Field {
        name: name.to_owned(),
        kind,
        readonly: false,
        filterable: true,
        trusted: None,
        options: None,
        examples: Vec::new(),
        aliases: Vec::new(),
    };
    let domains = Domains::new(vec![Domain {
        name: "stock".to_owned(),
        table: "stock".to_owned(),
        datasource: "shop".to_owned(),
        permissions: everybody(),
        fields: vec![
            field("count", FieldKind::Int),
            field("sum_count", FieldKind::Int),
            field("any", FieldKind::String),
        ],
        relations: Vec::new(),
        metas: Vec::new(),
        notes: Vec::new(),
        aliases: Vec::new(),
    }]);
    let text = "{ stock_aggregate(where: {count: {gt: 1}}, order: {count: DESC}) { count sum { count } } }";
    let plan = planned(&domains, &[], &GraphQlRequest::new(text)).expect("a plan");
    assert_eq!(
        queries(&plan)["stock_aggregate"],
        json!({"domain": "stock", "where": [{"field": "count", "op": "gt", "value": 1}],
            "order": [{"field": "count_", "desc": true}],
            "aggregate": [{"fn": "count", "as": "count_"}, {"fn": "sum", "field": "count", "as": "sum_count_"}]})
    );
}

#[test]
fn variables_are_bound() {
    let one = |condition: Value| json!({"album": {"domain": "album", "fields": ["id"], "where": [condition]}});
    for text in
        ["Robert'); DROP TABLE albums;--", "\" OR 1=1", "☃ ünï \u{202e}", "%_!", "a\\b\n\"\"\"", "{{7*7}}", "$t"]
    {
        check_with(
            "query($t: String!) { album(where: {title: {eq: $t}}) { id } }",
            json!({"t": text}),
            &one(json!({"field": "title", "op": "eq", "value": text})),
        );
        let literal = json!(text).to_string();
        let escaped = literal.replace("\\u202e", "\u{202e}");
        check_with(
            &format!("{{ album(where: {{title: {{eq: {escaped}}}}}) {{ id }} }}"),
            json!({}),
            &one(json!({"field": "title", "op": "eq", "value": text})),
        );
        let music = Music::open();
        let asked = request("query($t: String!) { album(where: {title: {eq: $t}}) { id } }", json!({"t": text}));
        let plan = planned(&music.domains, &[], &asked).expect("a plan");
        for dialect in crate::music::DIALECTS {
            let lowered = lower(&validate(&plan.roots()[0].query, &music.domains, &[]).expect("a query"), dialect);
            assert!(!lowered.sql.contains(text) && lowered.values.contains(&json!(text)), "{}", lowered.sql);
        }
    }
    check_with(
        "query($w: album_filter, $n: Int = 7) { album(where: $w, limit: $n) { id } }",
        json!({"w": {"price": {"lt": 5}}}),
        &json!({"album": {"domain": "album", "fields": ["id"], "limit": 7,
            "where": [{"field": "price", "op": "lt", "value": 5}]}}),
    );
    check_with(
        "query($d: Date) { album(where: {released: {lt: $d}}) { id } }",
        json!({"d": "1990-01"}),
        &one(json!({"field": "released", "op": "lt", "value": "1990-01"})),
    );
    check_with(
        "query($w: album_filter) { album(where: $w) { id } }",
        json!({}),
        &json!({"album": {"domain": "album", "fields": ["id"]}}),
    );
    check_with(
        "query($on: Boolean!) { album { id title @include(if: $on) } }",
        json!({"on": false}),
        &json!({"album": {"domain": "album", "fields": ["id"]}}),
    );
    refuse_with(
        "query($t: Nothing) { album { id } }",
        json!({}),
        &["the variable `$t` has the unknown type `Nothing`"],
    );
    // The library would panic over this one.
    refuse_with("query($t: [[Nothing!]] = [[1]]) { album { id } }", json!({}), &["unknown type `Nothing`"]);
    refuse_with("query($t: album) { album { id } }", json!({}), &["unknown type `album`"]);
    refuse("query($t: Int) { album { id } }", &["Variable \"$t\" is not used"]);
    refuse("{ album(limit: $n) { id } }", &["Variable \"$n\" is not defined"]);
    refuse_with(
        "query($w: album_filter) { album(where: $w) { id } }",
        json!({"w": {"titel": {"eq": "x"}}}),
        &["where.titel: there is no `titel` in `album_filter`; did you mean `title`?"],
    );
    refuse_with(
        "query($w: album_filter) { album(where: $w) { id } }",
        json!({"w": "x"}),
        &["where: it should be an object"],
    );
    refuse_with("query($n: Int!) { album(limit: $n) { id } }", json!({"n": "7"}), &["expected type \"Int\""]);
}

#[test]
fn what_does_not_exist_is_told_with_what_does() {
    refuse("{ albun { title } }", &["there is no `albun` to ask for; did you mean `album`?"]);
    refuse("{ album { titel } }", &["there is no `titel` of `album`; did you mean `title`? known are id, title"]);
    refuse("{ album { tracks { nam } } }", &["there is no `nam` of `track`; did you mean `name`?"]);
    refuse(
        "{ album(where: {titel: {eq: \"x\"}}) { id } }",
        &["there is no `titel` in `album_filter`; did you mean `title`?"],
    );
    refuse(
        "{ album(where: {title: {like: \"x\"}}) { id } }",
        &["where.title.like: there is no `like` in `StringFilter`; known are eq"],
    );
    refuse("{ album(where: {title: {gt: \"x\"}}) { id } }", &["there is no `gt` in `StringFilter`"]);
    refuse(
        "{ album(order: {pric: ASC}) { id } }",
        &["order.pric: there is no `pric` in `album_order`; did you mean `price`?"],
    );
    refuse("{ album(order: {tracks: {name: ASC}}) { id } }", &["there is no `tracks` in `album_order`"]);
    refuse(
        "{ album(order: {price: DOWN}) { id } }",
        &["enumeration type \"Direction\" does not contain the value \"DOWN\""],
    );
    refuse(
        "{ album(wher: {}) { id } }",
        &["`album` has no argument `wher`; did you mean `where`? known are where, order, limit, after"],
    );
    refuse("{ album(first: 3) { id } }", &["`album` has no argument `first`"]);
    refuse("{ album }", &["must have a selection of subfields"]);
    refuse("{ album { title { x } } }", &["must not have a selection", "Unknown field \"x\" on type \"String\""]);
    refuse("{ album(where: {price: \"cheap\"}) { id } }", &["where.price: it should be an object of `FloatFilter`"]);
    refuse("{ album(where: {price: {lt: \"cheap\"}}) { id } }", &["expected type \"Float\""]);
    refuse("{ album(where: {released: {lt: \"soon\"}}) { id } }", &["album: \"soon\" is no date for `released`"]);
    refuse("{ customer(where: {email: {eq: \"x\"}}) { id } }", &["there is no `email` in `customer_filter`"]);
    refuse("{ album(where: {exists: true}) { id } }", &["album.where.exists: ask it of a relation"]);
    refuse("{ album(where: {any: []}) { id } }", &["album: `any` needs a condition at least"]);
    refuse("{ album(limit: 0) { id } }", &["album.limit: it should be a whole number from 1 to 1000, not 0"]);
    refuse("{ album(limit: -1) { id } }", &["from 1 to 1000, not -1"]);
    refuse("{ album(after: \"x\") { id } }", &["album: it is no cursor"]);
    refuse("{ album { id } album { title } }", &["`album` stands here twice"]);
    refuse("{ album { id: title id } }", &["Fields \"id\" conflict"]);
    refuse("{ album { ...gone } }", &["Unknown fragment: \"gone\""]);
    refuse("{ album { id } } fragment f on album { id }", &["Fragment \"f\" is never used"]);
    refuse("{ album { ... on artist { id } } }", &["cannot be spread here"]);
    refuse("mutation { album { id } }", &["domains can only be read here"]);
    refuse("subscription { album { id } }", &["domains can only be read here"]);
    refuse("{ album { id @upper } }", &["Unknown directive \"upper\""]);
    refuse("{ album { id @skip(if: true) @skip(if: false) } }", &["Duplicate directive \"skip\""]);
    refuse("", &["the text is empty"]);
    refuse("album", &["expected"]);
    refuse("{ album { title }", &["expected"]);
    refuse("{ }", &["expected"]);
    refuse("{\"domain\": \"album\"}", &["expected"]);
}

#[test]
fn operations_are_named() {
    let two = "query One { album { id } } query Two { artist { id } }";
    let music = Music::open();
    let named = |name: Option<&str>| {
        let request = GraphQlRequest { operation: name.map(str::to_owned), ..GraphQlRequest::new(two) };
        planned(&music.domains, &[], &request)
    };
    assert_eq!(named(Some("Two")).expect("a plan").roots()[0].query.domain, "artist");
    for (name, part) in [(None, "known are One, Two"), (Some("Too"), "did you mean `Two`?")] {
        let error = named(name).expect_err("an error").to_string();
        assert!(error.contains("`operationName` should name one") && error.contains(part), "{error}");
    }
    let single = GraphQlRequest { operation: Some("X".to_owned()), ..GraphQlRequest::new("query X { album { id } }") };
    assert!(planned(&music.domains, &[], &single).is_ok());
}

#[test]
fn rows_come_back_in_the_form_of_the_request() {
    answers(
        "query($t: String) { a: album(where: {title: {eq: $t}}, order: {id: ASC}, limit: 1) { __typename n: title artist { name } } _domains }",
        json!({"t": first_title()}),
        &json!({
            "a": [{"__typename": "album", "n": first_title(), "artist": {
                "name": sql("SELECT name FROM artists WHERE id = (SELECT artist_id FROM albums WHERE id = 1)")}}],
            "_domains": ["account", "album", "artist", "customer", "entry", "genre", "invoice", "line", "odd", "shipment",
                "track"],
        }),
    );
    answers(
        "{ artist(order: {id: ASC}, limit: 2) { id albums(order: {id: ASC}, limit: 1) { id artist { id } __typename } } }",
        json!({}),
        &json!({"artist": [
            {"id": 1, "albums": [{"id": sql("SELECT min(id) FROM albums WHERE artist_id = 1"), "artist": {"id": 1}, "__typename": "album"}]},
            {"id": 2, "albums": [{"id": sql("SELECT min(id) FROM albums WHERE artist_id = 2"), "artist": {"id": 2}, "__typename": "album"}]},
        ]}),
    );
    // A relation without a row is null, and not an object of nulls.
    let alone = sql("SELECT min(id) FROM customers WHERE referrer_id IS NULL");
    answers(
        "query($id: Int!) { customer(where: {id: {eq: $id}}) { referrer { note name } id } }",
        json!({"id": alone}),
        &json!({"customer": [{"referrer": null, "id": alone}]}),
    );
    answers(
        "{ album_aggregate { count n: max { price } group } }",
        json!({}),
        &json!({"album_aggregate": [{"count": 14, "n": {"price": sql("SELECT max(price) FROM albums")}, "group": null}]}),
    );
    answers(
        "{ track_aggregate(groupBy: {album: {artist: {id: VALUE}}}, order: {group: {album: {artist: {id: ASC}}}}, limit: 1) { group count } }",
        json!({}),
        &json!({"track_aggregate": [{"group": {"album": {"artist": {"id": 1}}}, "count":
            sql("SELECT count(*) FROM tracks t JOIN albums a ON a.id = t.album_id WHERE a.artist_id = 1")}]}),
    );
    answers("{ album(where: {id: {eq: -1}}) { id } }", json!({}), &json!({"album": []}));
}

fn first_title() -> Value {
    sql("SELECT title FROM albums WHERE id = 1")
}

#[test]
fn pages_follow_each_other() {
    let music = Music::open();
    let text = "query($after: String) { t: track(order: {seconds: DESC}, limit: 7, after: $after) { id } }";
    let (mut seen, mut after) = (Vec::new(), Value::Null);
    loop {
        let found = answer(&music, &[], &request(text, json!({"after": after})));
        let rows = found["data"]["t"].as_array().unwrap_or_else(|| panic!("{found}"));
        seen.extend(rows.iter().map(|row| row["id"].as_i64().expect("a number")));
        after = found["extensions"]["next"]["t"].clone();
        if after.is_null() {
            break;
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!((json!(count), count), (sql("SELECT count(*) FROM tracks"), seen.len()));
}

#[test]
fn a_field_that_fails_leaves_the_others() {
    let music = Music::open();
    let plan =
        planned(&music.domains, &[], &GraphQlRequest::new("{ a: album { id } b: genre { id } }")).expect("a plan");
    let row: Map<String, Value> = [("id".to_owned(), json!(1))].into_iter().collect();
    let found = plan.clone().answer(vec![
        Err("the database can't be asked".to_owned()),
        Ok(Found { rows: vec![row], next: Some("more".to_owned()), cut: Some("cut at 20".to_owned()) }),
    ]);
    assert_eq!(
        found,
        json!({"data": {"a": null, "b": [{"id": 1}]}, "errors": [{"message": "the database can't be asked", "path": ["a"]}],
            "extensions": {"next": {"b": "more"}, "truncated": {"b": "cut at 20"}}})
    );
    // What was not asked is not taken for empty.
    assert_eq!(plan.answer(Vec::new())["errors"].as_array().map(Vec::len), Some(2));
    let single = |text: &str| {
        planned(&music.domains, &[], &GraphQlRequest::new(text)).expect("a plan").single().map(|root| root.key.clone())
    };
    assert_eq!(single("{ x: album { id } }").expect("one"), "x");
    for (text, part) in [
        ("{ a: album { id } b: genre { id } }", "asks for 2 things at once"),
        ("{ album { id } __typename }", "asks for 2 things at once"),
        ("{ _domains }", "asks for no rows"),
    ] {
        let error = single(text).expect_err("an error").to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

pub fn everybody() -> Vec<Permission> {
    vec![Permission { to: Grantee::Everybody, read: true, write: false, delete: false }]
}
