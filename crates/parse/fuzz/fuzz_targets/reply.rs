//! Any reply in any form: no panic, the same result in pieces. Byte 1 chooses the form, byte 2 the length of a piece.
#![no_main]

use std::sync::Arc;
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use steward_core::model::ModelChunk;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};
use steward_parse::{Form, Parsed, Reading, StreamParser, ToolIndex};

const FORMS: [Form; 5] = [
    Form::Native,
    Form::GuidedJson,
    Form::React,
    Form::Markers,
    Form::Fuzzy,
];

fn tools() -> ToolIndex {
    let text = json!({"type": "string"});
    let tool = |name: &str, properties, required| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": properties, "required": required}).into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 100,
        skill: None,
    };
    ToolIndex::new(&[
        tool("read", json!({"path": text}), json!(["path"])),
        tool("list", json!({"path": text}), json!([])),
        tool(
            "wait",
            json!({"seconds": {"type": "integer"}}),
            json!(["seconds"]),
        ),
    ])
}

fn parse(reading: Reading, tools: &ToolIndex, text: &str, size: usize) -> Parsed {
    let mut parser = StreamParser::with(reading, tools, "c");
    let chars: Vec<char> = text.chars().collect();
    for piece in chars.chunks(size) {
        parser.push(&ModelChunk::Text(piece.iter().collect()));
    }
    let mut parsed = parser.finish();
    parsed.tail.clear();
    parsed
}

fuzz_target!(|data: &[u8]| {
    let [form, size, rest @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let form = FORMS[usize::from(form >> 1) % FORMS.len()];
    let reading = if data[0] & 1 == 0 {
        Reading::any(form)
    } else {
        Reading::strict(form)
    };
    let tools = tools();
    let whole = parse(reading, &tools, &text, usize::MAX);
    let pieces = parse(reading, &tools, &text, usize::from(size % 16) + 1);
    assert_eq!(whole, pieces);
});
