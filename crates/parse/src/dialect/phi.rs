//! `functools[{"name": …, "arguments": …}]` at the start of a line; `<|tool_call|>…<|/tool_call|>` is in `granite`.
//!
//! Source: Phi-4-mini model card (Microsoft) and vLLM's `phi4mini_tool_parser`.

use super::call::Cx;
use super::rule::{Begin, Body, Calls, Dialect, Rule, always};

pub(super) const RULES: &[Rule] = &[Rule {
    dialect: Dialect::Phi,
    open: "functools",
    body: Body::Calls(Calls {
        close: &[],
        json: true,
        head: false,
        begins,
        ends: always,
        read: super::call::read_json,
        keep_open: false,
    }),
}];

fn begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    match text.chars().next() {
        Some('[') => Begin::Yes,
        None if !end => Begin::More,
        _ => Begin::No,
    }
}
