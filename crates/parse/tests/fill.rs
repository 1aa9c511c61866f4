//! Arguments out of requests: each case of `data/fill.jsonl` is a request, a tool in short, and what is wanted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use steward_parse::fill::{Call, Form, Request, calls};

const CASES: &str = include_str!("data/fill.jsonl");
/// Requests of everyday work, written before any of them was tried.
const REAL: &str = include_str!("data/fill-real.jsonl");
/// How many of them are right at least; raise it when more are.
const REAL_RIGHT: usize = 199;

/// `"name*": "type{choices} description"` as a JSON Schema; a star marks what is required.
fn schema(short: &Value) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, told) in short.as_object().unwrap() {
        let (kind, description) = told.as_str().unwrap().split_once(' ').unwrap();
        let (item, list) = match kind.strip_prefix('[').and_then(|k| k.strip_suffix(']')) {
            Some(item) => (item, true),
            None => (kind, false),
        };
        let (base, choices) = match item.split_once('{') {
            Some((base, choices)) => (base, choices.strip_suffix('}')),
            None => (item, None),
        };
        let mut field = json!({"type": base});
        if let Some(choices) = choices {
            field["enum"] = choices.split('|').collect();
        }
        if list {
            field = json!({"type": "array", "items": field});
        }
        field["description"] = description.into();
        let own = name.trim_end_matches('*');
        if own != name {
            required.push(own.to_owned());
        }
        properties.insert(own.to_owned(), field);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn filled(ask: &str, tool: &str, schema: &Value) -> Vec<Call> {
    let (name, description) = tool.split_once(": ").unwrap();
    let form = Form::of(name, description, schema);
    // Without an embedder: rules alone.
    calls(&Request::read(ask), &form, &|_, _| 0.0)
}

#[test]
fn requests_are_read() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for line in CASES.lines() {
        cases += 1;
        let case: Value = serde_json::from_str(line).unwrap();
        let (ask, tool) = (case["ask"].as_str().unwrap(), case["tool"].as_str().unwrap());
        let made = filled(ask, tool, &schema(&case["form"]));
        let got: Vec<&Value> = made.iter().map(|call| &call.arguments).collect();
        let want: Vec<Value> = match case["calls"].as_array() {
            Some(calls) => calls.clone(),
            None => vec![case["want"].clone()],
        };
        let open: Vec<String> = serde_json::from_value(case["open"].clone()).unwrap_or_default();
        if got != want.iter().collect::<Vec<_>>() || made[0].open != open {
            wrong.push(format!("{ask}\n    got  {got:?} open {:?}\n    want {want:?}", made[0].open));
        }
    }
    assert!(cases >= 60, "{cases} cases");
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether the calls of a case are those that it wants, or one of its other readings (`or`).
fn right(case: &Value, made: &[Call]) -> bool {
    let got: Vec<&Value> = made.iter().map(|call| &call.arguments).collect();
    if let Some(calls) = case["calls"].as_array() {
        return got == calls.iter().collect::<Vec<_>>();
    }
    let others = case["or"].as_array().into_iter().flatten();
    others.chain([&case["want"]]).any(|want| got == [want])
}

#[test]
fn real_requests_are_read() {
    let mut wrong = Vec::new();
    let cases: Vec<Value> = REAL.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for case in &cases {
        let ask = case["ask"].as_str().unwrap();
        let made = filled(ask, case["tool"].as_str().unwrap(), &schema(&case["form"]));
        if !right(case, &made) {
            let got: Vec<&Value> = made.iter().map(|call| &call.arguments).collect();
            wrong.push(format!("{ask}\n    got  {got:?}\n    want {}{}", case["want"], case["calls"]));
        }
    }
    let count = cases.len() - wrong.len();
    println!("{count} of {}\n{}", cases.len(), wrong.join("\n"));
    assert!(cases.len() >= 120, "{} cases", cases.len());
    assert!(count >= REAL_RIGHT, "{count} of {}:\n{}", cases.len(), wrong.join("\n"));
}

/// What is filled follows the schema, or it says what is open.
fn holds(ask: &str, tool: &str, schema: &Value) {
    for call in filled(ask, tool, schema) {
        assert!(call.arguments.is_object());
        assert!(call.sure.values().all(|share| (0.0..=1.0).contains(share)));
        let valid = steward_core::schema::validate_except(schema, &call.arguments, &call.open);
        let missing_only = !call.open.is_empty() && valid.as_ref().is_err_and(|why| why.contains("required"));
        assert!(valid.is_ok() || missing_only, "{ask:?} {call:?} {valid:?}");
        for name in &call.open {
            assert!(call.arguments.get(name).is_none(), "{name} is open and there");
        }
    }
}

fn forms() -> Vec<(String, Value)> {
    CASES
        .lines()
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            (case["tool"].as_str().unwrap().to_owned(), schema(&case["form"]))
        })
        .collect()
}

#[test]
fn every_request_with_every_form_is_valid_or_open() {
    let forms = forms();
    for line in CASES.lines().step_by(3) {
        let case: Value = serde_json::from_str(line).unwrap();
        for (tool, schema) in forms.iter().step_by(2) {
            holds(case["ask"].as_str().unwrap(), tool, schema);
        }
    }
}

#[test]
fn strange_forms_do_no_harm() {
    let ask = "Find 3 hotels in Oslo for 'Ann' on 2025-01-02 at 5 pm for $100 [1, 2]";
    for schema in [
        json!({}),
        json!(null),
        json!({"type": "object"}),
        json!({"properties": {"": {}}, "required": [""]}),
        json!({"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "array"}}, "required": ["a", "b", "c"]}),
        json!({"type": "object", "properties": {"o": {"type": "object", "properties": {"p": {"type": "object", "properties": {"q": {"type": "object", "properties": {"r": {"type": "string"}}}}}}}}}),
        json!({"type": "object", "properties": {"x": {"type": "string", "enum": []}, "é'\"": {"type": "number", "description": "default 'ü"}}}),
    ] {
        let form = Form::of("t", "d", &schema);
        assert!(!calls(&Request::read(ask), &form, &|_, _| 0.3).is_empty());
    }
}

#[test]
fn long_requests_take_bounded_work() {
    let many =
        "Compare A1, B2 and 'C 3' with 45 km on May 3, 2024 in Paris, France (1, 2) [3, 4] x^2 + 1. ".repeat(3000);
    let forms = forms();
    let read = Request::read(&many);
    for (tool, schema) in forms.iter().step_by(10) {
        let (name, description) = tool.split_once(": ").unwrap();
        assert!(!calls(&read, &Form::of(name, description, schema), &|_, _| 0.0).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn never_panics(ask in "\\PC{0,200}", which in 0usize..70) {
        let forms = forms();
        let (tool, schema) = &forms[which % forms.len()];
        holds(&ask, tool, schema);
    }

    #[test]
    fn never_panics_on_near_words(
        words in proptest::collection::vec(
            prop_oneof![
                Just("from"), Just("to"), Just("and"), Just(","), Just("'"), Just("\""), Just("["), Just("]"),
                Just("("), Just(")"), Just("-"), Just("3"), Just("-4.5"), Just("1,000"), Just("5%"), Just("$7"),
                Just("May"), Just("3rd"), Just("2024"), Just("10:30"), Just("pm"), Just("Oslo"), Just("of"),
                Just("the"), Just("X"), Just("x^2"), Just("="), Just("a@b.c"), Just("U.S."), Just("°"), Just("twenty"),
                Just("million"), Just("per"), Just("meters"), Just("second"), Just("\n"), Just("é"), Just("."),
            ],
            0..40,
        ),
        which in 0usize..70,
    ) {
        let forms = forms();
        let (tool, schema) = &forms[which % forms.len()];
        holds(&words.join(" "), tool, schema);
        holds(&words.concat(), tool, schema);
    }
}
