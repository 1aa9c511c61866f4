//! `<|tool_calls_section_begin|><|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>…`.
//!
//! Source: Kimi-K2 tool call guidance (model card, Moonshot AI).

use super::call::Cx;
use super::rule::{Begin, Body, Calls, Dialect, Rule, always, any, text_rule};
use super::xml::element;

const OPEN: &str = "<|tool_call_begin|>";
const SEPARATOR: &str = "<|tool_call_argument_begin|>";

pub(super) const RULES: &[Rule] = &[
    text_rule(Dialect::Kimi, "<|tool_calls_section_begin|>", &["<|tool_calls_section_end|>"], begins, read),
    Rule {
        dialect: Dialect::Kimi,
        open: OPEN,
        body: Body::Calls(Calls {
            close: &["<|tool_call_end|>"],
            json: false,
            head: false,
            begins: any,
            ends: always,
            read,
            keep_open: true,
        }),
    },
];

fn begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    super::rule::first(text, &['<'], end)
}

fn read(body: &str, cx: &mut Cx<'_>) {
    let mut rest = body;
    let mut any = false;
    while let Some(call) = element(rest, (OPEN, "", "<|tool_call_end|>"), |_| true) {
        any = true;
        let (id, arguments) = call.value.split_once(SEPARATOR).unwrap_or((call.value, ""));
        let id = id.trim();
        let name = id.strip_prefix("functions.").unwrap_or(id);
        let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
        cx.call_text(Some(id.to_owned()).filter(|id| id.contains(':')), name, arguments);
        rest = call.rest;
    }
    if !any {
        cx.broken("", body, "there is no call in the block");
    }
}
