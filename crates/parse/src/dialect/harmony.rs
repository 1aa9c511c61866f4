//! Messages of gpt-oss: `<|start|>assistant<|channel|>analysis<|message|>…<|end|>`. `analysis` is reasoning,
//! `final` is the answer, `commentary` with `to=functions.name` is a call.
//!
//! Source: "OpenAI harmony response format" (cookbook.openai.com/articles/openai-harmony).

use super::call::Cx;
use super::rule::{Body, Calls, Dialect, Rule, always, any};
use crate::work::find;

const MESSAGE: &str = "<|message|>";

pub(super) const RULES: &[Rule] = &[
    Rule { dialect: Dialect::Harmony, open: "<|channel|>", body: Body::Harmony },
    Rule { dialect: Dialect::Harmony, open: "<|start|>", body: Body::Harmony },
    // What is left where a server drops the special tokens.
    call_rule("commentary to=functions."),
    call_rule("assistantcommentary to=functions."),
];

/// What ends a message; the last two belong to the next one.
pub(crate) const ENDS: &[&str] = &["<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"];

const fn call_rule(open: &'static str) -> Rule {
    Rule {
        dialect: Dialect::Harmony,
        open,
        body: Body::Calls(Calls {
            close: &["<|call|>", "<|end|>", "<|return|>"],
            json: true,
            head: true,
            begins: any,
            ends: always,
            read,
            keep_open: true,
        }),
    }
}

/// How a message with a recipient is read; its header is part of it.
pub(crate) static CALL: Rule = call_rule("");

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Reasoning,
    Text,
    Call,
    /// Somebody else's message.
    Foreign,
}

/// Longest header that is waited for.
pub(crate) const LONGEST: usize = 256;

/// The header at the start of `text` and its length; `None` where it isn't complete.
pub(crate) fn header(text: &str) -> Option<(Kind, usize)> {
    let mut reach = text.len().min(LONGEST);
    while !text.is_char_boundary(reach) {
        reach -= 1;
    }
    let at = find(&text[..reach], MESSAGE)?;
    let head = &text[..at];
    let role = head.strip_prefix("<|start|>").unwrap_or("assistant");
    let kind = if !role.trim_start().starts_with("assistant") {
        Kind::Foreign
    } else if recipient(head).is_some() {
        Kind::Call
    } else if head.contains("<|channel|>analysis") {
        Kind::Reasoning
    } else {
        Kind::Text
    };
    Some((kind, at + MESSAGE.len()))
}

fn recipient(head: &str) -> Option<&str> {
    let after = head.split_once("to=")?.1;
    let inside = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let end = after.find(|c| !inside(c)).unwrap_or(after.len());
    Some(&after[..end]).filter(|name| !name.is_empty() && *name != "assistant" && *name != "user")
}

fn read(body: &str, cx: &mut Cx<'_>) {
    let (head, arguments) = match find(body, MESSAGE) {
        Some(at) => (&body[..at], &body[at + MESSAGE.len()..]),
        None => body.split_at(body.find('{').unwrap_or(body.len())),
    };
    let name = recipient(head).unwrap_or("");
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let text = arguments.trim();
    match cx.tools.sole_text(name).map(str::to_owned) {
        // Built-in tools such as `python` get plain text.
        Some(field) if !text.starts_with('{') && !text.is_empty() && !cx.may_be_cut() => {
            let value = serde_json::Value::String(text.to_owned());
            cx.call(name, [(field, value)].into_iter().collect(), true);
        }
        _ => cx.call_text(None, name, arguments),
    }
}
