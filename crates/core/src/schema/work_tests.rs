use crate::schema::{check, validate};
use serde_json::{Map, Value, json};

/// `d0` asks for `d1` twice, that for `d2` twice, and so on.
fn doubling(keyword: &str, times: usize) -> Value {
    let twice = |next: usize| {
        let part = json!({"$ref": format!("#/definitions/d{next}")});
        match keyword {
            "dependentSchemas" => json!({keyword: {"a": part, "b": part}}),
            "if" => json!({"if": part, "then": part}),
            _ => json!({keyword: [part, part]}),
        }
    };
    let mut parts: Map<String, Value> = (0..times).map(|n| (format!("d{n}"), twice(n + 1))).collect();
    parts.insert(format!("d{times}"), json!({"type": "string"}));
    object(&json!({"$ref": "#/definitions/d0"}), &Value::Object(parts))
}

fn object(s: &Value, definitions: &Value) -> Value {
    json!({"type": "object", "properties": {"s": s}, "definitions": definitions})
}

fn refused(schema: &Value, by: &str) {
    let why = check(schema).unwrap_err();
    assert!(why.contains(by), "{why}");
}

#[test]
fn parts_that_multiply_are_refused() {
    for keyword in ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"] {
        let bomb = doubling(keyword, 30);
        refused(&bomb, "multiply");
        assert!(validate(&bomb, &json!({"s": "x"})).unwrap_err().contains("too many steps"), "{keyword}");
        let fine = doubling(keyword, 6);
        assert_eq!(check(&fine), Ok(()), "{keyword}");
        // Of the two that `oneOf` has, both fit.
        assert_eq!(validate(&fine, &json!({"s": "x"})).is_ok(), keyword != "oneOf", "{keyword}");
    }
    // Each level looks at those below it again.
    let level =
        |n: usize| json!({"unevaluatedProperties": false, "allOf": [{"$ref": format!("#/definitions/d{}", n + 1)}]});
    let mut parts: Map<String, Value> = (0..24).map(|n| (format!("d{n}"), level(n))).collect();
    parts.insert("d24".to_owned(), json!({"properties": {"a": true}}));
    refused(&object(&json!({"$ref": "#/definitions/d0"}), &Value::Object(parts)), "multiply");
}

#[test]
fn parts_that_multiply_within_values_are_refused_with_deep_arguments() {
    let twice = json!({"anyOf": [{"$ref": "#/definitions/node"}, {"$ref": "#/definitions/node"}]});
    let node = json!({"type": "object", "properties": {"next": twice}});
    let schema = object(&json!({"$ref": "#/definitions/node"}), &json!({"node": node}));
    assert_eq!(check(&schema), Ok(()));
    let deep = |levels: usize| json!({"s": (0..levels).fold(json!({}), |within, _| json!({"next": within}))});
    assert_eq!(validate(&schema, &deep(5)), Ok(()));
    assert!(validate(&schema, &deep(40)).unwrap_err().contains("too many steps"));
}

#[test]
fn much_for_each_of_many_values_is_refused() {
    let many: Vec<Value> = (0..2_000).map(Value::from).collect();
    let other: Vec<Value> = (5_000..7_100).map(Value::from).collect();
    for items in [
        json!({"allOf": vec![json!({"minimum": 0}); 200]}),
        json!({"enum": other}),
        json!({"allOf": vec![json!(true); 150]}),
    ] {
        let schema = object(&json!({"type": "array", "items": items}), &json!({}));
        assert_eq!(check(&schema), Ok(()));
        assert!(validate(&schema, &json!({"s": many})).unwrap_err().contains("too many steps"), "{items}");
    }
    let looks_around = object(&json!({"items": {"pattern": "^(?=(a+))(a|aa)+$"}}), &json!({}));
    assert!(validate(&looks_around, &json!({"s": vec!["aaaa!"; 2_000]})).unwrap_err().contains("too many steps"));
    let looks_on = object(&json!({"pattern": "(?=(.*.*=.*))x"}), &json!({}));
    assert!(validate(&looks_on, &json!({"s": "a".repeat(200_000)})).unwrap_err().contains("too many steps"));
    let once = validate(&looks_around, &json!({"s": [format!("{}!", "a".repeat(200))]}));
    assert!(once.unwrap_err().contains("`s.0`"));
}

#[test]
fn circles_are_refused() {
    let itself = json!({"a": {"allOf": [{"$ref": "#/definitions/b"}]}, "b": {"anyOf": [{"$ref": "#/definitions/a"}]}});
    let schema = object(&json!({"$ref": "#/definitions/a"}), &itself);
    refused(&schema, "circle");
    assert!(validate(&schema, &json!({"s": 1})).is_err());
    assert_eq!(validate(&schema, &json!({})), Ok(()));
}

#[test]
fn long_deep_and_patterned_schemas_are_refused() {
    refused(&json!({"type": "object", "description": "x".repeat(300_000)}), "KiB");
    refused(&(0..200).fold(json!(true), |within, _| json!({"not": within})), "nested");
    let named: Map<String, Value> = (0..51).map(|n| (format!("p{n}"), json!({"pattern": format!("^{n}$")}))).collect();
    refused(&json!({"type": "object", "properties": named}), "patterns");
}

#[test]
fn references_lead_to_one_place_in_the_schema() {
    let places = json!({
        "a/b~c d": {"type": "integer"},
        "named": {"$anchor": "whole", "type": "integer"},
    });
    for reference in ["#/definitions/a~1b~0c%20d", "#whole", "#/properties/n", "https://example.org/tool#whole"] {
        let mut schema = object(&json!({"$ref": reference}), &places);
        schema["$id"] = json!("https://example.org/tool");
        schema["properties"]["n"] = json!({"type": "integer"});
        assert_eq!(check(&schema), Ok(()), "{reference}");
        assert_eq!(validate(&schema, &json!({"s": 1})), Ok(()), "{reference}");
        assert!(validate(&schema, &json!({"s": "x"})).unwrap_err().contains("`s`"), "{reference}");
    }
    for reference in
        ["https://example.com/x.json", "file:///etc/passwd", "#/definitions/none", "#none", "other.json#whole"]
    {
        let schema = object(&json!({"$ref": reference}), &places);
        refused(&schema, "names no single place");
        assert!(validate(&schema, &json!({"s": 1})).is_err(), "{reference}");
    }
    let twice = json!({"a": {"$anchor": "x"}, "b": {"$anchor": "x"}});
    refused(&object(&json!({"$ref": "#x"}), &twice), "names no single place");
}

#[test]
fn an_id_within_does_not_hide_what_a_reference_leads_to() {
    let mut bomb = doubling("allOf", 30);
    bomb["$id"] = json!("https://example.org/inner");
    let harmless: Map<String, Value> = (0..=30).map(|n| (format!("d{n}"), json!(true))).collect();
    let schema = json!({"type": "object", "properties": {"s": bomb}, "definitions": harmless});
    refused(&schema, "`$id` within");
    assert!(validate(&schema, &json!({"s": {"s": "x"}})).is_err());
    assert_eq!(
        check(&json!({"type": "object", "properties": {"s": {"$id": "https://example.org/s", "type": "string"}}})),
        Ok(())
    );
}

#[test]
fn schemas_of_real_programs_pass() {
    let tree = json!({
        "$defs": {"Node": {
            "properties": {
                "value": {"type": "integer"},
                "children": {"items": {"$ref": "#/$defs/Node"}, "type": "array", "default": []},
                "left": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": null},
                "right": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": null},
            },
            "required": ["value"], "type": "object",
        }},
        "$ref": "#/$defs/Node",
    });
    assert_eq!(check(&tree), Ok(()));
    let leaf = json!({"value": 1, "left": null});
    let full = (0..9).fold(leaf, |one, n| json!({"value": n, "left": one, "right": one}));
    assert_eq!(validate(&tree, &full), Ok(()));

    // Thirty forms that a field tells apart, some with further ones within.
    let form = |n: usize| {
        json!({"type": "object", "required": ["kind"], "additionalProperties": false, "properties": {
            "kind": {"const": format!("k{n}")}, "x": {"type": "number"}, "label": {"type": "string"},
            "then": {"$ref": "#/$defs/Step"},
        }})
    };
    let mut parts: Map<String, Value> = (0..30).map(|n| (format!("k{n}"), form(n))).collect();
    let forms: Vec<Value> = (0..30).map(|n| json!({"$ref": format!("#/$defs/k{n}")})).collect();
    parts.insert("Step".to_owned(), json!({"oneOf": forms, "discriminator": {"propertyName": "kind"}}));
    let steps = json!({"type": "object", "properties": {"steps": {"type": "array", "items": {"$ref": "#/$defs/Step"}}}, "$defs": parts});
    assert_eq!(check(&steps), Ok(()));
    let step = json!({"kind": "k29", "x": 1, "label": "l"});
    assert_eq!(validate(&steps, &json!({"steps": vec![step.clone(); 500]})), Ok(()));
    assert_eq!(validate(&steps, &json!({"steps": [{"kind": "k3", "then": {"kind": "k4", "then": step}}]})), Ok(()));

    let rows = json!({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": ["number", "string"]}}}}});
    let password = object(&json!({"pattern": "^(?=.*[A-Z])(?=.*\\d)(?!.*secret).{8,}$"}), &json!({}));
    assert_eq!(validate(&password, &json!({"s": format!("{}A1", "a".repeat(10_000))})), Ok(()));
    assert_eq!(check(&object(&json!({"pattern": "^\\p{L}{1,40}$"}), &json!({}))), Ok(()));

    let row = json!({"a": 1, "b": "x", "c": 2.5});
    assert_eq!(validate(&rows, &json!({"rows": vec![row; 10_000]})), Ok(()));
}
