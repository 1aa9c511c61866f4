//! The schema of queries: everything that it permits is a valid query.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use proptest::{prop_oneof, sample};
use serde_json::{Map, Value, json};
use steward_domains::change::Options;
use steward_domains::query::lower::{Dialect, lower};
use steward_domains::query::{Query, validate};
use steward_domains::schema_for_model::{schema_for_model, values_in};

use crate::music::{Music, roles};

fn pick(runner: &mut TestRunner, count: usize) -> usize {
    sample::select((0..count.max(1)).collect::<Vec<_>>()).new_tree(runner).expect("a number").current()
}

/// Something that the schema permits.
fn instance(schema: &Value, root: &Value, runner: &mut TestRunner) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").expect("a definition");
        return instance(&root["$defs"][name], root, runner);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    for word in ["enum", "anyOf"] {
        if let Some(list) = schema[word].as_array() {
            let chosen = &list[pick(runner, list.len())];
            return if word == "enum" { chosen.clone() } else { instance(chosen, root, runner) };
        }
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(pick(runner, 2) == 0),
        Some("integer") => json!(1 + pick(runner, 60)),
        Some("number") => json!([0.5, 3.0, 12.25][pick(runner, 3)]),
        Some("string") if schema.get("pattern").is_some() => json!(["2021", "2021-06", "2021-12-28"][pick(runner, 3)]),
        Some("string") => {
            prop_oneof!["[a-z]{1,9}", "[%_'\"; -]{1,5}"].new_tree(runner).expect("a text").current().into()
        }
        Some("array") => {
            let (least, most) =
                (schema["minItems"].as_u64().expect("a number"), schema["maxItems"].as_u64().expect("a number"));
            let count =
                usize::try_from(least).expect("few") + pick(runner, usize::try_from(most - least).expect("few") + 1);
            (0..count).map(|_| instance(&schema["items"], root, runner)).collect()
        }
        Some("object") => {
            assert_eq!(schema["additionalProperties"], json!(false));
            let required = schema["required"].as_array().expect("a list");
            let mut members = Map::new();
            for (name, inner) in schema["properties"].as_object().expect("members") {
                if required.contains(&json!(name)) || pick(runner, 2) == 0 {
                    members.insert(name.clone(), instance(inner, root, runner));
                }
            }
            Value::Object(members)
        }
        other => panic!("{other:?} in {schema}"),
    }
}

#[test]
fn what_the_schema_permits_is_valid_and_runs() {
    let music = Music::open();
    let mut options = Options::default();
    options.add("track", "genre_id", vec![json!(1), json!(2), json!(3)]);
    let names: Vec<&str> = music.domains.iter().map(|domain| domain.name.as_str()).collect();
    let said = values_in("Which albums of AC/DC cost more than 10 or 7.5 euros since 2019?");
    let mut runner = TestRunner::deterministic();
    for said in [None, Some(&said)] {
        let schema = schema_for_model(&music.domains, &names, &roles(&["viewer"]), &options, said);
        let kinds = schema["anyOf"].as_array().expect("queries").clone();
        for round in 0..1500 {
            let value = instance(&kinds[round % kinds.len()], &schema, &mut runner);
            let query = Query::parse(&value).unwrap_or_else(|e| panic!("{value}: {e:?}"));
            let plan =
                validate(&query, &music.domains, &roles(&["viewer"])).unwrap_or_else(|e| panic!("{value}: {e:?}"));
            let lowered = lower(&plan, Dialect::Sqlite);
            music.run(&lowered.sql, &lowered.values);
        }
    }
}

#[test]
fn texts_and_numbers_are_those_of_the_request() {
    let music = Music::open();
    let said = values_in("albums of \"AC/DC\" above 10");
    let schema = schema_for_model(&music.domains, &["album"], &[], &Options::default(), Some(&said)).to_string();
    assert!(schema.contains("AC/DC") && schema.contains("[10]"), "{schema}");
    assert!(!schema.contains("maxLength"), "{schema}");
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&schema_for_model(&music.domains, &["genre"], &[], &Options::default(), None))
            .expect("JSON")
    );
}

#[test]
fn what_may_not_be_read_is_not_in_it() {
    let music = Music::open();
    let of = |roles_of: &[&str]| {
        schema_for_model(&music.domains, &["salary", "customer"], &roles(roles_of), &Options::default(), None)
            .to_string()
    };
    assert!(!of(&["viewer"]).contains("salar"));
    assert!(of(&["hr"]).contains("salaries.amount"));
    let none = schema_for_model(&music.domains, &["salary", "nothing"], &[], &Options::default(), None);
    assert_eq!(none, json!(false));
}
