//! `<tool_call>{"name": …, "arguments": …}</tool_call>`, one block for each call.
//!
//! Source: Hermes-Function-Calling (NousResearch), chat templates of Qwen 2.5 and Qwen 3, SmolLM 3,
//! Granite 4. What other families put into the same tag is told apart by how it begins.

use super::call::{Cx, read_json};
use super::rule::{Begin, Body, Calls, Dialect, Rule};

const OPEN: &str = "<tool_call>";

pub(super) const RULES: &[Rule] = &[
    tag(OPEN, &["</tool_call>"]),
    tag("<tool_call_begin>", &["</tool_call_end>", "<tool_call_end>"]),
    tag("<function_call>", &["</function_call>"]),
    tag("<function_calls>", &["</function_calls>"]),
    tag("<tool_use>", &["</tool_use>"]),
];

const fn tag(open: &'static str, close: &'static [&'static str]) -> Rule {
    Rule {
        dialect: Dialect::Hermes,
        open,
        body: Body::Calls(Calls { close, json: true, head: false, begins, ends, read, keep_open: false }),
    }
}

/// Longest name that is waited for.
const LONGEST: usize = 96;

/// JSON, a tag, a fence, or the name of a tool that is known.
pub(super) fn begins(text: &str, cx: &Cx<'_>, end: bool) -> Begin {
    let text = text.trim_start();
    match text.chars().next() {
        None => return if end { Begin::No } else { Begin::More },
        Some('{' | '[' | '<' | '`') => return Begin::Yes,
        Some(c) if c.is_alphabetic() || c == '_' => {}
        Some(_) => return Begin::No,
    }
    let inside = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let Some(len) = text.find(|c| !inside(c)) else {
        return match (end, text.len() > LONGEST) {
            (true, false) if cx.tools.resolve_call(text, None).is_some() => Begin::Yes,
            (false, false) => Begin::More,
            _ => Begin::No,
        };
    };
    // What is too long to wait for is too long as well where it comes at once.
    let known = len <= LONGEST && (&text[..len] == "call" || cx.tools.resolve_call(&text[..len], None).is_some());
    let goes_on = text[len..].starts_with(['\n', '\r', '<', '(', '{', ':', ' ']);
    if known && goes_on { Begin::Yes } else { Begin::No }
}

/// Qwen's closing only counts behind the end of a function.
fn ends(body: &str) -> bool {
    let head = &body.as_bytes()[..body.len().min(64)];
    let head = head.trim_ascii_start();
    !head.starts_with(b"<function=") || body.trim_end().ends_with("</function>")
}

fn read(body: &str, cx: &mut Cx<'_>) {
    let text = body.trim();
    let text = text.strip_prefix(OPEN).unwrap_or(text).trim();
    if text.is_empty() {
        return cx.found.note("a block of calls was empty");
    }
    if text.starts_with('<') {
        let inner = text.starts_with("<function=");
        return if inner {
            super::qwen::read(text, cx);
        } else {
            super::invoke::read(text, cx);
        };
    }
    if super::llama::is_python_list(text, cx.tools, true) == Begin::Yes {
        return super::python_calls(text, cx);
    }
    if text.starts_with(['{', '[', '`']) {
        return read_json(text, cx);
    }
    if text.starts_with("call:") {
        return super::gemma::read(text, cx);
    }
    let inside = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let rest = text.trim_start_matches(inside);
    let name = &text[..text.len() - rest.len()];
    if rest.trim_start().starts_with('(') {
        super::python_calls(text, cx);
    } else if rest.trim_start().starts_with('{') {
        cx.call_text(None, name, rest);
    } else {
        super::glm::read(text, cx);
    }
}
