//! `[TOOL_CALLS][{"name": …, "arguments": …, "id": …}]`, and since tokenizer v11
//! `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`.
//!
//! Source: mistral-common (github.com/mistralai/mistral-common) and vLLM's `mistral_tool_parser`.

use super::call::{Cx, read_json};
use super::rule::{Begin, Body, Calls, Dialect, Rule, always};

pub(super) const RULES: &[Rule] =
    &[rule("[TOOL_CALLS]", &["[/TOOL_CALLS]"]), rule("[TOOL_REQUEST]", &["[END_TOOL_REQUEST]"])];

const fn rule(open: &'static str, close: &'static [&'static str]) -> Rule {
    Rule {
        dialect: Dialect::Mistral,
        open,
        body: Body::Calls(Calls { close, json: true, head: true, begins, ends: always, read, keep_open: false }),
    }
}

fn begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    match text.trim_start().chars().next() {
        Some(c) if c.is_alphanumeric() || "{[_`".contains(c) => Begin::Yes,
        Some(_) => Begin::No,
        None if end => Begin::No,
        None => Begin::More,
    }
}

fn read(body: &str, cx: &mut Cx<'_>) {
    let text = body.trim();
    if text.starts_with(['{', '[', '`']) {
        return read_json(text, cx);
    }
    let open = text.find('{').unwrap_or(text.len());
    let (head, arguments) = text.split_at(open);
    let head = head.trim().trim_end_matches("[ARGS]");
    let (name, id) = match head.split_once("[CALL_ID]") {
        Some((name, id)) => (name, Some(id.trim().to_owned())),
        None => (head, None),
    };
    if name.contains(char::is_whitespace) {
        return cx.broken("", text, "the call names no tool");
    }
    cx.call_text(id, name, arguments);
}
