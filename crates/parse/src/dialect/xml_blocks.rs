//! Calls in tags. The text is no XML: values are raw and may contain anything but their own closing.

use super::call::Cx;
use super::{Begin, Calls, Rule, any, json_or_name, rule, text_rule, whole_rule};
use crate::complexity_counter::find;
use serde_json::{Map, Value};

/// The text between `open` and the next `close`, and what follows; without a closing (`closed`), up to the end.
pub(super) struct Between<'a> {
    pub head: &'a str,
    pub value: &'a str,
    pub rest: &'a str,
    pub closed: bool,
}

/// Finds `open HEAD gt VALUE close`. A closing counts only if `follows` holds after it, so a value may quote it.
pub(super) fn element<'a>(
    text: &'a str,
    (open, gt, close): (&str, &str, &str),
    follows: impl Fn(&str) -> bool,
) -> Option<Between<'a>> {
    let at = find(text, open)? + open.len();
    let end = find(&text[at..], gt)? + at;
    let head = &text[at..end];
    let body = &text[end + gt.len()..];
    let mut from = 0;
    while let Some(step) = find(&body[from..], close) {
        let stop = from + step;
        let rest = &body[stop + close.len()..];
        if follows(rest) {
            let value = &body[..stop];
            return Some(Between { head, value, rest, closed: true });
        }
        from = stop + close.len();
    }
    Some(Between { head, value: body, rest: "", closed: false })
}

/// Removes one line break at either end, which templates put there.
pub(super) fn value(text: &str) -> &str {
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

/// Whether only blanks stand before one of `starts` or the end.
pub(super) fn then(text: &str, starts: &[&str]) -> bool {
    let text = text.trim_start();
    text.is_empty() || starts.iter().any(|start| text.starts_with(start))
}

pub(super) const RULES: &[Rule] = &[
    // `<function=name><parameter=key>value</parameter></function>`, with or without `<tool_call>` around it. Source: chat
    // template of Qwen3-Coder and its `qwen3coder_tool_parser` (docs.vllm.ai). With a JSON object in place of the
    // parameters it is Llama 3.1's own form (Llama 3.1 model card).
    rule("<function=", Calls { keep_open: true, ends: qwen_ends, ..Calls::new(&["</function>"], any, read_qwen) }),
    // `<invoke name="tool"><parameter name="key">value</parameter></invoke>` in one of several wrappers, with or without
    // a prefix in the tags. Source: MiniMax-M2 tool calling guide (`<minimax:tool_call>`), DeepSeek-V3.2 encoding
    // (`<｜DSML｜function_calls>`), both on their model cards.
    text_rule("<minimax:tool_call>", &["</minimax:tool_call>"], json_or_name, read_invoke),
    text_rule("<｜DSML｜function_calls>", &["</｜DSML｜function_calls>"], json_or_name, read_invoke),
    text_rule("<｜DSML｜tool_calls>", &["</｜DSML｜tool_calls>"], json_or_name, read_invoke),
    whole_rule("<｜DSML｜invoke name=", &["</｜DSML｜invoke>"], quote, read_invoke),
    whole_rule("<invoke name=", &["</invoke>"], quote, read_invoke),
    whole_rule("<function name=", &["</function>"], quote, read_invoke),
];

fn quote(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    super::first(text, end, |c| matches!(c, '"' | '\''))
}

/// A closing inside a value does not count.
fn qwen_ends(body: &str) -> bool {
    let body = body.trim_end();
    body.ends_with("</parameter>") || body.ends_with(['>', '}'])
}

pub(super) fn read_qwen(body: &str, cx: &mut Cx<'_>) {
    let mut rest = body;
    let follows = |after: &str| then(after, &["<function=", "</tool_call>"]);
    while let Some(function) = element(rest, ("<function=", ">", "</function>"), follows) {
        // The closing was cut off before this.
        let closed = function.closed || cx.closed;
        one_qwen(function.head, function.value, closed, cx);
        rest = function.rest;
    }
}

fn one_qwen(name: &str, body: &str, closed: bool, cx: &mut Cx<'_>) {
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
            // The next parameter may follow a forgotten closing.
            let next = crate::complexity_counter::find(text, "<parameter=");
            if next.is_none() && (!closed || cx.may_be_cut()) {
                return cx.unreadable(name, body, "they break off");
            }
            mended = true;
            rest = next.map_or("", |at| &text[at..]);
            text = next.map_or(text, |at| &text[..at]);
        }
        map.insert(field.head.trim().to_owned(), Value::String(value(text).to_owned()));
    }
    cx.call_untyped(name, map, mended);
}

// `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`; the tag is Hermes's, whose reader
// hands over what begins with a name. Source: chat templates of GLM-4.5 and GLM-4.6 and vLLM's `glm4_moe_tool_parser`
// (docs.vllm.ai).
pub(super) fn read_glm(body: &str, cx: &mut Cx<'_>) {
    let body = body.trim();
    let end = body.find(['\n', '<']).unwrap_or(body.len());
    let name = body[..end].trim();
    let mut map = Map::new();
    let mut rest = &body[end..];
    if !rest.trim().is_empty() && !rest.trim_start().starts_with("<arg_key>") {
        return cx.broken(name, body, "the call is no JSON object with `name` and `arguments`");
    }
    while let Some(key) = element(rest, ("<arg_key>", "", "</arg_key>"), |_| true) {
        let next = |after: &str| then(after, &["<arg_key>", "</tool_call>"]);
        let Some(value) =
            element(key.rest, ("<arg_value>", "", "</arg_value>"), next).filter(|value| value.closed && key.closed)
        else {
            return cx.unreadable(name, body, "they break off");
        };
        map.insert(key.value.trim().to_owned(), Value::String(value.value.to_owned()));
        rest = value.rest;
    }
    cx.call_untyped(name, map, false);
}

pub(super) fn read_invoke(body: &str, cx: &mut Cx<'_>) {
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
        one_invoke(attribute(call.head), call.value, prefix, closed, cx);
        rest = call.rest;
    }
}

/// The name in `"read"` or `"key" string="true"`.
fn attribute(head: &str) -> &str {
    let head = head.trim().trim_end_matches('/');
    let quote = head.chars().next().unwrap_or('"');
    head.trim_start_matches(quote).split(quote).next().unwrap_or(head).trim()
}

fn one_invoke(name: &str, body: &str, prefix: &str, closed: bool, cx: &mut Cx<'_>) {
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
            return cx.unreadable(name, body, "they break off");
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
