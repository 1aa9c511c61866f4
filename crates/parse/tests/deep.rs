//! Deep plans as models write them.

use serde_json::json;
use std::sync::Arc;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};
use steward_parse::{ToolIndex, deep};

fn tools() -> ToolIndex {
    let spec = |name: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object"}).into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 100,
        skill: None,
    };
    ToolIndex::new(&[spec("read"), spec("write")])
}

fn brief(text: &str) -> Vec<String> {
    deep::steps(text, &tools())
        .iter()
        .map(|step| {
            format!(
                "{} {} [{}] after {:?}",
                step.number,
                step.goal,
                step.tool.as_deref().unwrap_or(""),
                step.depends_on
            )
        })
        .collect()
}

#[test]
fn json_in_many_shapes() {
    let expected = ["1 look [read] after []", "2 save [write] after [1]"];
    for text in [
        r#"{"steps": [{"goal": "look", "tool": "read"}, {"goal": "save", "tool": "write", "depends_on": [1]}]}"#,
        r#"[{"number": 1, "task": "look", "tool": "`read`"}, {"number": 2, "description": "save", "tool": "write", "depends_on": "1"}]"#,
        "Here is my plan:\n```json\n{\"plan\": [{\"goal\": \"look\", \"tool\": \"read\",}, {\"goal\": \"save\", \"tool\": \"write\", \"depends_on\": [\"1\"]}]}\n```",
    ] {
        assert_eq!(brief(text), expected, "{text}");
    }
}

#[test]
fn numbered_lists() {
    let text = "Plan:\n1. look (tool: read)\n2) **save** (tool: write) (after 1)\nStep 3: tell the user [risk: none]\n\nThat is all.";
    assert_eq!(brief(text), ["1 look [read] after []", "2 save [write] after [1]", "3 tell the user [] after []"]);
}

#[test]
fn what_is_no_plan_gives_no_steps() {
    for text in ["", "I can't plan that.", "{}", "[1, 2]", "{\"steps\": 3}", "{\"steps\": [{}]}"] {
        assert_eq!(brief(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(brief(&"1. x\n".repeat(100_000)).len(), 4000);
}

#[test]
fn tools_that_are_not_there_are_left_out() {
    assert_eq!(brief(r#"[{"goal": "fly", "tool": "jetpack"}]"#), ["1 fly [] after []"]);
}
