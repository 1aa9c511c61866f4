//! `<|python_tag|>{"name": …, "parameters": …}` with `;` between calls, `<|python_tag|>tool.call(…)`, and
//! lists of Python calls. A reply that is nothing but such JSON is read by `grammar::shell::bare`.
//!
//! Source: Llama 3.1, 3.2 and 3.3 model cards, `llama3_json` and `pythonic` parsers (docs.vllm.ai).

use super::call::{Cx, read_json};
use super::rule::{Begin, Body, Calls, Dialect, Rule, always};
use crate::index::ToolIndex;

pub(super) const RULES: &[Rule] = &[Rule {
    dialect: Dialect::Llama,
    open: "<|python_tag|>",
    body: Body::Calls(Calls {
        close: &["<|eom_id|>", "<|eot_id|>"],
        json: true,
        head: false,
        begins,
        ends: always,
        read,
        keep_open: false,
    }),
}];

fn begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    match text.trim_start().chars().next() {
        Some(_) => Begin::Yes,
        None if end => Begin::No,
        None => Begin::More,
    }
}

fn read(body: &str, cx: &mut Cx<'_>) {
    let text = body.trim();
    let list = is_python_list(text, cx.tools, true) == Begin::Yes;
    if list || text.starts_with(|c: char| c.is_alphabetic()) {
        super::python_calls(text, cx);
    } else {
        read_json(text, cx);
    }
}

/// Whether `text` begins as a list of calls: `[name(`, the name being known.
pub(crate) fn is_python_list(text: &str, tools: &ToolIndex, end: bool) -> Begin {
    let Some(inner) = text.strip_prefix('[') else {
        return Begin::No;
    };
    let inner = inner.trim_start();
    let inside = |c: char| c.is_alphanumeric() || "_.".contains(c);
    let rest = inner.trim_start_matches(inside);
    let name = &inner[..inner.len() - rest.len()];
    match rest.chars().next() {
        Some('(') if tools.resolve_call(name, None).is_some() => Begin::Yes,
        None if !end && name.len() < 96 => Begin::More,
        _ => Begin::No,
    }
}
