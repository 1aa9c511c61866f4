//! Arguments against a tool's schema: what is mended, and what is refused with the field's name.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use steward_parse::fit::fit;

#[derive(Deserialize)]
struct File {
    fits: Vec<Fits>,
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
struct Fits {
    name: String,
    given: Value,
    fitted: Value,
}

#[derive(Deserialize)]
struct Refused {
    name: String,
    given: Value,
    names: String,
}

fn schema() -> Value {
    let place = json!({"type": "object", "properties": {"city": {"type": "string"}, "people": {"type": "integer"}}, "required": ["city"]});
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "maxLength": 40},
            "limit": {"type": "integer"},
            "ratio": {"type": "number"},
            "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "pages": {"type": "array", "items": {"type": "integer"}},
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "where": place,
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "place": {"$ref": "#/$defs/place"},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {"place": place},
    })
}

#[test]
fn all_cases() {
    let file: File = toml::from_str(include_str!("data/fit.toml")).unwrap();
    let schema = schema();
    for case in &file.fits {
        let fitted = fit("read", &schema, &case.given).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(fitted.arguments, case.fitted, "{}", case.name);
        assert_eq!(fitted.fixes.is_empty(), case.given == case.fitted, "{}: {:?}", case.name, fitted.fixes);
        let again = fit("read", &schema, &fitted.arguments).unwrap();
        assert_eq!((again.arguments, again.fixes.len()), (fitted.arguments, 0), "{}", case.name);
    }
    for case in &file.refused {
        let error = fit("read", &schema, &case.given).expect_err(&case.name).to_string();
        assert!(error.contains(&case.names) && error.contains("`read`"), "{}: {error}", case.name);
    }
    assert!(file.fits.len() >= 20 && file.refused.len() >= 10);
    assert!(fit("read", &schema, &json!([1])).is_err());
}

#[test]
fn what_stands_behind_references_is_mended_too() {
    let schema = json!({
        "$ref": "#/definitions/Order",
        "definitions": {
            "Order": {"allOf": [
                {"$ref": "#/definitions/Named"},
                {"type": "object", "properties": {"count": {"$ref": "#/definitions/the%20count"}}, "required": ["count"]},
            ]},
            "Named": {"properties": {"first_name": {"type": "string"}}},
            "the count": {"type": "integer"},
        },
    });
    let fitted = fit("order", &schema, &json!({"firstName": "Ann", "count": "3"})).unwrap();
    assert_eq!(fitted.arguments, json!({"first_name": "Ann", "count": 3}));
    assert!(fit("order", &schema, &json!({"firstName": "Ann"})).is_err());
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9{}\\[\\]\":, ]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let name = prop::sample::select(vec![
            "path", "limit", "deep", "tags", "pages", "unit", "where", "maybe", "place", "counts", "city", "people",
            "x",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What is handed on fits, and what fits already is never changed.
    #[test]
    fn what_comes_out_fits(given in anything()) {
        let schema = schema();
        let sound = steward_core::schema::validate(&schema, &given).is_ok();
        if let Ok(fitted) = fit("read", &schema, &given) {
            prop_assert!(steward_core::schema::validate(&schema, &fitted.arguments).is_ok());
            if sound {
                prop_assert_eq!(fitted.arguments, given);
            }
        } else {
            prop_assert!(!sound);
        }
    }

    /// A schema may be anything as well: it may refer to itself.
    #[test]
    fn no_schema_breaks_it(schema in anything(), given in anything()) {
        let _ = fit("x", &schema, &given);
        let knot = json!({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/b"}}});
        let _ = fit("x", &knot, &json!({"a": {"a": given.clone()}, "b": given}));
    }
}

#[test]
fn schemas_that_multiply_or_lead_in_circles_are_refused() {
    let twice = |next: usize| {
        let part = json!({"$ref": format!("#/$defs/d{next}")});
        json!({"anyOf": [part, part]})
    };
    let mut parts: serde_json::Map<String, Value> = (0..30).map(|n| (format!("d{n}"), twice(n + 1))).collect();
    parts.insert("d30".to_owned(), json!({"type": "string"}));
    parts.insert("circle".to_owned(), json!({"anyOf": [{"$ref": "#/$defs/circle"}]}));
    for place in ["d0", "circle"] {
        let schema =
            json!({"type": "object", "properties": {"s": {"$ref": format!("#/$defs/{place}")}}, "$defs": parts});
        let refused = fit("t", &schema, &json!({"s": {"a": 1}})).unwrap_err();
        assert!(refused.to_string().contains("the tool's own schema"), "{refused}");
    }
}

#[test]
fn the_published_form_of_save_memory_replaces_all_of_it() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["text"], "properties": {
        "text": {"type": "string"}, "mode": {"type": "string", "enum": ["append", "replace"]}}});
    let fitted = fit("save_memory", &schema, &json!({"memory": "Ann keeps bees."})).unwrap();
    assert_eq!(fitted.arguments, json!({"text": "Ann keeps bees.", "mode": "replace"}));
    assert!(fit("notes_create", &schema, &json!({"memory": "x"})).is_err());
}
