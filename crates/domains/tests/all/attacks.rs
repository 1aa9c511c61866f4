//! Texts that try to become SQL: each is refused by name, or bound as a value and nothing more.

use serde_json::{Value, json};
use steward_domains::query::lower::lower;
use steward_domains::query::{Query, validate};

use crate::music::{DIALECTS, Music};

const ATTACKS: &[&str] = &[
    "'",
    "\"",
    "`",
    "''; --",
    "\"; DROP TABLE albums; --",
    "` OR 1=1 -- ",
    "1; DELETE FROM albums",
    "x' OR 'a'='a",
    "/* x */",
    "*/ x /*",
    "-- ",
    "# x",
    ";",
    "\\",
    "\\'",
    "%' OR 1=1",
    "!",
    "!'",
    "?",
    "?1",
    "$1",
    ":a",
    "@a",
    "$$",
    "$x$",
    "\0",
    "a\0b",
    "title\0",
    "\u{202e}eltit",
    "ｔｉｔｌｅ",
    "\u{2019}",
    "\u{ff07}",
    "title--",
    "title/**/",
    "t0.title",
    "c1",
    "title, price",
    "(SELECT 1)",
    "title) FROM salaries --",
    "id UNION SELECT 1",
    "\n",
    "\r\n-- ",
    "\u{1}",
    "{{7*7}}",
    "__proto__",
    "0x27",
    "CHAR(39)",
    "\u{feff}title",
    "title\u{200b}",
    "pg_sleep(9)",
    "' || pg_sleep(9) || '",
    "*",
    "%",
    "_",
];

fn statements(query: &Value, music: &Music) -> Option<Vec<(String, Vec<Value>)>> {
    let query = Query::parse(query).ok()?;
    let plan = validate(&query, &music.domains, &[]).ok()?;
    Some(DIALECTS.iter().map(|dialect| lower(&plan, *dialect)).map(|lowered| (lowered.sql, lowered.values)).collect())
}

/// The same query with a harmless text and with the attack; the SQL must be the same, unless there is an error.
fn check(attack: &str, position: &str, music: &Music, query: &dyn Fn(&str) -> Value) -> &'static str {
    // Letters beyond ASCII are compared by another function, whatever they are.
    let harmless = statements(&query(if attack.is_ascii() { "plain" } else { "pläin" }), music);
    match (statements(&query(attack), music), harmless) {
        (None, _) => "refused",
        (Some(found), Some(harmless)) => {
            for ((sql, values), (expect, _)) in found.iter().zip(&harmless) {
                assert_eq!(sql, expect, "{position} {attack:?}");
                let bound = attack.replace('!', "!!").replace('%', "!%").replace('_', "!_");
                let holds =
                    |value: &Value| value.as_str().is_some_and(|text| text.contains(attack) || text.contains(&bound));
                assert!(position == "as" || values.iter().any(holds), "{position} {attack:?} {values:?}");
            }
            let rows = music.run(&found[0].0, &found[0].1);
            assert!(rows.len() <= 50);
            "bound"
        }
        (Some(found), None) => panic!("{position} {attack:?} became {found:?}"),
    }
}

#[test]
fn nothing_from_a_query_becomes_sql() {
    let music = Music::open();
    let long = "x".repeat(100_000);
    let many = "a.".repeat(500);
    let all: Vec<&str> = ATTACKS.iter().copied().chain([long.as_str(), many.as_str()]).collect();
    let of = |query: Value| {
        move |text: &str| -> Value {
            serde_json::from_str(&query.to_string().replace("\"HERE\"", &json!(text).to_string())).expect("JSON")
        }
    };
    let positions: Vec<(&str, Value)> = vec![
        ("domain", json!({"domain": "HERE"})),
        ("field", json!({"domain": "album", "fields": ["title", "HERE"]})),
        ("where field", json!({"domain": "album", "where": [{"field": "HERE", "op": "eq", "value": 1}]})),
        ("where op", json!({"domain": "album", "where": [{"field": "title", "op": "HERE", "value": "x"}]})),
        ("where map", json!({"domain": "album", "where": [{"field": "artist.HERE", "value": 1}]})),
        ("order", json!({"domain": "album", "order": [{"field": "HERE"}]})),
        ("group", json!({"domain": "album", "group": ["HERE"], "aggregate": "count"})),
        ("group by", json!({"domain": "album", "group": {"field": "released", "by": "HERE"}})),
        ("function", json!({"domain": "album", "aggregate": [{"fn": "HERE", "field": "price"}]})),
        ("aggregate field", json!({"domain": "album", "aggregate": [{"fn": "sum", "field": "HERE"}]})),
        ("with", json!({"domain": "album", "with": ["HERE"]})),
        ("with field", json!({"domain": "album", "with": {"relation": "tracks", "fields": ["HERE"]}})),
        ("limit", json!({"domain": "album", "limit": "HERE"})),
        ("after", json!({"domain": "album", "after": "HERE"})),
        ("number", json!({"domain": "album", "where": [{"field": "price", "op": "gt", "value": "HERE"}]})),
        ("date", json!({"domain": "album", "where": [{"field": "released", "op": "gt", "value": "HERE"}]})),
        ("flag", json!({"domain": "artist", "where": [{"field": "active", "value": "HERE"}]})),
        ("text eq", json!({"domain": "album", "where": [{"field": "title", "value": "HERE"}]})),
        ("text contains", json!({"domain": "album", "where": [{"field": "title", "op": "contains", "value": "HERE"}]})),
        (
            "text in",
            json!({"domain": "album", "where": [{"field": "artist.name", "op": "in", "value": ["x", "HERE"]}]}),
        ),
        (
            "text of a list",
            json!({"domain": "artist", "where": [{"field": "albums.title", "op": "starts", "value": "HERE"}]}),
        ),
        (
            "as",
            json!({"domain": "album", "aggregate": [{"fn": "count", "as": "HERE"}], "where": {"HERE": {"gt": 1}}, "order": ["HERE"]}),
        ),
    ];
    let mut table = String::new();
    for (position, query) in positions {
        let query = of(query);
        let outcomes: Vec<&str> = all
            .iter()
            .map(|attack| {
                // `*` and `count` mean something of their own where they stand.
                let own = (position == "field" || position == "with field") && *attack == "*";
                if own { "own meaning" } else { check(attack, position, &music, &query) }
            })
            .collect();
        let count = |outcome: &str| outcomes.iter().filter(|found| **found == outcome).count();
        table.push_str(&format!("{position}: refused {}, bound {}\n", count("refused"), count("bound")));
    }
    let tables = music.run("SELECT count(*) FROM albums", &[]);
    assert_eq!(tables[0][0], json!(14));
    insta::assert_snapshot!(table);
}
