//! Cases in folders: what a model writes, which tools are on offer, what must come out.

use super::{canonical, pieces, specs};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use steward_core::model::{ModelChunk, Usage};
use steward_core::tool::ToolSpec;
use steward_parse::{Dialects, Form, Out, Parsed, Reading, StreamParser, ToolIndex};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The form that was asked for.
    #[serde(default = "native")]
    pub form: Form,
    /// Only this form.
    #[serde(default)]
    pub strict: bool,
    #[serde(default)]
    pub in_thought: bool,
    #[serde(default)]
    pub tools: Tools,
    pub case: Vec<Case>,
}

/// Which tools are on offer.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum Tools {
    #[default]
    House,
    /// Those of the reference.
    Canonical,
}

/// What is not given is expected to be empty or false; `reasoning`, `note` and `source` are compared only
/// where given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    #[serde(default)]
    pub input: String,
    #[serde(default)]
    pub thinking: String,
    #[serde(default = "stop")]
    pub finish: String,
    #[serde(default)]
    pub calls: Vec<Value>,
    #[serde(default)]
    pub broken: Vec<String>,
    #[serde(default)]
    pub text: String,
    pub reasoning: Option<String>,
    pub source: Option<String>,
    pub note: Option<String>,
    pub done: Option<bool>,
}

fn native() -> Form {
    Form::Native
}

fn stop() -> String {
    "stop".into()
}

impl Tools {
    pub fn specs(self) -> Vec<ToolSpec> {
        match self {
            Self::House => specs(),
            Self::Canonical => canonical(),
        }
    }
}

impl File {
    pub fn reading(&self) -> Reading {
        let mut reading = if self.strict { Reading::strict(self.form) } else { Reading::any(self.form) };
        reading.in_thought = self.in_thought;
        if self.in_thought {
            reading.dialects = Dialects::All;
        }
        reading
    }
}

/// All files under `tests/cases/*/`, by path.
pub fn files() -> Vec<(PathBuf, File)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths = Vec::new();
    for folder in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.is_dir() {
            paths.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.strip_prefix(&root).unwrap().to_owned(), file)
    };
    paths.into_iter().map(read).collect()
}

/// Parses `input` in pieces of `sizes`.
pub fn parse(reading: Reading, tools: &[ToolSpec], case: &Case, sizes: &[usize]) -> (Parsed, Vec<Out>) {
    let mut chunks: Vec<ModelChunk> = pieces(&case.thinking, sizes).into_iter().map(ModelChunk::Reasoning).collect();
    chunks.extend(pieces(&case.input, sizes).into_iter().map(ModelChunk::Text));
    feed_with(reading, tools, &chunks, &case.finish)
}

/// Feeds `chunks`; checks what must hold for every reply.
pub fn feed_with(reading: Reading, tools: &[ToolSpec], chunks: &[ModelChunk], finish: &str) -> (Parsed, Vec<Out>) {
    let mut parser = StreamParser::with(reading, &ToolIndex::new(tools), "c");
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
    let mut ids: Vec<&String> = parsed.calls.iter().map(|call| &call.id).collect();
    ids.extend(parsed.broken.iter().map(|call| &call.id));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), parsed.calls.len() + parsed.broken.len(), "ids are unique");
    assert!(parsed.calls.iter().all(|call| call.arguments.is_object() && (0.0..=1.0).contains(&call.confidence)));
    (parsed, started)
}

/// What is wrong with the outcome of a case.
pub fn judge(case: &Case, parsed: &Parsed) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, got: Value, want: Value| {
        if got != want {
            wrong.push(format!("{what}: got {got}, expected {want}"));
        }
    };
    let calls: Vec<Value> = parsed.calls.iter().map(|call| json!([call.name, call.arguments])).collect();
    same("calls", json!(calls), json!(case.calls));
    let broken: Vec<_> = parsed.broken.iter().map(|call| &call.name).collect();
    same("broken", json!(broken), json!(case.broken));
    same("text", json!(parsed.text), json!(case.text));
    if let Some(reasoning) = &case.reasoning {
        same("reasoning", json!(parsed.reasoning), json!(reasoning));
    }
    if let Some(done) = case.done {
        same("done", json!(parsed.done), json!(done));
    }
    if let Some(source) = &case.source {
        for call in &parsed.calls {
            same("source", json!(call.source), json!(source));
        }
    }
    if let Some(note) = &case.note
        && !parsed.diagnostics.iter().any(|line| line.contains(note))
    {
        wrong.push(format!("no diagnostic holds `{note}`"));
    }
    wrong
}

/// The whole outcome, for the snapshot.
pub fn shown(case: &Case, parsed: &Parsed) -> String {
    let mut out = format!("## {}\n{}\n", case.name, indented(&case.input));
    if !case.thinking.is_empty() {
        let _ = writeln!(out, "thinking:\n{}", indented(&case.thinking));
    }
    for call in &parsed.calls {
        let source = json!(call.source);
        let source = source.as_str().unwrap_or("");
        let _ = writeln!(out, "=> {} {} {} ({source} {})", call.id, call.name, call.arguments, call.confidence);
    }
    for call in &parsed.broken {
        let _ = writeln!(out, "=> {} {:?} broken: {}", call.id, call.name, call.error);
    }
    if !parsed.text.is_empty() {
        let _ = writeln!(out, "text:\n{}", indented(&parsed.text));
    }
    if !parsed.reasoning.is_empty() {
        let _ = writeln!(out, "reasoning:\n{}", indented(&parsed.reasoning));
    }
    for note in &parsed.diagnostics {
        let _ = writeln!(out, "note: {note}");
    }
    if parsed.done {
        out.push_str("done\n");
    }
    out
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
