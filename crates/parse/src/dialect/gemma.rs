//! Code blocks `tool_code` (Gemma 2 and 3), `<start_function_call>call:name{key:<escape>text<escape>}<end_function_call>`
//! (FunctionGemma) and `<|tool_call>call:name{key:<|"|>text<|"|>}<tool_call|>` (Gemma 4).
//!
//! Source: ai.google.dev/gemma/docs/capabilities/function-calling, model cards of FunctionGemma and Gemma 4.

use super::call::{Cx, read_json};
use super::rule::{Begin, Dialect, Rule, any, text_rule};
use crate::json::Loose;
use serde_json::Value;

const ME: Dialect = Dialect::Gemma;
const QUOTES: &[&str] = &["<escape>", "<|\"|>"];

pub(super) const RULES: &[Rule] = &[
    text_rule(ME, "```tool_code", &["```"], any, block),
    text_rule(ME, "```tool_calls", &["\n```"], any, block),
    text_rule(ME, "```tool_call", &["\n```"], any, block),
    text_rule(ME, "```function_call", &["\n```"], any, block),
    text_rule(ME, "<start_function_call>", &["<end_function_call>"], begins, read),
    text_rule(ME, "<|tool_call>", &["<tool_call|>"], begins, read),
];

fn begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    let text = text.trim_start();
    let common = text.len().min(5);
    match text.as_bytes()[..common] == b"call:"[..common] {
        true if common == 5 => Begin::Yes,
        true if !end => Begin::More,
        _ => Begin::No,
    }
}

fn block(body: &str, cx: &mut Cx<'_>) {
    if body.trim_start().starts_with(['{', '['])
        && super::is_python_list(body.trim_start(), cx.tools, true) == Begin::No
    {
        read_json(body, cx);
    } else {
        super::python_calls(body, cx);
    }
}

pub(super) fn read(body: &str, cx: &mut Cx<'_>) {
    let mut loose = Loose::new(body, QUOTES);
    loop {
        loose.blanks();
        while loose.eat(',') {
            loose.blanks();
        }
        let Some(rest) = loose.rest().strip_prefix("call:") else {
            return;
        };
        loose.pos = body.len() - rest.len();
        let from = loose.pos;
        let name = loose.word().unwrap_or("");
        loose.blanks();
        let arguments =
            if loose.peek() == Some('{') { loose.value() } else { Ok(Value::Object(serde_json::Map::new())) };
        match arguments {
            Ok(Value::Object(map)) if loose.unclosed == 0 || !cx.may_be_cut() => {
                cx.call(name, map, loose.unclosed > 0);
            }
            Ok(_) => {
                return cx.broken(name, &body[from..], &crate::grammar::broken_arguments("they break off"));
            }
            Err(error) => {
                return cx.broken(name, &body[from..], &crate::grammar::broken_arguments(&error));
            }
        }
    }
}
