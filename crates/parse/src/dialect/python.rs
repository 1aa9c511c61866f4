//! Calls written as Python: `[read(path="a"), list()]`, `print(default_api.read(path="a"))`.
//!
//! Source: Llama 3.2 and 4 model cards ("pythonic" calls), Gemma 3 function calling guide
//! (ai.google.dev/gemma/docs/capabilities/function-calling), LFM2 model card.

use super::call::{Cx, read_json};
use super::{Begin, Calls, Rule, any, rule, text_rule};
use crate::json::{Loose, strip_fence};
use crate::tool_index::ToolIndex;
use serde_json::{Map, Value};

pub(crate) fn python_calls(body: &str, cx: &mut Cx<'_>) {
    let mut loose = Loose::new(strip_fence(body), &[]);
    let before = cx.found.items.len();
    loop {
        loose.blanks();
        while [',', ';', '[', ']', ')'].iter().any(|c| loose.eat(*c)) {
            loose.blanks();
        }
        if loose.rest().is_empty() {
            return;
        }
        let from = loose.pos;
        let Ok(word) = loose.word() else {
            return rest(before, from, body, cx);
        };
        loose.blanks();
        if loose.eat('=') || (word == "print" && loose.eat('(')) {
            continue;
        }
        if !loose.eat('(') {
            return rest(before, from, body, cx);
        }
        let name = word.strip_suffix(".call").unwrap_or(word);
        match arguments(&mut loose, name, cx) {
            Ok(map) => cx.call(name, map, false),
            Err(error) => return cx.unreadable(name, &body[from.min(body.len())..], &error),
        }
    }
}

/// The rest is no call.
fn rest(before: usize, from: usize, body: &str, cx: &mut Cx<'_>) {
    if cx.found.items.len() > before {
        cx.found.note("text after a call was ignored");
    } else {
        let raw = strip_fence(body).get(from..).unwrap_or(body);
        cx.broken("", raw, "there is no call of the form `name(argument=value)`");
    }
}

fn arguments(loose: &mut Loose<'_>, name: &str, cx: &Cx<'_>) -> Result<Map<String, Value>, String> {
    let mut map = Map::new();
    loop {
        loose.blanks();
        while loose.eat(',') {
            loose.blanks();
        }
        if loose.eat(')') {
            return Ok(map);
        }
        if loose.rest().is_empty() {
            return Err("they break off".to_owned());
        }
        let from = loose.pos;
        let key = loose.word().ok().map(str::to_owned);
        loose.blanks();
        let key = key.filter(|_| loose.eat('='));
        if key.is_none() {
            loose.pos = from;
        }
        let key = match key {
            Some(key) => key,
            None => nth(name, map.len(), cx).ok_or("an argument has no name")?,
        };
        let value = loose.value()?;
        map.insert(key, value);
    }
}

fn nth(name: &str, n: usize, cx: &Cx<'_>) -> Option<String> {
    let name = cx.tools.name(name);
    let parameters = cx.tools.parameters(&name)?;
    parameters["properties"].as_object()?.keys().nth(n).cloned()
}

pub(super) const RULES: &[Rule] = &[
    // `<|python_tag|>{"name": …, "parameters": …}` with `;` between calls, `<|python_tag|>tool.call(…)`, and lists of
    // Python calls. A reply of nothing but such JSON is read by `grammar::shell::bare`. Source: Llama 3.1, 3.2 and 3.3
    // model cards, `llama3_json` and `pythonic` parsers (docs.vllm.ai).
    rule(
        "<|python_tag|>",
        Calls {
            json: true,
            ..Calls::new(&["<|eom_id|>", "<|eot_id|>"], |text, _, end| super::first(text, end, |_| true), read_llama)
        },
    ),
    // Code blocks `tool_code` (Gemma 2 and 3),
    // `<start_function_call>call:name{key:<escape>text<escape>}<end_function_call>` (FunctionGemma) and
    // `<|tool_call>call:name{key:<|"|>text<|"|>}<tool_call|>` (Gemma 4). Source:
    // ai.google.dev/gemma/docs/capabilities/function-calling, model cards of FunctionGemma and Gemma 4.
    text_rule("```tool_code", &["```"], any, block),
    text_rule("```tool_calls", &["\n```"], any, block),
    text_rule("```tool_call", &["\n```"], any, block),
    text_rule("```function_call", &["\n```"], any, block),
    text_rule("<start_function_call>", &["<end_function_call>"], gemma_begins, read_gemma),
    text_rule("<|tool_call>", &["<tool_call|>"], gemma_begins, read_gemma),
];

fn read_llama(body: &str, cx: &mut Cx<'_>) {
    let text = body.trim();
    let list = is_python_list(text, cx.tools, true) == Begin::Yes;
    if list || text.starts_with(|c: char| c.is_alphabetic()) {
        super::python_calls(text, cx);
    } else {
        read_json(text, cx);
    }
}

/// Whether `text` begins with `[name(` and the name of a known tool.
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

const QUOTES: &[&str] = &["<escape>", "<|\"|>"];

fn gemma_begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
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

pub(super) fn read_gemma(body: &str, cx: &mut Cx<'_>) {
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
        let arguments = if loose.peek() == Some('{') { loose.value() } else { Ok(Value::Object(Map::new())) };
        match arguments {
            Ok(Value::Object(map)) if loose.unclosed == 0 || !cx.may_be_cut() => {
                cx.call(name, map, loose.unclosed > 0);
            }
            Ok(_) => return cx.unreadable(name, &body[from..], "they break off"),
            Err(error) => return cx.unreadable(name, &body[from..], &error),
        }
    }
}
