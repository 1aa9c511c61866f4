//! Shared by the tests: the tools of all cases and feeding a reply in pieces.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod case;

use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::model::{ModelChunk, Strategy, Usage};
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};
use steward_parse::{Out, Parsed, StreamParser, ToolIndex};

pub fn specs() -> Vec<ToolSpec> {
    let text = json!({"type": "string"});
    let tools = [
        ("read", json!({"path": text}), json!(["path"])),
        ("write", json!({"path": text, "content": text}), json!(["path", "content"])),
        ("web_search", json!({"query": text, "limit": {"type": "integer"}}), json!(["query"])),
        ("list", json!({"path": text}), json!([])),
        ("sql", json!({"query": text}), json!(["query"])),
        ("terminal", json!({"program": text, "arguments": {"type": "array", "items": text}}), json!(["program"])),
        ("wait", json!({"seconds": {"type": "integer"}}), json!(["seconds"])),
        ("final_answer", json!({"text": text}), json!(["text"])),
    ];
    tools.into_iter().map(spec).collect()
}

/// The canonical tools of the reference.
pub fn canonical() -> Vec<ToolSpec> {
    let text = json!({"type": "string"});
    let tools = [
        ("web_search", json!({"query": text}), json!(["query"])),
        ("web_fetch", json!({"url": text}), json!(["url"])),
        ("read", json!({"path": text}), json!(["path"])),
        ("write", json!({"path": text, "content": text}), json!(["path", "content"])),
        ("exec", json!({"command": text}), json!(["command"])),
        ("browser", json!({"action": text, "url": text}), json!(["action"])),
    ];
    tools.into_iter().map(spec).collect()
}

fn spec((name, properties, required): (&str, Value, Value)) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("Tool {name}."),
        parameters: json!({"type": "object", "properties": properties, "required": required}).into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill: None,
    }
}

/// Feeds `chunks`; checks what must hold for every reply.
pub fn feed(strategy: Strategy, chunks: &[ModelChunk], finish: &str) -> (Parsed, Vec<Out>) {
    let mut parser = StreamParser::new(strategy, &ToolIndex::new(&specs()), "c");
    let mut outs = Vec::new();
    for chunk in chunks {
        outs.extend(parser.push(chunk));
    }
    outs.extend(parser.push(&ModelChunk::End { finish: finish.into(), usage: Usage::default(), model: String::new() }));
    let mut parsed = parser.finish();
    outs.append(&mut parsed.tail);
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut started = Vec::new();
    for out in outs {
        match out {
            Out::Text(piece) => text.push_str(&piece),
            Out::Reasoning(piece) => reasoning.push_str(&piece),
            Out::CallStarted { .. } => started.push(out),
            Out::Retracted => {
                text.clear();
                reasoning.clear();
                started.clear();
            }
        }
    }
    assert_eq!(text, parsed.text, "what was shown is the text");
    assert_eq!(reasoning, parsed.reasoning, "what was shown is the reasoning");
    (parsed, started)
}

/// `text` cut after every `sizes` characters in turn.
pub fn pieces(text: &str, sizes: &[usize]) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at, mut turn) = (Vec::new(), 0, 0);
    while at < chars.len() {
        let size = sizes[turn % sizes.len()].max(1);
        let end = (at + size).min(chars.len());
        out.push(chars[at..end].iter().collect());
        at = end;
        turn += 1;
    }
    out
}
