//! The names that models are used to, over the tools that the program ships.

use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::model::{ModelChunk, Strategy, Usage};
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};
use steward_parse::fit::fit;
use steward_parse::{Parsed, Reading, StreamParser, ToolIndex};

fn shipped() -> Vec<ToolSpec> {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    [
        ("read", json!({"path": text}), json!(["path"])),
        ("write", json!({"path": text, "content": text}), json!(["path", "content"])),
        ("web_fetch", json!({"url": text}), json!(["url"])),
        ("terminal", json!({"command": text, "argv": {"type": "array", "items": text}}), json!([])),
        ("python", json!({"code": text}), json!(["code"])),
        ("browser_open", json!({"url": text}), json!(["url"])),
        ("browser_snapshot", json!({"part": number}), json!([])),
        ("browser_screenshot", json!({}), json!([])),
        ("browser_click", json!({"element": number}), json!(["element"])),
    ]
    .into_iter()
    .map(|(name, properties, required)| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters:
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
                .into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill: None,
    })
    .collect()
}

fn parsed(reading: Reading, text: &str, specs: &[ToolSpec]) -> Parsed {
    let mut parser = StreamParser::with(reading, &ToolIndex::new(specs), "c");
    parser.push(&ModelChunk::Text(text.to_owned()));
    parser.push(&ModelChunk::End { finish: "stop".to_owned(), usage: Usage::default(), model: String::new() });
    parser.finish()
}

/// Name and arguments as they reach the dispatcher.
fn reached(name: &str, arguments: &Value) -> Result<(String, Value), String> {
    let specs = shipped();
    let index = ToolIndex::new(&specs);
    let own = index.resolve_call(name, arguments.as_object()).ok_or_else(|| format!("{name} is nothing"))?;
    let spec = specs.iter().find(|spec| spec.name == own).unwrap();
    let fitted = fit(own, &spec.parameters, arguments).map_err(|error| error.to_string())?;
    Ok((own.to_owned(), fitted.arguments))
}

#[test]
fn usual_names_reach_the_tools_there_are() {
    for (name, given, own, fitted) in [
        ("exec", json!({"command": "ls -l"}), "terminal", json!({"command": "ls -l"})),
        ("bash", json!({"cmd": "ls -l"}), "terminal", json!({"command": "ls -l"})),
        ("shell", json!({"command": "pwd"}), "terminal", json!({"command": "pwd"})),
        ("run", json!({"command": "pwd"}), "terminal", json!({"command": "pwd"})),
        ("shell", json!({"command": ["ls", "-l"]}), "terminal", json!({"command": "[\"ls\",\"-l\"]"})),
        ("save", json!({"filename": "a", "text": "b"}), "write", json!({"path": "a", "content": "b"})),
        ("open", json!({"path": "a"}), "read", json!({"path": "a"})),
        ("open", json!({"url": "https://a.example"}), "web_fetch", json!({"url": "https://a.example"})),
        ("browse", json!({"url": "https://a.example"}), "web_fetch", json!({"url": "https://a.example"})),
        ("fetch", json!({"url": "https://a.example"}), "web_fetch", json!({"url": "https://a.example"})),
        (
            "browser",
            json!({"action": "navigate", "url": "https://a.example"}),
            "browser_open",
            json!({"url": "https://a.example"}),
        ),
        ("browser", json!({"url": "https://a.example"}), "browser_open", json!({"url": "https://a.example"})),
        ("browser_navigate", json!({"url": "https://a.example"}), "browser_open", json!({"url": "https://a.example"})),
        ("browser", json!({"action": "screenshot"}), "browser_screenshot", json!({})),
        ("browser", json!({"action": "Snapshot"}), "browser_snapshot", json!({})),
        ("browser", json!({"action": "click", "ref": "7"}), "browser_click", json!({"element": 7})),
    ] {
        assert_eq!(reached(name, &given), Ok((own.to_owned(), fitted)), "{name} {given}");
    }
    // What no tool does, and what would lose something that was said.
    for (name, given) in [
        ("browser", json!({"action": "type", "text": "x"})),
        ("browser", json!({"action": "fly"})),
        ("browser", json!({"action": "screenshot", "url": "https://a.example"})),
        ("read", json!({"action": "x", "path": "a"})),
    ] {
        assert!(reached(name, &given).is_err(), "{name} {given}");
    }
}

#[test]
fn without_a_browser_a_page_is_fetched() {
    let specs: Vec<ToolSpec> = shipped().into_iter().filter(|spec| !spec.name.starts_with("browser")).collect();
    let index = ToolIndex::new(&specs);
    let given = json!({"action": "navigate", "url": "https://a.example"});
    assert_eq!(index.resolve_call("browser", given.as_object()), Some("web_fetch"));
    let given = json!({"action": "click", "element": 3});
    assert_eq!(index.resolve_call("browser", given.as_object()), None);
}

#[test]
fn every_form_of_reply_reaches_them() {
    for (strategy, text) in [
        (
            Strategy::React,
            "Thought: look\nAction: browser\nAction Input: {\"action\": \"navigate\", \"url\": \"https://a.example\"}",
        ),
        (Strategy::Markers, "[TOOL:browser|action=navigate|url=https://a.example]\n[DONE]"),
        (
            Strategy::GuidedJson,
            r#"{"reasoning": "r", "tool_calls": [{"name": "browser", "arguments": {"action": "navigate", "url": "https://a.example"}}], "done": false}"#,
        ),
    ] {
        let found = parsed(Reading::strict(strategy), text, &shipped());
        let names: Vec<&str> = found.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["browser_open"], "{strategy:?}: {:?}", found.diagnostics);
    }
}

#[test]
fn a_second_call_of_the_same_tool_is_kept() {
    for (strategy, text) in [
        (Strategy::Markers, "[TOOL:exec|command=ls]\n[TOOL:exec|command=ls]\n[TOOL:exec|command=pwd]\n[DONE]"),
        (
            Strategy::GuidedJson,
            r#"{"reasoning": "r", "tool_calls": [{"name": "exec", "arguments": {"command": "ls"}}, {"name": "exec", "arguments": {"command": "ls"}}, {"name": "exec", "arguments": {"command": "pwd"}}], "done": false}"#,
        ),
    ] {
        let found = parsed(Reading::strict(strategy), text, &shipped());
        let commands: Vec<&str> = found.calls.iter().map(|call| call.arguments["command"].as_str().unwrap()).collect();
        assert_eq!(commands, ["ls", "ls", "pwd"], "{strategy:?}");
        let mut ids: Vec<&str> = found.calls.iter().map(|call| call.id.as_str()).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3, "{strategy:?}");
    }
}

#[test]
fn a_phrase_that_runs_a_command_gives_a_call_that_fits() {
    let specs = shipped();
    let found = parsed(Reading::any(Strategy::React), "I will run the command `ls -la`", &specs);
    let call = &found.calls[0];
    assert_eq!((call.name.as_str(), &call.arguments), ("terminal", &json!({"command": "ls -la"})));
    let spec = specs.iter().find(|spec| spec.name == "terminal").unwrap();
    assert!(fit("terminal", &spec.parameters, &call.arguments).is_ok());
}

#[test]
fn a_list_of_what_is_no_call_is_not_kept_once_for_each_of_its_entries() {
    let text = format!("<tool_call>[{}]</tool_call>", vec!["1"; 5_000].join(","));
    let parsed = parsed(Reading::any(Strategy::Native), &text, &shipped());
    let kept: usize = parsed.broken.iter().map(|call| call.raw.len()).sum();
    assert!(!parsed.broken.is_empty() && parsed.broken.len() <= 200, "{}", parsed.broken.len());
    assert!(kept <= text.len(), "{kept} bytes of {}", text.len());
}
