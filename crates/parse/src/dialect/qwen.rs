//! `<function=name><parameter=key>value</parameter></function>`, with or without `<tool_call>` around it.
//!
//! Source: chat template of Qwen3-Coder and its `qwen3coder_tool_parser` (docs.vllm.ai); with a JSON
//! object in the place of the parameters it is Llama 3.1's own form (Llama 3.1 model card).

use super::call::Cx;
use super::rule::{Body, Calls, Dialect, Rule, any};
use super::xml::{element, then, value};
use serde_json::{Map, Value};

pub(super) const RULES: &[Rule] = &[Rule {
    dialect: Dialect::Qwen,
    open: "<function=",
    body: Body::Calls(Calls {
        close: &["</function>"],
        json: false,
        head: false,
        begins: any,
        ends,
        read,
        keep_open: true,
    }),
}];

/// A closing within a value doesn't count.
fn ends(body: &str) -> bool {
    let body = body.trim_end();
    body.ends_with("</parameter>") || body.ends_with(['>', '}'])
}

pub(super) fn read(body: &str, cx: &mut Cx<'_>) {
    let mut rest = body;
    let follows = |after: &str| then(after, &["<function=", "</tool_call>"]);
    while let Some(function) = element(rest, ("<function=", ">", "</function>"), follows) {
        // An engine that follows `</function>` leaves it out.
        let closed = function.closed || cx.closed;
        one(function.head, function.value, closed, cx);
        rest = function.rest;
    }
}

fn one(name: &str, body: &str, closed: bool, cx: &mut Cx<'_>) {
    if body.trim_start().starts_with('{') {
        return cx.call_text(None, name, body);
    }
    let mut map = Map::new();
    let mut rest = body;
    let follows = |after: &str| then(after, &["<parameter=", "</function>"]);
    let mut mended = !closed;
    while let Some(field) = element(rest, ("<parameter=", ">", "</parameter>"), follows) {
        let mut text = field.value;
        if field.closed {
            rest = field.rest;
        } else {
            // The next parameter may follow a closing that was forgotten.
            let next = crate::work::find(text, "<parameter=");
            if next.is_none() && (!closed || cx.may_be_cut()) {
                return cx.broken(name, body, &crate::grammar::broken_arguments("they break off"));
            }
            mended = true;
            rest = next.map_or("", |at| &text[at..]);
            text = next.map_or(text, |at| &text[..at]);
        }
        map.insert(field.head.trim().to_owned(), Value::String(value(text).to_owned()));
    }
    cx.call_untyped(name, map, mended);
}
