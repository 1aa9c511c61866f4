//! `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>…<｜tool▁sep｜>…<｜tool▁call▁end｜><｜tool▁calls▁end｜>`: V3 and R1 write
//! `function<｜tool▁sep｜>name` and a fenced object, V3.1 `name<｜tool▁sep｜>{…}`.
//!
//! Source: chat templates of DeepSeek-V3, R1 and V3.1, and llama.cpp's parsers of them (github.com/ggml-org/llama.cpp).
//! The DSML tags of V3.2 are in `invoke`.

use super::call::Cx;
use super::rule::{Begin, Body, Calls, Dialect, Rule, always, any, text_rule};
use super::xml::element;

const ME: Dialect = Dialect::Deepseek;

pub(super) const RULES: &[Rule] = &[
    text_rule(ME, "<｜tool▁calls▁begin｜>", &["<｜tool▁calls▁end｜>"], begins, read),
    text_rule(ME, "<｜tool_calls_begin｜>", &["<｜tool_calls_end｜>"], begins, read),
    text_rule(ME, "<|tool▁calls▁begin|>", &["<|tool▁calls▁end|>"], begins, read),
    alone("<｜tool▁call▁begin｜>", &["<｜tool▁call▁end｜>"]),
];

const fn alone(open: &'static str, close: &'static [&'static str]) -> Rule {
    Rule {
        dialect: ME,
        open,
        body: Body::Calls(Calls { close, json: false, head: false, begins: any, ends: always, read, keep_open: true }),
    }
}

fn begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    super::rule::first(text, &['<'], end)
}

fn read(body: &str, cx: &mut Cx<'_>) {
    let space = if body.contains("<｜tool_call_begin") { "_" } else { "▁" };
    let bar = if body.contains("<|tool") { "|" } else { "｜" };
    let token = |words: [&str; 3]| format!("<{bar}{}{bar}>", words.join(space));
    let (open, close) = (token(["tool", "call", "begin"]), token(["tool", "call", "end"]));
    let separator = format!("<{bar}tool{space}sep{bar}>");
    let mut rest = body;
    let mut any = false;
    while let Some(call) = element(rest, (&open, "", &close), |_| true) {
        any = true;
        let text = call.value.trim();
        match text.split_once(&separator) {
            None => cx.broken("", text, "the call names no tool"),
            Some((head, tail)) if tail.trim_start().starts_with('{') => {
                cx.call_text(None, head, tail);
            }
            Some((_, tail)) => {
                let (name, arguments) = tail.trim().split_once('\n').unwrap_or((tail, ""));
                cx.call_text(None, name, arguments);
            }
        }
        rest = call.rest;
    }
    if !any {
        cx.broken("", body, "there is no call in the block");
    }
}
