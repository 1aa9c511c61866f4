use crate::fakes::Bench;
use serde_json::json;
use steward_core::policy::RiskClass;
use steward_core::ports::Tools as _;
use steward_core::tool::{EffectClass, ToolSpec};

#[test]
fn every_tool_is_described_and_closed() {
    let bench = Bench::new();
    let all = bench.tools.catalogue();
    let names: Vec<&str> = all.iter().map(|spec| spec.name.as_str()).collect();
    for name in [
        "list",
        "read",
        "grep",
        "write",
        "sql",
        "terminal",
        "terminal_write",
        "python",
        "web_fetch",
        "notes_create",
        "notes_list",
        "notes_read",
        "reminders_create",
        "reminders_list",
        "reminders_done",
        "save_memory",
        "mail_draft",
        "feedback",
        "final_answer",
    ] {
        assert!(names.contains(&name), "{name} is missing");
    }
    check(&all);
    let risk = |name: &str| all.iter().find(|spec| spec.name == name).unwrap().risk;
    assert_eq!(risk("terminal"), RiskClass::Read);
    assert_eq!(risk("write"), RiskClass::Write);
    assert_eq!(risk("web_fetch"), RiskClass::External);
    let takes_data_out = |name: &str| all.iter().find(|spec| spec.name == name).unwrap().takes_data_out();
    assert!(takes_data_out("web_fetch"));
    assert!(!takes_data_out("terminal_write") && !takes_data_out("write"));
}

/// What holds for every built-in tool.
pub fn check(all: &[ToolSpec]) {
    for spec in all {
        let name = &spec.name;
        assert!(spec.description.len() > 20, "{name} has no description");
        assert!((12..=25).contains(&spec.utterances.len()), "{name}: {} utterances", spec.utterances.len());
        assert!(spec.result_limit >= 1000, "{name}");
        assert_eq!(spec.parameters["additionalProperties"], json!(false), "{name}");
        assert_eq!(spec.parameters["type"], json!("object"), "{name}");
        let properties = spec.parameters["properties"].as_object().unwrap();
        for required in spec.parameters["required"].as_array().unwrap_or(&vec![]) {
            assert!(properties.contains_key(required.as_str().unwrap()), "{name}");
        }
        // What only looks can be repeated, what changes something is never taken for reading.
        if spec.risk == RiskClass::Read {
            assert_eq!(spec.effect, EffectClass::Read, "{name}");
        }
    }
}

#[tokio::test]
async fn control_tools_return_their_text() {
    let bench = Bench::new();
    assert_eq!(bench.ok("final_answer", json!({"text": "done"})).await.content, "done");
    assert_eq!(bench.ok("feedback", json!({"question": "which?"})).await.content, "which?");
    let error = bench.refused("feedback", json!({"question": ""})).await;
    assert!(error.contains("question"), "{error}");
}

#[tokio::test]
async fn what_can_not_be_undone_says_so_before() {
    let bench = Bench::new();
    for tool in ["domain_save", "view_save"] {
        let preview = bench.preview(tool, json!({"source": "domain a {}"})).await;
        assert!(preview.summary.contains("earlier versions are kept"), "{tool}: {preview:?}");
        assert!(!preview.reversible, "{tool}: {preview:?}");
    }
}
