//! Plans: whole, wrapped, broken and while they stream.

use crate::support;
use serde_json::{Value, json};
use steward_parse::{PlanError, PlanStream, ToolIndex, guided, plan, react};
use support::specs;

fn check(text: &str, expected: Result<&[(&str, Value)], PlanError>) {
    let got = plan::parse(text, &ToolIndex::new(&specs()));
    let got = got.map(|plan| plan.steps.into_iter().map(|step| (step.tool, step.args)).collect::<Vec<_>>());
    let expected = expected.map(|steps| steps.iter().map(|(tool, args)| ((*tool).to_owned(), args.clone())).collect());
    assert_eq!(got, expected, "{text}");
}

#[test]
fn wrappers_make_no_difference() {
    let steps = r#"[{"thought": "look", "tool": "read", "args": {"path": "a"}}, {"thought": "", "tool": "final_answer", "args": {"text": ""}}]"#;
    let expected = [("read", json!({"path": "a"})), ("final_answer", json!({"text": ""}))];
    for text in [
        steps.to_owned(),
        format!("```json\n{steps}\n```"),
        format!("Here is [my] plan {{see below}}:\n\n{steps}\n\nShall I?"),
        format!("{{\"plan\": {steps}}}"),
        format!("{{\"goal\": \"x\", \"steps\": {steps}, \"n\": 2}}"),
        steps.replace("\"tool\"", "\"name\"").replace("\"args\"", "\"arguments\""),
        steps.replace("\"read\"", "\"`Read`\""),
        steps.replace("}}]", "},},]"),
    ] {
        check(&text, Ok(&expected));
    }
}

#[test]
fn what_is_no_plan_says_so() {
    check("", Err(PlanError::Missing));
    check("I would read the file.", Err(PlanError::Missing));
    check("{\"a\": 1}", Err(PlanError::Missing));
    check("[1, 2]", Err(PlanError::Missing));
    check("[]", Err(PlanError::Empty));
    check("{\"plan\": []}", Err(PlanError::Empty));
    let step = r#"{"tool": "list", "args": {}}"#;
    check(&format!("[{step}, {{\"tool\": \"re"), Err(PlanError::BrokenOff { complete: 1 }));
    check(&format!("[{step}"), Err(PlanError::BrokenOff { complete: 1 }));
    let problem = |problem: &str| PlanError::Step { number: 2, problem: problem.to_owned() };
    check(&format!("[{step}, {{\"args\": {{}}}}]"), Err(problem("it names no `tool`")));
    check(&format!("[{step}, {{\"tool\": \"read\", \"args\": 5}}]"), Err(problem("`args` must be a JSON object")));
    check(&format!("[{step}, {{tool}}]"), Err(problem("it is no valid JSON")));
    check(&format!("[{step}, \"list\"]"), Err(problem("it is no object {\"thought\", \"tool\", \"args\"}")));
}

#[test]
fn steps_are_shown_as_soon_as_they_are_complete() {
    let mut stream = PlanStream::new(&ToolIndex::new(&specs()));
    assert!(stream.push("```json\n[{\"thought\": \"look\", \"tool\": \"list\", \"args\": {}").is_empty());
    let first = stream.push("}, {\"tool\":");
    assert_eq!((first.len(), first[0].tool.as_str(), first[0].thought.as_str()), (1, "list", "look"));
    assert_eq!(stream.push(" \"read\", \"args\": {\"path\": \"a\"}}").len(), 1);
    assert!(stream.push("]\n```").is_empty());
    assert_eq!(stream.finish().unwrap().steps.len(), 2);
}

#[test]
fn the_schema_accepts_exactly_calls_of_the_tools() {
    let schema = guided::schema(&specs());
    let reply = |calls: Value| json!({"reasoning": "r", "tool_calls": calls, "done": false});
    let ok = |calls: Value| steward_core::schema::validate(&schema, &reply(calls)).is_ok();
    assert!(ok(json!([])));
    assert!(ok(json!([{"name": "read", "arguments": {"path": "a"}}, {"name": "list", "arguments": {}}])));
    assert!(!ok(json!([{"name": "read", "arguments": {}}])));
    assert!(!ok(json!([{"name": "read", "arguments": {"path": 1}}])));
    assert!(!ok(json!([{"name": "fly", "arguments": {}}])));
    let none = guided::schema(&[]);
    assert!(steward_core::schema::validate(&none, &reply(json!([]))).is_ok());
    assert!(steward_core::schema::validate(&none, &reply(json!([{}]))).is_err());
}

/// The schema of issue n8n#25964 and its like: every field stands behind a reference.
fn order() -> Value {
    json!({
        "type": "object",
        "properties": {"order": {"$ref": "#/$defs/Order"}, "tree": {"$ref": "#/definitions/Node"}},
        "required": ["order"],
        "$defs": {
            "Order": {
                "allOf": [{"$ref": "#/$defs/Named"}],
                "type": "object",
                "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}}},
                "required": ["lines"],
            },
            "Line": {"type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}}, "required": ["sku"], "additionalProperties": false},
            "Named": {"type": "object", "properties": {"customer": {"type": "string"}}, "required": ["customer"]},
        },
        "definitions": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/definitions/Node"}}, "additionalProperties": false}},
    })
}

#[test]
fn references_of_a_tools_schema_hold_in_a_replys_schema() {
    let mut specs = specs();
    specs[0].parameters = order().into();
    // The same names mean other things in another tool.
    specs[1].parameters =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Line"}}, "$defs": {"Line": {"type": "integer"}}}).into();
    let schema = guided::schema(&specs);
    let check = |name: &str, arguments: Value| {
        let reply = json!({"reasoning": "r", "tool_calls": [{"name": name, "arguments": arguments}], "done": false});
        steward_core::schema::validate(&schema, &reply).is_ok()
    };
    let (first, second) = (specs[0].name.clone(), specs[1].name.clone());
    let line = json!([{"sku": "s", "count": 2}]);
    assert!(check(&first, json!({"order": {"customer": "c", "lines": line}, "tree": {"next": {"next": {}}}})));
    assert!(!check(&first, json!({"order": {"customer": "c", "lines": [{"sku": 1}]}})));
    assert!(!check(&first, json!({"order": {"lines": line}})), "what `allOf` asks for");
    assert!(!check(&first, json!({"order": {"customer": "c", "lines": line}, "tree": {"next": {"nxt": {}}}})));
    assert!(check(&second, json!({"a": 1})));
    assert!(!check(&second, json!({"a": {"sku": "s"}})));
}

#[test]
fn instructions_show_the_fields_behind_references() {
    let mut specs = specs();
    specs[0].parameters = order().into();
    for text in [guided::instructions(&specs), react::instructions(&specs)] {
        let order = r#"{"order": {"lines": array of {"sku": string, "count"?: integer}, "customer": string}, "tree"?: {"next"?: Node as above}}"#;
        assert!(text.contains(order), "{text}");
    }
}

#[test]
fn instructions_name_each_tool_and_its_arguments() {
    for text in [guided::instructions(&specs()), react::instructions(&specs())] {
        for spec in specs() {
            assert!(text.contains(&format!("- {}: ", spec.name)), "{}", spec.name);
        }
        assert!(text.contains(r#"{"query": string, "limit"?: integer}"#));
        assert!(text.contains("array of string"));
        assert!(!text.contains("{tools}"));
    }
}
