//! Every case of `cases/*.toml`, whole and in pieces.

use crate::support;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use steward_core::model::{ModelChunk, Strategy};
use steward_parse::Parsed;
use support::{feed, pieces};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    strategy: Strategy,
    case: Vec<Case>,
}

/// What is not given is expected to be empty or false; `reasoning`, `source`, `note` are compared
/// only where given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    input: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    deltas: Vec<Delta>,
    #[serde(default = "stop")]
    finish: String,
    #[serde(default)]
    calls: Vec<Value>,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    broken: Vec<String>,
    #[serde(default)]
    text: String,
    reasoning: Option<String>,
    #[serde(default)]
    done: bool,
    source: Option<String>,
    confidence_below: Option<f32>,
    note: Option<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Delta {
    #[serde(default)]
    index: usize,
    id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    arguments: String,
}

fn stop() -> String {
    "stop".into()
}

fn chunks(case: &Case, sizes: &[usize]) -> Vec<ModelChunk> {
    let mut chunks: Vec<ModelChunk> = Vec::new();
    chunks.extend(pieces(&case.thinking, sizes).into_iter().map(ModelChunk::Reasoning));
    chunks.extend(pieces(&case.input, sizes).into_iter().map(ModelChunk::Text));
    for delta in &case.deltas {
        let mut head = true;
        let mut parts = pieces(&delta.arguments, sizes);
        if parts.is_empty() {
            parts.push(String::new());
        }
        for part in parts {
            chunks.push(ModelChunk::ToolCall {
                index: delta.index,
                id: delta.id.clone().filter(|_| head),
                name: delta.name.clone().filter(|_| head),
                arguments: part,
            });
            head = false;
        }
    }
    chunks
}

fn check(strategy: Strategy, case: &Case) -> Result<(), String> {
    let (whole, started) = feed(strategy, &chunks(case, &[usize::MAX]), &case.finish);
    for sizes in [&[1][..], &[2, 3], &[7], &[1, 40]] {
        let again = feed(strategy, &chunks(case, sizes), &case.finish);
        if again != (whole.clone(), started.clone()) {
            return Err(format!("in pieces of {sizes:?}: {again:?}\nwhole: {whole:?} {started:?}"));
        }
    }
    compare(case, &whole).map_err(|what| format!("{what}\nof {whole:#?}"))
}

fn compare(case: &Case, parsed: &Parsed) -> Result<(), String> {
    let same = |what: &str, got: Value, want: Value| {
        if got == want { Ok(()) } else { Err(format!("{what}: got {got}, expected {want}")) }
    };
    let calls: Vec<Value> = parsed.calls.iter().map(|call| json!([call.name, call.arguments])).collect();
    same("calls", json!(calls), json!(case.calls))?;
    let broken: Vec<_> = parsed.broken.iter().map(|call| &call.name).collect();
    same("broken", json!(broken), json!(case.broken))?;
    same("text", json!(parsed.text), json!(case.text))?;
    same("done", json!(parsed.done), json!(case.done))?;
    if let Some(reasoning) = &case.reasoning {
        same("reasoning", json!(parsed.reasoning), json!(reasoning))?;
    }
    if !case.ids.is_empty() {
        let ids: Vec<_> = parsed.calls.iter().map(|call| &call.id).collect();
        same("ids", json!(ids), json!(case.ids))?;
    }
    for call in &parsed.calls {
        if let Some(source) = &case.source {
            same("source", json!(call.source), json!(source))?;
        }
        if let Some(limit) = case.confidence_below
            && call.confidence >= limit
        {
            return Err(format!("confidence {} is not below {limit}", call.confidence));
        }
    }
    match &case.note {
        Some(note) if !parsed.diagnostics.iter().any(|line| line.contains(note)) => {
            Err(format!("no diagnostic holds `{note}`"))
        }
        _ => Ok(()),
    }
}

#[test]
fn all_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut count, mut failures) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let file: File = toml::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &file.case {
            count += 1;
            if let Err(what) = check(file.strategy, case) {
                failures.push(format!("{} / {}: {what}", path.display(), case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases fail:\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(count >= 120, "only {count} cases were found");
}
