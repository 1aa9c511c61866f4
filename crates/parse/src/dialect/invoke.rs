//! `<invoke name="tool"><parameter name="key">value</parameter></invoke>` in one of several wrappers,
//! the tags with or without a prefix.
//!
//! Source: MiniMax-M2 tool calling guide (`<minimax:tool_call>`), DeepSeek-V3.2 encoding
//! (`<｜DSML｜function_calls>`), both on their model cards.

use super::call::Cx;
use super::hermes::begins;
use super::rule::{Begin, Body, Calls, Dialect, Rule, always, text_rule};
use super::xml::{element, then, value};
use crate::work::find;
use serde_json::{Map, Value};

const WRAP: Dialect = Dialect::Invoke;

pub(super) const RULES: &[Rule] = &[
    text_rule(WRAP, "<minimax:tool_call>", &["</minimax:tool_call>"], begins, read),
    text_rule(WRAP, "<｜DSML｜function_calls>", &["</｜DSML｜function_calls>"], begins, read),
    text_rule(WRAP, "<｜DSML｜tool_calls>", &["</｜DSML｜tool_calls>"], begins, read),
    alone("<｜DSML｜invoke name=", &["</｜DSML｜invoke>"]),
    alone("<invoke name=", &["</invoke>"]),
    alone("<function name=", &["</function>"]),
];

const fn alone(open: &'static str, close: &'static [&'static str]) -> Rule {
    Rule {
        dialect: WRAP,
        open,
        body: Body::Calls(Calls { close, json: false, head: false, begins: name, ends: always, read, keep_open: true }),
    }
}

fn name(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    super::rule::first(text, &['"', '\''], end)
}

pub(super) fn read(body: &str, cx: &mut Cx<'_>) {
    let word = ["invoke", "function"].into_iter().find(|word| find(body, &format!("{word} name=")).is_some());
    let Some(word) = word else {
        return if body.trim_start().starts_with('<') {
            cx.broken("", body, "there is no call in the block");
        } else {
            super::python_calls(body, cx);
        };
    };
    let at = find(body, &format!("{word} name=")).unwrap_or(0);
    let from = body[..at].rfind('<').map_or(at, |open| open + 1);
    let prefix = &body[from..at];
    let (open, close) = (format!("<{prefix}{word} name="), format!("</{prefix}{word}>"));
    let mut rest = body;
    let follows = |after: &str| then(after, &[&open, "</"]);
    while let Some(call) = element(rest, (&open, ">", &close), follows) {
        let closed = call.closed || cx.closed;
        one(attribute(call.head), call.value, prefix, closed, cx);
        rest = call.rest;
    }
}

/// The name in `"read"` or `"key" string="true"`.
fn attribute(head: &str) -> &str {
    let head = head.trim().trim_end_matches('/');
    let quote = head.chars().next().unwrap_or('"');
    head.trim_start_matches(quote).split(quote).next().unwrap_or(head).trim()
}

fn one(name: &str, body: &str, prefix: &str, closed: bool, cx: &mut Cx<'_>) {
    if body.trim_start().starts_with('{') {
        return cx.call_text(None, name, body);
    }
    let (open, close) = (format!("<{prefix}parameter name="), format!("</{prefix}parameter>"));
    let end = format!("</{prefix}");
    let follows = |after: &str| then(after, &[&open, &end]);
    let mut map = Map::new();
    let mut rest = body;
    while let Some(field) = element(rest, (&open, ">", &close), follows) {
        if !field.closed && (!closed || cx.may_be_cut()) {
            return cx.broken(name, body, &crate::grammar::broken_arguments("they break off"));
        }
        let text = value(field.value);
        let typed = field.head.contains("string=\"false\"");
        let json = typed.then(|| crate::json::repair(text, false).ok()).flatten();
        let value = json.map_or_else(|| Value::String(text.to_owned()), |read| read.value);
        map.insert(attribute(field.head).to_owned(), value);
        rest = field.rest;
    }
    cx.call_untyped(name, map, !closed);
}
