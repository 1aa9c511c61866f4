//! Messages of gpt-oss, reasoning in the content, and tokens that are dropped.
//!
//! Harmony: `<|start|>assistant<|channel|>analysis<|message|>…<|end|>`. `analysis` is reasoning, `final` is the
//! answer, `commentary` with `to=functions.name` is a call. Source: "OpenAI harmony response format"
//! (cookbook.openai.com/articles/openai-harmony).

use super::call::Cx;
use super::{Body, Calls, Dialect, Rule, any, rule};
use crate::complexity_counter::find;
use std::sync::LazyLock;

const MESSAGE: &str = "<|message|>";

pub(super) const RULES: &[Rule] = &[
    harmony("<|channel|>"),
    harmony("<|start|>"),
    // What remains where a server drops the special tokens.
    call_rule("commentary to=functions."),
    call_rule("assistantcommentary to=functions."),
    // Reasoning in the content. Source: model cards of DeepSeek-R1, Qwen 3, GLM, Magistral (`[THINK]`), Command A
    // Reasoning, Kimi-VL (`◁think▷`), Seed-OSS; other models are often told to write `<thinking>` and its like.
    // One that ends in a blank has attributes.
    thought("<think>", &["</think>"]),
    thought("<Think>", &["</Think>", "</think>"]),
    thought("<THINK>", &["</THINK>", "</think>"]),
    thought("<think ", &["</think>"]),
    thought("<thinking>", &["</thinking>"]),
    thought("<Thinking>", &["</Thinking>", "</thinking>"]),
    thought("<THINKING>", &["</THINKING>", "</thinking>"]),
    thought("<thinking ", &["</thinking>"]),
    thought("<thought>", &["</thought>"]),
    thought("<Thought>", &["</Thought>", "</thought>"]),
    thought("<THOUGHT>", &["</THOUGHT>", "</thought>"]),
    thought("<thought ", &["</thought>"]),
    thought("<reasoning>", &["</reasoning>"]),
    thought("<Reasoning>", &["</Reasoning>", "</reasoning>"]),
    thought("<REASONING>", &["</REASONING>", "</reasoning>"]),
    thought("<reasoning ", &["</reasoning>"]),
    thought("[THINK]", &["[/THINK]"]),
    thought("<seed:think>", &["</seed:think>"]),
    thought("<|START_THINKING|>", &["<|END_THINKING|>"]),
    thought("<|begin_of_thought|>", &["<|end_of_thought|>"]),
    thought("◁think▷", &["◁/think▷"]),
];

const fn harmony(open: &'static str) -> Rule {
    Rule { dialect: Dialect::Wrapper, open, body: Body::Harmony }
}

const fn thought(open: &'static str, close: &'static [&'static str]) -> Rule {
    Rule { dialect: Dialect::Wrapper, open, body: Body::Thought(close) }
}

/// Marks around a whole reply, with which a server shows that it passes the tokens on as they are. Source: chat templates of gpt-oss,
/// Command A and Open-Thinker.
pub(crate) const RAW_BEGINNINGS: [&str; 5] =
    ["<|channel|>", "<|start|>assistant", "<|START_RESPONSE|>", "<|START_TEXT|>", "<|begin_of_solution|>"];

/// What ends a message; the last two begin the next one.
pub(crate) const ENDS: &[&str] = &["<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"];

const fn call_rule(open: &'static str) -> Rule {
    let close = &["<|call|>", "<|end|>", "<|return|>"];
    rule(open, Calls { json: true, head: true, keep_open: true, ..Calls::new(close, any, read) })
}

/// Reads a message with a recipient, header included.
pub(crate) static CALL: Rule = call_rule("");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Reasoning,
    Text,
    Call,
    Foreign,
}

/// Longest header that is waited for.
pub(crate) const LONGEST: usize = 256;

/// The header at the start of `text` and its length; `None`: it is not complete.
pub(crate) fn header(text: &str) -> Option<(Kind, usize)> {
    let at = find(&text[..text.floor_char_boundary(LONGEST)], MESSAGE)?;
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

/// Tokens that mean nothing to a reader, and the beginnings of what only a server writes (`data/noise.txt`).
pub(super) static NOISE_RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let lines = include_str!("../../data/noise.txt").lines().filter_map(|line| line.split_once(' '));
    lines
        .filter_map(|(kind, open)| {
            let body = match kind {
                "drop" => Body::Drop,
                "stop" => Body::Stop,
                _ => return None,
            };
            Some(Rule { dialect: Dialect::Wrapper, open, body })
        })
        .collect()
});
