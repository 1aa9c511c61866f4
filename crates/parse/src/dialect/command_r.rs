//! `Action:` with a fenced list of `{"tool_name": …, "parameters": …}` (Command R, R+), and
//! `<|START_ACTION|>[…]<|END_ACTION|>` (Command R7B, Command A).
//!
//! Source: docs.cohere.com "Prompting Command R" and "Prompting Command R7B". The tool `directly_answer` means no call.

use super::call::Cx;
use super::rule::{Begin, Body, Calls, Dialect, Rule, always, json_rule};

pub(super) const RULES: &[Rule] = &[
    json_rule(Dialect::CommandR, "<|START_ACTION|>", &["<|END_ACTION|>"]),
    Rule {
        dialect: Dialect::CommandR,
        open: "Action:",
        body: Body::Calls(Calls {
            close: &["```"],
            json: true,
            head: false,
            begins,
            ends: always,
            read: super::call::read_json,
            keep_open: false,
        }),
    },
];

/// A fence of JSON; anything else is ReAct's or nobody's.
fn begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    let open = if end { Begin::No } else { Begin::More };
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix("```") else {
        return if "```".starts_with(text) { open } else { Begin::No };
    };
    let Some(rest) = rest.strip_prefix("json").or(Some(rest)) else {
        return Begin::No;
    };
    let rest = if "json".starts_with(rest) && !rest.is_empty() { "" } else { rest.trim_start() };
    match rest.chars().next() {
        Some('{' | '[') => Begin::Yes,
        None => open,
        Some(_) => Begin::No,
    }
}
